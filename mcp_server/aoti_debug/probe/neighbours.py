"""Make inputs that fail as a call did: the same edge among other values, in another place."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator
from functools import partial
from typing import Any, Protocol

from . import standalone
from .describe import is_float
from .lazy import torch

Inputs = standalone.Inputs
Changed = Callable[[Any], Any]
Ends = dict[int, tuple[bool, list[tuple[int, int]]]]

_SCALES = (1.25, 0.8, 1.1, 0.93)  # what rounding makes of an edge differs
_FURTHER = (1, 2, 7)  # how far an index lies beyond the one that was out of bounds
_NEARER = (0.1, 0.01)  # of floats that fail


class Limited(Protocol):
    """What knows the limits of integer inputs, by their places: whether each column has its own,
    and the lowest and the highest values."""

    limits: Ends


class Sized(Limited, Protocol):
    """What knows the least and the greatest size of each dimension of an input as well."""

    def sizes(self, place: int) -> list[tuple[int, int] | None]: ...


def beyond(drawn: Limited, failing: Inputs) -> list[Inputs]:
    """Return the failing inputs with each index that is out of bounds further out; nothing where
    none is."""
    bad = _bad(drawn, failing)
    return [_further(failing, bad, step) for step in _FURTHER] if bad else []


def nearer(drawn: Sized, failing: Inputs) -> Iterator[Inputs]:
    """Yield the failing inputs with what is out of bounds just beyond its bound: sizes, else
    indices, else smaller floats."""
    flat = [_resized(leaf, drawn.sizes(place)) for place, leaf in enumerate(failing.flat)]
    if any(one is not leaf for one, leaf in zip(flat, failing.flat)):
        yield standalone.with_leaves(failing, flat)
        return
    bad = _bad(drawn, failing)
    for place, direction in bad.items():
        low, high = _ends(drawn, place, flat[place])
        edge = torch.where(direction > 0, high + 1, low - 1)
        flat[place] = torch.where(direction != 0, edge, flat[place])
    if bad:
        yield standalone.with_leaves(failing, flat)
        return
    floats = [place for place, leaf in enumerate(failing.flat) if is_float(leaf)]
    for scale in _NEARER if floats else ():
        yield _each(failing, partial(operator.mul, scale), floats)


def _resized(leaf: Any, ends: list[tuple[int, int] | None]) -> Any:
    """Return a tensor of which each size that is out of bounds is the nearest such one."""
    for dim, bound in enumerate(ends):
        size = leaf.shape[dim] if isinstance(leaf, torch.Tensor) and dim < leaf.dim() else 0
        if bound is None or not size or bound[0] <= size <= bound[1]:
            continue
        edge = bound[1] + 1 if size > bound[1] else bound[0] - 1
        if edge not in (0, size):
            taken = torch.arange(edge, device=leaf.device) % size
            leaf = leaf.index_select(dim, taken)
    return leaf


def moved(drawn: Limited, failing: Inputs) -> Iterator[Inputs]:
    """Yield the failing inputs with other values beside the edge, and with it in another place."""
    torch.manual_seed(2000)
    bad = _bad(drawn, failing)
    floats = [place for place, leaf in enumerate(failing.flat) if is_float(leaf)]
    if floats and not bad:
        yield _each(failing, lambda leaf: leaf * (1 + 0.1 * torch.rand_like(leaf)), floats)
        for scale in _SCALES:
            yield _each(failing, partial(operator.mul, scale), floats)
    if floats:
        yield _each(failing, lambda leaf: leaf.roll(1, -1), floats)
    yield _each(failing, lambda leaf: leaf.roll(1, 0), range(len(failing.flat)))


def _bad(drawn: Limited, failing: Inputs) -> dict[int, Any]:
    found = {place: outside(drawn, place, leaf) for place, leaf in enumerate(failing.flat)}
    return {place: where for place, where in found.items() if where is not None}


def outside(drawn: Limited, place: int, leaf: Any) -> Any:
    """Return which elements of an integer input lie above, then below what the program takes."""
    if place not in drawn.limits or not hasattr(leaf, "numel") or not leaf.numel():
        return None
    columns, ends = drawn.limits[place]
    if columns and leaf.shape[-1] != len(ends):
        return None
    low, high = _ends(drawn, place, leaf)
    found = (leaf > high).to(leaf.dtype) - (leaf < low).to(leaf.dtype)
    return found if bool(found.any()) else None


def _ends(drawn: Limited, place: int, leaf: Any) -> tuple[Any, Any]:
    """Return the lowest and the highest values of an integer input, as tensors."""
    columns, ends = drawn.limits[place]
    low, high = (leaf.new_tensor([one[n] for one in ends]) for n in (0, 1))
    return (low, high) if columns else (low[0], high[0])


def _further(failing: Inputs, bad: dict[int, Any], step: int) -> Inputs:
    flat = list(failing.flat)
    for place, direction in bad.items():
        flat[place] = flat[place] + direction * step
    return standalone.with_leaves(failing, flat)


def _each(failing: Inputs, change: Changed, places: Container[int]) -> Inputs:
    flat = [
        change(leaf).contiguous()
        if place in places and isinstance(leaf, torch.Tensor) and leaf.dim()
        else leaf
        for place, leaf in enumerate(failing.flat)
    ]
    return standalone.with_leaves(failing, flat)
