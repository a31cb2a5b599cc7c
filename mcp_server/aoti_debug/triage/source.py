"""The text of source lines: of a generated kernel, and of the user's own files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import compiles
from aoti_debug.model import Diagnosis, Kernel, SourceLine
from aoti_debug.package.documents import line_of_member

LINE_LIMIT = 200
SUFFIXES = (".py", ".cpp", ".cu", ".cuh")


def with_text(diagnosis: Diagnosis, observations: Observations, users: Sequence[Path]) -> Diagnosis:
    """Add the text of the kernel's line, with the whole path of its file, and of the user's lines.

    The places come from logs, so only source files below Inductor's caches and the directories in
    `users` (where the target stands and runs) are read, and those in the package itself.
    """
    roots = [*users, *caches(observations)]
    update: dict[str, object] = {
        "source": [line if line.text else filled(line, roots) for line in diagnosis.source]
    }
    if diagnosis.kernel is not None and diagnosis.kernel.file is not None:
        update["kernel"] = located(diagnosis.kernel, roots, observations)
    return diagnosis.model_copy(update=update)


def filled(source: SourceLine, roots: Sequence[Path]) -> SourceLine:
    text = line_of(Path(source.file), source.line, roots)
    return source.model_copy(update={"text": text}) if text else source


def located(kernel: Kernel, roots: Sequence[Path], observations: Observations) -> Kernel:
    """Return the kernel with the path and text of its line, where the file is still there."""
    if kernel.line is None or kernel.file is None:
        return kernel
    for path in places(kernel.file, observations):
        if text := line_of(path, kernel.line, roots):
            return kernel.model_copy(update={"file": str(path), "text": kernel.text or text})
    if kernel.text is None and observations.package is not None:
        carried = line_of_member(observations.package.path, kernel.file, kernel.line)
        return kernel.model_copy(update={"text": carried[:LINE_LIMIT]}) if carried else kernel
    return kernel


def line_of(path: Path, number: int, roots: Sequence[Path]) -> str | None:
    """Return one line of a source file below one of `roots`; None for any other file."""
    try:
        real = path.resolve(strict=True)
        if real.suffix not in SUFFIXES or not any(real.is_relative_to(root) for root in roots):
            return None
        with real.open(encoding="utf-8", errors="replace") as file:
            line = next(itertools.islice(file, number - 1, None), "")
    except (OSError, ValueError):
        return None
    return line.strip()[:LINE_LIMIT] or None


def caches(observations: Observations) -> Iterator[Path]:
    """Yield the directories in which Inductor kept what it generated."""
    for compiled in compiles(observations.events) if observations.events else ():
        cache = compiled.details.get("cache_dir")
        if isinstance(cache, str) and len(Path(cache).parts) > 2:
            yield Path(cache).resolve()


def places(file: str, observations: Observations) -> Iterator[Path]:
    """Yield where a kernel's file may be. Tools that name it without its directory mean a file of
    Inductor's cache, which keeps it under two letters of its own name."""
    path = Path(file)
    if path.is_absolute():
        yield path
    elif path.name == file:
        for cache in caches(observations):
            yield cache / file[1:3] / file
