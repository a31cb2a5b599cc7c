"""run and triage: start the target, show progress, end it with the command."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import typer

from aoti_debug import api
from aoti_debug.answers import TriageAnswer
from aoti_debug.kinds import A, Kind, R
from aoti_debug.model import RunModel
from aoti_debug.plain import plain
from aoti_debug.signals import ENDING, cancelled_by, caught, settled

if TYPE_CHECKING:
    from aoti_debug.api import Service

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
            with suppress(OSError):
                if path.is_symlink() or not path.is_file():  # the target may have put a pipe there
                    continue
                with path.open("rb") as file:
                    file.seek(seen.get(path, 0))
                    while block := file.read(_BLOCK):
                        sys.stderr.buffer.write(block)
                    seen[path] = file.tell()
    sys.stderr.flush()


Report = Callable[[str], None]
_AGAIN_S = 30.0  # at least, between two lines of a log, of which there are few
_LINES = 20


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
    """Write a line now and then, ever more seldom: the last ones come after hours."""
    started = time.monotonic()
    left, due = _LINES, 0.0

    def report(text: str) -> None:
        nonlocal left, due
        passed = time.monotonic() - started
        if left and passed >= due:
            left, due = left - 1, passed + max(_AGAIN_S, passed / 3)
            sys.stderr.write(f"{passed:6.1f} s  {plain(text)}\n")
            sys.stderr.flush()

    return report


Shown = Callable[[], AbstractContextManager[Report]]


def run_to_end(
    kind: Kind[R, A],
    request: R,
    *,
    show_output: bool = False,
    shown: Shown | None = None,
    ended: str = "",
) -> A:
    """Start a run and wait for its end. Ctrl-C while a triage watches the target ends the watching;
    any other signal, or a second one, ends the run, with what `ended` says and the signal's status.
    Raise typer.Exit after a signal, AotiDebugError where the run could not be done."""
    how = shown or partial(progress, wanted=not show_output)
    answer = settled(anyio.run(_run_to_end, kind, request, show_output, how))
    if isinstance(answer, signal.Signals):
        sys.stderr.write(ended)
        raise typer.Exit(128 + answer)
    assert isinstance(answer, kind.answer)
    return answer


async def _run_to_end(
    kind: Kind[R, A], request: R, show_output: bool, shown: Shown
) -> RunModel | Exception | signal.Signals:
    watching = _Watching()

    async def run() -> RunModel:
        with shown() as report:
            name = await service.start(kind, request)
            watching.of = (service, name) if kind.answer is TriageAnswer else None
            return await _watch(service, name, report, show_output)

    answer: RunModel | Exception | None = None
    async with cancelled_by(*ENDING, first=watching.end) as received, api.service() as service:
        answer = await caught(run())
    return answer or received.number or signal.SIGINT


async def _watch(service: Service, run: str, report: Report, show_output: bool) -> RunModel:
    report(f"run {run}")
    try:
        async with anyio.create_task_group() as group:
            if show_output:
                group.start_soon(follow_output, api.directory(run))
            answer = await caught(service.wait(run, None, report))
            group.cancel_scope.cancel()
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await service.cancel(run)
        sys.stderr.write(f"ended; {run} keeps what was seen until then\n")
        raise
    return settled(answer)


class _Watching:
    of: tuple[Service, str] | None = None

    def end(self, number: signal.Signals) -> bool:
        """Take a Ctrl-C: end the watching, unless that was asked for before."""
        if number != signal.SIGINT or self.of is None:
            return False
        service, run = self.of
        ended = service.suffice(run)
        if ended:
            sys.stderr.write("ending the target; what was seen is diagnosed (Ctrl-C again: stop)\n")
        return ended
