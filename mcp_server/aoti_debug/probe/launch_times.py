"""Measure each launch of a call: the kernels and operators that a package calls by its slots."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple

from . import slots, taps
from .prototypes import Prototype
from .wrapper_contract import source_in

_ROUNDS, _TRIES = 30, 100


class Launch(NamedTuple):
    """One launch: when it began and ended, in seconds of `perf_counter`, and the seconds that all
    processors of this process spent meanwhile."""

    name: str
    began: float
    ended: float
    processors: float


class Launches:
    """The launches of the packages that are loaded, as long as they are `seen`."""

    def __init__(self) -> None:
        self.made: list[Launch] = []
        self.unseen: list[str] = []  # kernels that are called by no slot
        self._callbacks = [(library, self._of(library)) for library in slots.packages()]

    @contextlib.contextmanager
    def seen(self, around: Callable[[str], Any] | None = None) -> Iterator[None]:
        """Add each launch within the `with` block; `around` makes a context for each."""
        self._around = around
        with contextlib.ExitStack() as all_replaced:
            for library, callbacks in self._callbacks:
                all_replaced.enter_context(slots.replaced(library, callbacks))
            yield

    def _of(self, library: slots.Library) -> slots.Callbacks:
        source = source_in(Path(library.path)) or ""
        kinds = ("generated", "extern", "launch", "load")
        found, unseen = taps.callbacks_of(library, source, kinds, self._timed)
        self.unseen += unseen
        return found

    def _timed(self, _: str, function: Prototype, original: Any) -> Callable[..., Any]:
        now, processors, add = time.perf_counter, time.process_time, self.made.append
        name, proxied = function.name, function.name == taps.PROXY

        def call(*args: Any) -> Any:
            if self._around is not None:
                with self._around(name):
                    return original(*args)
            spent, began = processors(), now()
            result = original(*args)
            ended = now()
            called = taps.named(name, args) if proxied else name
            add(Launch(called, began, ended, processors() - spent))
            return result

        return call

    def overhead(self) -> tuple[float, float]:
        """Return the seconds that seeing one launch adds to a call: around it, and within it."""
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        original = kind(("labs", ctypes.CDLL(None)))
        self._around = None
        seen = kind(self._timed("", Prototype("labs", "int", ""), original))
        added = _each(lambda: seen(1, 2, 3)) - _each(lambda: original(1, 2, 3))
        inside = min(one.ended - one.began for one in self.made)
        del self.made[:]
        return max(0.0, added - inside), inside


def _each(call: Callable[[], object]) -> float:
    """Return the seconds of a call in the fastest of several rounds: a machine may be busy."""
    rounds = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        for _ in range(_TRIES):
            call()
        rounds.append((time.perf_counter() - began) / _TRIES)
    return min(rounds)
