"""The files of the user's that a script is made of: itself, and what it imports of its own tree."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from aoti_debug.probe.python_source import parse
from aoti_debug.run.files import read_json, read_regular, write_atomically

SOURCES = "sources.json"  # in a run's directory: the texts of the script's files, as they were
FILES, FILE_BYTES, BYTES = 200, 1 << 20, 4 << 20


def script_files(script: Path, tree: Path) -> dict[str, str]:
    """Return the texts of a script's files by their paths in the tree, the script's first."""
    found: dict[str, str] = {}
    roots = list(dict.fromkeys((script.parent, tree)))
    waiting, total = [script], 0
    while waiting and len(found) < FILES and total < BYTES:
        path = waiting.pop(0)
        name = path.relative_to(tree).as_posix() if path.is_relative_to(tree) else str(path)
        if name in found:
            continue
        try:
            found[name] = read_regular(path, FILE_BYTES, follow=True).decode("utf-8", "replace")
            total += len(found[name])
            waiting += imported(parse(found[name]), path, roots)
        except (OSError, ValueError, SyntaxError, RecursionError):
            continue
    return found


def imported(tree: ast.Module, file: Path, roots: list[Path]) -> Iterator[Path]:
    """Yield the files that a file's imports name below the roots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names, places = [alias.name for alias in node.names], roots
        elif isinstance(node, ast.ImportFrom):
            own = node.module or ""
            names = [own, *(f"{own}.{alias.name}".strip(".") for alias in node.names)]
            places = [file.parents[node.level - 1]] if node.level else roots
        else:
            continue
        for parts in (name.split(".") for name in names):
            for place in places:
                for end in range(len(parts)):
                    module = place.joinpath(*parts[: end + 1])
                    candidates = module.with_name(f"{module.name}.py"), module / "__init__.py"
                    yield from filter(Path.is_file, candidates)


def keep_sources(directory: Path, script: Path, tree: Path) -> None:
    text = json.dumps(script_files(script, tree))
    write_atomically(directory / SOURCES, text.encode("utf-8"))


def kept_sources(directory: Path) -> dict[str, str]:
    known = read_json(directory / SOURCES, 2 * BYTES) or {}
    return {name: text for name, text in known.items() if isinstance(text, str)}
