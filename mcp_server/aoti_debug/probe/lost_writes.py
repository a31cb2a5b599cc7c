"""Writes to a copy that nothing reads afterwards: `x[rows].zero_()` leaves `x` as it was."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple, Optional

from . import events, memory, watch
from .lazy import torch

_COPIES = frozenset(
    """
    __getitem__ index_select masked_select take_along_dim gather to float half bfloat16 double long
    int cpu cuda reshape flatten contiguous
    """.split()
)
_LINES = 20

Place = Optional[tuple[str, int]]


class _Copied(NamedTuple):
    """What a copy was taken of, at which index, if it was one."""

    whole: Any
    index: Any


class _Written(NamedTuple):
    ref: Any  # weakly, the copy
    of: _Copied
    place: Place
    values: Any


_copies: dict[int, tuple[Any, _Copied]] = {}
_written: dict[int, _Written] = {}
_found: dict[Place, int] = {}


def seen(name: str, args: Any, kwargs: Any, result: Any, writes: bool) -> None:
    """Look at a function of torch that was called."""
    leaves = torch.utils._pytree.tree_leaves
    for leaf in leaves((args[writes:], kwargs)):
        if isinstance(leaf, torch.Tensor):
            read(leaf)
    if writes and args and id(args[0]) in _copies:
        _, of = _copies[id(args[0])]
        key, kept = id(args[0]), args[0].detach().clone()
        ref = weakref.ref(args[0], lambda _: _gone(key))
        _written[key] = _Written(ref, of, watch.caller("library"), kept)
    elif name in _COPIES and isinstance(result, torch.Tensor) and result._base is None and args:
        whole = args[0]
        if isinstance(whole, torch.Tensor) and whole.data_ptr() != result.data_ptr():
            key = id(result)
            of = _Copied(whole, args[1] if name == "__getitem__" else None)
            _copies[key] = weakref.ref(result, lambda _: _copies.pop(key, None)), of


def read(leaf: Any) -> None:
    """Forget a copy that something reads."""
    _copies.pop(id(leaf), None)
    _written.pop(id(leaf), None)


def _gone(key: int) -> None:
    one = _written.pop(key, None)
    if one is None:
        return
    _found[one.place] = _found.get(one.place, 0) + 1
    if memory.experiment == "lost" and one.of.index is not None:
        with torch._C.DisableTorchFunction(), torch.no_grad():
            one.of.whole[one.of.index] = one.values


def ended() -> None:
    """Report the lines, and how often."""
    for place, count in list(_found.items())[:_LINES]:
        events.emit("handed", writer=place, lost=True, count=count)
