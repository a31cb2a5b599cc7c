"""The part of a reproduction that defines custom operators: their source where it can be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.minify.graph import Operators


@dataclass(frozen=True, slots=True)
class Prelude:
    """`text` is Python; `files` are needed beside torch, `notes` say why."""

    text: str
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def prelude_of(operators: Sequence[Operators], libraries: Sequence[str]) -> Prelude:
    """Return what defines the operators: source that was cut out, else imports of its files."""
    parts: list[str] = []
    files: list[Path] = []
    notes: list[str] = []
    compiled = [found for found in operators if found.source is None]
    for found in operators:
        if found.source and found.source.strip() and found.source not in parts:
            parts.append(found.source)
    if compiled:
        for library in libraries:
            path = Path(library)
            parts.append(f"torch.ops.load_library({library!r})\n")
            files.append(path)
            notes.append(f"{path.name} is needed beside it: its operators are compiled code")
    for found in compiled if not libraries else ():
        where = found.file or found.module or "an unknown place"
        notes.append(f"operators of {found.namespace} come from {where}: {found.why_not}")
        if found.module and found.file:
            folder = str(Path(found.file).parent)
            parts.append(f"import sys\n\nsys.path.insert(0, {folder!r})\nimport {found.module}\n")
    text = "\n".join(parts).strip()
    return Prelude(text + "\n" if text else "", tuple(files), tuple(notes))


def beside(text: str, files: Sequence[Path]) -> str:
    """Return a script that looks for its files where it stands itself."""
    for file in files:
        text = text.replace(repr(str(file)), f'str(Path(__file__).with_name("{file.name}"))')
    return text
