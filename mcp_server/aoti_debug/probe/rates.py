"""Measure what this machine can do: the bytes that a copy moves and the operations of a matmul."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from . import pairs
from .lazy import torch

_COPIED = {"cpu": 64 << 20, "cuda": 1 << 30}  # bytes
_SIDE = {"cpu": 768, "cuda": 4096}
_TRIES, _ENOUGH_S = 7, 0.25  # some processors multiply halves fifty times more slowly


def measured(device: str) -> dict[str, float]:
    """Return bytes a second of a copy, operations a second of a matmul by its dtype, and how many
    processors a matmul had at once: fewer than threads where others use them."""
    kind = device.partition(":")[0]
    size = _COPIED.get(kind, _COPIED["cuda"])
    found = {}
    source = torch.ones(size // 4, device=device)
    target = torch.empty_like(source)
    found["copy"] = 2 * size / _best(lambda: target.copy_(source))
    side = _SIDE.get(kind, _SIDE["cuda"])
    for dtype in ("float32", "float64", "bfloat16", "float16"):
        square = torch.ones(side, side, device=device, dtype=getattr(torch, dtype))
        began, spent = time.perf_counter(), time.process_time()
        found[dtype] = 2 * side**3 / _best(partial(torch.mm, square, square))
        used = (time.process_time() - spent) / (time.perf_counter() - began)
        found.setdefault("processors", used)
    return found


def _best(call: Callable[[], Any]) -> float:
    """Return the shortest of some tries, of those that there is time for."""
    until, best = time.perf_counter() + _ENOUGH_S, pairs.timed(call)
    for _ in range(_TRIES - 1):
        if time.perf_counter() < until:
            best = min(best, pairs.timed(call))
    return best
