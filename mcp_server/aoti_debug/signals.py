"""End work in order when the process is told to end, and reading when nobody waits for it."""

from __future__ import annotations

import errno
import io
import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

if TYPE_CHECKING:
    import anyio

T = TypeVar("T")


class Stopped(Exception):
    """Nobody waits for the answer any more."""


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Return what `work` returns. Its event is set when the caller leaves: a thread cannot be
    cancelled, and a process does not end before its threads do."""
    import anyio.to_thread

    stop = threading.Event()
    try:
        return await anyio.to_thread.run_sync(work, stop, abandon_on_cancel=True)
    finally:
        stop.set()


async def caught(work: Awaitable[T]) -> T | Exception:
    """Return the result or the error: caught inside a task group, an error keeps its own type."""
    try:
        return await work
    except Exception as error:
        return error


def settled(result: T | Exception) -> T:
    """Return what was not an error; raise what was."""
    if isinstance(result, Exception):
        raise result
    return result


def open_stoppable(path: Path | int, stop: threading.Event) -> BinaryIO:
    """Open a file or a descriptor whose next read raises Stopped once `stop` is set."""
    return cast(BinaryIO, io.BufferedReader(_Stoppable(path, stop)))


class _Stoppable(io.FileIO):
    def __init__(self, path: Path | int, stop: threading.Event) -> None:
        super().__init__(path)
        self._stop = stop

    def readinto(self, buffer: Any, /) -> int:
        if self._stop.is_set():
            raise Stopped
        count = super().readinto(buffer)
        if count is None:
            raise BlockingIOError(errno.EAGAIN, "it has to be waited for")
        return count


ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@dataclass(slots=True)
class Received:
    number: signal.Signals | None = None


@asynccontextmanager
async def cancelled_by(
    *numbers: signal.Signals, first: Callable[[signal.Signals], bool] = lambda _: False
) -> AsyncIterator[Received]:
    """Cancel the body at the first signal that `first` does not take; one more ends the process."""
    import anyio

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
    import anyio

    with anyio.open_signal_receiver(*numbers) as signals:
        async for number in signals:
            if first(number):
                continue
            received.number = number
            scope.cancel()
            return
