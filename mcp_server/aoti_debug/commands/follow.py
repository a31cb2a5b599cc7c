"""Show what the target prints while it runs, on standard error."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

_EVERY_S = 0.2
_STREAMS = ("stdout.log", "stderr.log")
_BLOCK = 1 << 16


async def follow_output(run: Path) -> None:
    """Copy the run's growing output until cancelled, then what is left of it."""
    seen: dict[Path, int] = {}
    try:
        while True:
            _copy(run, seen)
            await anyio.sleep(_EVERY_S)
    finally:
        _copy(run, seen)


def _copy(run: Path, seen: dict[Path, int]) -> None:
    for name in _STREAMS:
        for path in (run / name, *sorted(run.glob(f"steps/*/{name}"))):
            try:
                with path.open("rb") as file:
                    file.seek(seen.get(path, 0))
                    while block := file.read(_BLOCK):
                        sys.stderr.buffer.write(block)
                    seen[path] = file.tell()
            except OSError:
                continue
    sys.stderr.flush()
