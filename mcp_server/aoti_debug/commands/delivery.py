"""Tell when standard output takes nothing: by itself Python ends with 1 then, a fault found."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

from aoti_debug.errors import AotiDebugError

T = TypeVar("T")


class NotDelivered(AotiDebugError):
    """Who waits for the answer has not got it."""


class _Delivered:
    def __init__(self, stream: Any, nowhere: TextIO) -> None:
        self._stream = stream
        self._nowhere = nowhere

    def write(self, text: str) -> int:
        return self._do(lambda: int(self._stream.write(text)))

    def flush(self) -> None:
        self._do(self._stream.flush)

    def _do(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as error:
            failed, self._stream = self._stream, self._nowhere
            # What waits to be written at the end of the process finds no error either.
            os.dup2(self._nowhere.fileno(), failed.fileno())
            why = error.strerror or "it is closed"
            raise NotDelivered(f"standard output takes no answer: {why}") from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def delivering() -> Iterator[None]:
    """Have standard output raise NotDelivered, also where the process began without one."""
    out, err = sys.stdout, sys.stderr
    with Path(os.devnull).open() as closed, Path(os.devnull).open("w") as nowhere:
        for stream in filter(None, (out, err)):
            stream.reconfigure(errors="backslashreplace")
        sys.stdout, sys.stderr = _Delivered(out or closed, nowhere), err or nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err
