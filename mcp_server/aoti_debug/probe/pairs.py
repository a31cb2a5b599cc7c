"""Compare two ways to make a call by their times, in pairs: machines slow down and speed up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from . import standalone

WARM = 2
LEAST, MOST = 8, 60
Way = Callable[[], Any]


def timed(call: Way) -> float:
    """Return the seconds of a call, up to the end of what it started on a device."""
    standalone.synchronize()
    began = time.perf_counter()
    call()
    standalone.synchronize()
    return time.perf_counter() - began


def compared(one: Way, other: Way, budget_s: float) -> tuple[list[float], list[float]]:
    """Return the seconds of calls made one way and the other, in turn, so many pairs as there is
    time for; which goes first changes from pair to pair."""
    for _ in range(WARM):
        one(), other()
    ones: list[float] = []
    others: list[float] = []
    until = time.perf_counter() + budget_s
    while len(ones) < LEAST or (time.perf_counter() < until and len(ones) < MOST):
        turns = [(one, ones), (other, others)]
        for way, seconds in turns if len(ones) % 2 else reversed(turns):
            seconds.append(timed(way))
    return ones, others


def middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
