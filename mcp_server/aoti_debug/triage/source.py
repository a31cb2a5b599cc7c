"""The source text of a generated kernel's line, from the cache that Inductor wrote it to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import compiles
from aoti_debug.model import Diagnosis

LINE_LIMIT = 200


def with_text(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Add the text of the kernel's line, and the whole path of its file, where they can be read."""
    kernel = diagnosis.kernel
    if kernel is None or kernel.file is None or kernel.line is None:
        return diagnosis
    path = next((p for p in places(kernel.file, observations) if p.is_file()), None)
    if path is None:
        return diagnosis
    with path.open(encoding="utf-8", errors="replace") as file:
        line = next(itertools.islice(file, kernel.line - 1, None), "")
    update = {"file": str(path), "text": kernel.text or line.strip()[:LINE_LIMIT] or None}
    return diagnosis.model_copy(update={"kernel": kernel.model_copy(update=update)})


def places(file: str, observations: Observations) -> Iterator[Path]:
    """Yield where a kernel's file may be. Tools that name it without its directory mean a file of
    Inductor's cache, which keeps it under two letters of its own name."""
    path = Path(file)
    if path.is_absolute():
        yield path
        return
    if observations.events is None or path.name != file or not file.endswith((".py", ".cpp")):
        return
    for compiled in compiles(observations.events):
        cache = compiled.details.get("cache_dir")
        if isinstance(cache, str):
            yield Path(cache) / file[1:3] / file
