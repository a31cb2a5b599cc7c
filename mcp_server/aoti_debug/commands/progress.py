"""Show progress on standard error: a spinner on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aoti_debug.run.plain import plain

Report = Callable[[str], None]


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
    last = ""

    def report(text: str) -> None:
        nonlocal last
        if text != last:
            last = text
            sys.stderr.write(f"{time.monotonic() - started:6.1f} s  {plain(text)}\n")
            sys.stderr.flush()

    return report
