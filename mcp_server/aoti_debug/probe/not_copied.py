"""Calls that are taken for a copy and return the tensor itself: `x.to(dtype)`, `x.contiguous()`."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any, NamedTuple, Optional

from . import events, memory, repeats, watch
from .lazy import torch

_COPIES = frozenset(
    "contiguous to float half bfloat16 double long int bool cpu cuda type type_as".split()
)
_LINES = 20
_KEPT = 1024  # copies, with their originals
_BYTES = 1 << 20

Place = Optional[tuple[str, int]]
Lines = tuple[Place, Place]  # of the call that is taken for a copy, and of the write


class _Copy(NamedTuple):
    """A copy that was made real, weakly, and the tensor that would have been returned."""

    ref: Any
    original: Any
    place: Place


_copies: OrderedDict[int, _Copy] = OrderedDict()  # by the copy's id
# By the id of an original, which is kept so that no other tensor has it: what wrote its copy.
_written: OrderedDict[int, tuple[Any, Lines]] = OrderedDict()
_own: set[int] = set()  # copies that were written
_seen: dict[Place, int] = {}
_found: dict[Lines, int] = {}  # an original or a copy that is read after the other was written


def is_same(name: str, args: Any, result: Any) -> bool:
    """Tell whether a call that can copy a tensor has returned the tensor itself."""
    return name in _COPIES and bool(args) and result is args[0]


def real(name: str, args: Any, result: Any) -> Any:
    """Return a copy in place of the tensor itself, in the experiment that asks for it."""
    if not is_same(name, args, result):
        return result
    place = watch.caller("library")
    _seen[place] = _seen.get(place, 0) + 1
    small = result.numel() * result.element_size() <= _BYTES
    if memory.experiment != "copies" or not small:
        return result
    with torch._C.DisableTorchFunction():
        copy = result.clone()
    key = id(copy)
    _copies[key] = _Copy(weakref.ref(copy, lambda _: _forget(key)), result, place)
    while len(_copies) > _KEPT:
        _forget(next(iter(_copies)))
    return copy


def _forget(key: int) -> None:
    _copies.pop(key, None)
    _own.discard(key)


def seen(args: Any, kwargs: Any, writes: bool) -> None:
    """Look at the arguments of a function of torch."""
    if not (_copies or _written):
        return
    for leaf in torch.utils._pytree.tree_leaves((args[writes:], kwargs)):
        read(leaf)
    made = _copies.get(id(args[0])) if writes and args else None
    if made is not None:
        _own.add(id(args[0]))
        _written[id(made.original)] = made.original, (made.place, watch.caller("library"))
        if len(_written) > _KEPT:
            _written.popitem(last=False)


def read(leaf: Any) -> None:
    """Count what is read after the other was written: without a copy it has changed."""
    _, lines = _written.pop(id(leaf), (None, None))
    made = _copies.get(id(leaf))
    if lines is None and made is not None and id(leaf) not in _own:
        with torch._C.DisableTorchFunction():
            if not repeats.same_bits(leaf.detach(), made.original.detach()):
                lines = made.place, None
    if lines is not None:
        _found[lines] = _found.get(lines, 0) + 1


def ended() -> None:
    """Report these lines, and those of all such calls, and how often."""
    for (maker, writer), count in list(_found.items())[:_LINES]:
        events.emit("handed", maker=maker, writer=writer, through=True, count=count)
    for place, count in list(_seen.items())[:_LINES]:
        events.emit("handed", maker=place, same_tensor=True, count=count)
