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
from aoti_debug.commands.progress import Report, follow_output, progress
from aoti_debug.kinds import A, Kind, R
from aoti_debug.model import RunModel
from aoti_debug.signals import ENDING, cancelled_by

if TYPE_CHECKING:
    from aoti_debug.api import Service


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
