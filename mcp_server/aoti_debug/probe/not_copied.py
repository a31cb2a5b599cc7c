"""Calls that are taken for a copy and return the tensor itself: `x.to(dtype)`, `x.contiguous()`."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple, Optional

from . import events, memory, watch
from .lazy import torch

_COPIES = frozenset(
    "contiguous to float half bfloat16 double long int bool cpu cuda type type_as".split()
)
_LINES = 20

Place = Optional[tuple[str, int]]
Lines = tuple[Place, Place]  # of the call that is taken for a copy, and of the write


class _Same(NamedTuple):
    """A tensor that such a call returned, or its copy where that was made real."""

    ref: Any  # weakly
    original: Any  # weakly, of a real copy
    place: Place


_same: dict[int, _Same] = {}  # by the tensor's id
_written: dict[int, tuple[Any, Lines]] = {}  # by the original's id: weakly, what wrote its copy
_found: dict[Lines, int] = {}


def is_same(name: str, args: Any, result: Any) -> bool:
    """Tell whether a call that can copy a tensor has returned the tensor itself."""
    return name in _COPIES and bool(args) and result is args[0]


def real(name: str, args: Any, result: Any) -> Any:
    """Return a copy in place of the tensor itself, in the experiment that asks for it."""
    if memory.experiment != "copies" or not is_same(name, args, result):
        return result
    with torch._C.DisableTorchFunction():
        copy = result.clone()
    _remember(copy, weakref.ref(result))
    return copy


def _remember(made: Any, original: Any) -> None:
    key = id(made)
    ref = weakref.ref(made, lambda _: _same.pop(key, None))
    _same[key] = _Same(ref, original, watch.caller("library"))


def seen(name: str, args: Any, kwargs: Any, result: Any, writes: bool) -> None:
    """Look at a function of torch that was called."""
    if is_same(name, args, result):
        _remember(result, None)
    elif writes and args and (made := _same.get(id(args[0]))) is not None:
        _wrote(made)
    if _written:
        for leaf in torch.utils._pytree.tree_leaves((args[writes:], kwargs)):
            read(leaf)


def _wrote(made: _Same) -> None:
    lines = made.place, watch.caller("library")
    if made.original is None:
        _found[lines] = _found.get(lines, 0) + 1
    elif (original := made.original()) is not None:
        key = id(original)
        _written[key] = weakref.ref(original, lambda _: _written.pop(key, None)), lines


def read(leaf: Any) -> None:
    """Count an original that is read after its copy was written: as no copy, it has changed."""
    known = _written.pop(id(leaf), None) if _written else None
    if known is not None:
        _found[known[1]] = _found.get(known[1], 0) + 1


def ended() -> None:
    """Report the lines, and how often."""
    for (maker, writer), count in list(_found.items())[:_LINES]:
        events.emit("handed", maker=maker, writer=writer, through=True, count=count)
