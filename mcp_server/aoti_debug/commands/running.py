"""run and triage: start the target, show progress, end it with the command."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from aoti_debug import api
from aoti_debug.answers import TriageAnswer
from aoti_debug.kinds import A, Kind, R
from aoti_debug.model import RunModel
from aoti_debug.signals import ENDING, cancelled_by

if TYPE_CHECKING:
    from aoti_debug.api import Service


import time
from collections.abc import Iterator
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
                if path.is_symlink() or not path.is_file():  # the target may have put a pipe there
                    continue
                with path.open("rb") as file:
                    file.seek(seen.get(path, 0))
                    while block := file.read(_BLOCK):
                        sys.stderr.buffer.write(block)
                    seen[path] = file.tell()
            except OSError:
                continue
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


class Ended(Exception):
    """The command was told to end by a signal; its run has been ended."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number)
        self.exit_status = 128 + number


Shown = Callable[[], AbstractContextManager[Report]]


def run_to_end(
    kind: Kind[R, A], request: R, *, show_output: bool = False, shown: Shown | None = None
) -> A:
    """Start a run and wait for its end; `shown` shows its progress. Ctrl-C while a triage watches
    the target ends the watching, and what was seen is diagnosed; any other signal, or a second
    one, ends the run first.

    Raises:
        Ended: a signal came.
        AotiDebugError: the run could not be done.
    """
    how = shown or partial(progress, wanted=not show_output)
    return anyio.run(_run_to_end, kind, request, show_output, how)


async def _run_to_end(kind: Kind[R, A], request: R, show_output: bool, shown: Shown) -> A:
    answer: RunModel | None = None
    failure: Exception | None = None
    watching = _Watching()
    async with cancelled_by(*ENDING, first=watching.end) as received, api.service() as service:
        try:  # inside the service's task group, errors keep their own type only if caught here
            with shown() as report:
                run = await service.start(kind, request)
                watching.of = (service, run) if kind.answer is TriageAnswer else None
                answer = await _watch(service, run, report, show_output)
        except Exception as error:
            failure = error
    if failure is not None:
        raise failure
    if answer is None:
        raise Ended(received.number or signal.SIGINT)
    assert isinstance(answer, kind.answer)
    return answer


async def _watch(service: Service, run: str, report: Report, show_output: bool) -> RunModel:
    report(f"run {run}")
    try:
        async with anyio.create_task_group() as group:
            if show_output:
                group.start_soon(follow_output, api.directory(run))
            with _Kept() as kept:
                kept.answer = await service.wait(run, None, report)
            group.cancel_scope.cancel()
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await service.cancel(run)
        sys.stderr.write(f"ended; {run} keeps what was seen until then\n")
        raise
    return kept.result()


class _Watching:
    """The run whose target is watched."""

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


class _Kept:
    """Carry an answer or an error out of a task group, which would wrap it."""

    answer: RunModel | None = None
    error: Exception | None = None

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Exception):
            self.error = error
            return True
        return False

    def result(self) -> RunModel:
        if self.error is not None:
            raise self.error
        assert self.answer is not None
        return self.answer
