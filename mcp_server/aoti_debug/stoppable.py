"""Read a file in a thread that ends as soon as nobody waits for it."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import anyio.to_thread

T = TypeVar("T")


class Stopped(Exception):
    """Nobody waits for the answer any more."""


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Return what `work` returns; the event that it is given is set when the caller leaves.

    A thread cannot be cancelled, and a process does not end before its threads do.
    """
    stop = threading.Event()
    try:
        return await anyio.to_thread.run_sync(work, stop, abandon_on_cancel=True)
    finally:
        stop.set()


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
        return super().readinto(buffer)
