"""Show on standard error how far a run is, and what the target prints."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aoti_debug.plain import plain

_EVERY_S = 0.2
_STREAMS = ("stdout.log", "stderr.log")
_BLOCK = 1 << 16


async def follow_output(run: Path) -> None:
    """Copy the run's growing output until cancelled, then what is left of it."""
    seen: dict[Path, int] = {}
    try:
        import anyio  # not needed by what only reads a text

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


Report = Callable[[str], None]
_SECONDS = re.compile(r", \d+ s\b")
_AGAIN_S = 5.0  # the same thing is said again after so long: often enough for a log


@contextmanager
def progress(*, wanted: bool = True) -> Iterator[Report]:
    """Yield a function that takes what is going on now."""
    if not wanted:
        yield lambda _: None
    elif sys.stderr.isatty():
        yield from _spinner()
    else:
        yield _lines()


def _spinner() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Doing(TextColumn):
        def render(self, task: object) -> Text:
            return Text(plain(getattr(task, "description", "")))

    columns = (SpinnerColumn(), TimeElapsedColumn(), Doing(""))
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("starting", total=None)
        yield lambda text: shown.update(task, description=text)


def _lines() -> Report:
    started = time.monotonic()
    said: dict[str, float] = {}

    def report(text: str) -> None:
        now = time.monotonic()
        doing = _SECONDS.split(text, maxsplit=1)[0]
        if now - said.get(doing, -_AGAIN_S) >= _AGAIN_S:
            said[doing] = now
            sys.stderr.write(f"{now - started:6.1f} s  {plain(text)}\n")
            sys.stderr.flush()

    return report
