"""Calls that are alike: same shapes, strides, dtypes and devices, so judged once."""

from __future__ import annotations

from typing import Any

from . import describe, judge, memory, slot, tally

_SLOTS = 256  # groups with a place in the file of the call under way
_SCALARS = (bool, int, float, str)


class Group:
    """What calls of one kind share. `id` None: there are too many kinds to count each."""

    __slots__ = ("breaks", "id", "judged", "row", "slot")

    def __init__(self, id: int | None, judged: bool, breaks: tuple[judge.Break, ...]) -> None:
        self.id = id
        self.judged = judged
        self.row = tally.row(id or 0)
        self.breaks = breaks
        self.slot: list[Any] | None = None


class _Ids:
    next = 0


def forget() -> None:
    """Begin to count anew, in a process that was forked."""
    _Ids.next = 0


def key(torch: Any, call: Any) -> Any:
    """Set the flat leaves of a call; return what is the same in calls that are alike."""
    kwargs = call.kwargs
    flat = [*call.args, *kwargs.values()] if kwargs else call.args
    tensor = torch.Tensor
    each: list[Any] = []
    for leaf in flat:
        if type(leaf) is not tensor:
            return _odd_key(torch, call)
        each += leaf.shape, leaf.stride(), leaf.dtype, leaf.device
    call.flat = flat
    alike: Any = tuple(each)
    if kwargs:
        alike = (alike, tuple(kwargs))
    if call.loaded.writes:
        return alike, tuple(sorted(map(str, describe.overlaps(torch, flat).items())))
    return alike


def _odd_key(torch: Any, call: Any) -> Any:
    """Return the key of a call with nested, plain or special arguments."""
    leaves, spec = torch.utils._pytree.tree_flatten((call.args, call.kwargs))
    call.flat = leaves
    alike: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            strided = leaf.layout == torch.strided
            stride = leaf.stride() if strided else str(leaf.layout)
            alike.append((type(leaf), tuple(leaf.shape), stride, leaf.dtype, leaf.device))
        else:
            alike.append((type(leaf), leaf if type(leaf) in _SCALARS else None))
    if call.loaded.writes:
        alike.append(tuple(sorted(map(str, describe.overlaps(torch, leaves).items()))))
    return tuple(alike), str(spec)


def new(torch: Any, loaded: memory.Loaded, key: Any, flat: Any, described: Any) -> Group:
    """Make the group of a call that is like none before it, and judge it."""
    contract = loaded.contract
    judged = contract is not None and contract.stated
    found = judge.breaks(contract, described, loaded.device_index) if contract and judged else []
    broken = tuple(one for one in found if not one.harmless)
    if _Ids.next >= tally.GROUPS:
        return Group(None, judged, broken)
    group = loaded.groups[key] = Group(_Ids.next, judged, broken)
    _Ids.next += 1
    if group.id is not None and group.id < _SLOTS:
        group.slot = _slot(torch, flat, described)
    return group


def _slot(torch: Any, flat: Any, described: Any) -> list[Any] | None:
    try:
        return slot.views(torch, flat, described)
    except (OSError, ValueError, RuntimeError):
        return None
