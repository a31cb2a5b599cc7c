"""End work in order when the process is told to end."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@dataclass(slots=True)
class Received:
    number: signal.Signals | None = None


@asynccontextmanager
async def cancelled_by(
    *numbers: signal.Signals, first: Callable[[signal.Signals], bool] = lambda number: False
) -> AsyncIterator[Received]:
    """Cancel the body at the first of these signals that `first` does not take (returning True);
    a further one ends the process at once."""
    received = Received()
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        if numbers:
            group.start_soon(_watch, group.cancel_scope, numbers, received, first)
        try:
            yield received
        except Exception as error:  # outside the group it keeps its own type
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


def die_by(number: signal.Signals) -> None:
    """End this process the way the signal would have."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


async def _watch(
    scope: anyio.CancelScope,
    numbers: tuple[signal.Signals, ...],
    received: Received,
    first: Callable[[signal.Signals], bool],
) -> None:
    with anyio.open_signal_receiver(*numbers) as signals:
        async for number in signals:
            if first(number):
                continue
            received.number = number
            scope.cancel()
            return
