"""Show progress on standard error: a spinner on a terminal, plain lines otherwise."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aoti_debug.plain import plain

Report = Callable[[str], None]
_SECONDS = re.compile(r", \d+ s\b")
_AGAIN_S = 5.0  # the same thing is said again after so long: often enough for a log


@contextmanager
def progress(*, wanted: bool = True) -> Iterator[Report]:
    """Yield a function that takes what is going on now."""
    if not wanted:
        yield lambda text: None
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
