"""Calls that are alike: same shapes, strides, dtypes and devices, so judged once."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from . import call_counters, cuda, describe, judge, memory, nesting, outputs, shared_buffer
from .vocabulary import Break, Leaf

_HELD = 256  # groups whose inputs are copied before each call
_SCALARS = (bool, int, float, str)
_TESTS = 16  # that are made of a group: grad mode, inference mode and the like make them differ

# What one look at a call needs: the model, weakly; the keywords in the order given; how many
# tensors; the test whether they are like the group's; where they are copied to, (address, bytes)
# each, or None; the group; its loaded model.
Quick = tuple[Any, tuple[str, ...], int, Any, Any, "Group", Any]
quick: dict[int, Quick] = {}  # by the model's id, for calls like its last one


class Group:
    """What calls of one kind share. `id` None: there are too many kinds to count each."""

    __slots__ = tuple("breaks buffer device id judged layout parts quick row tests".split())

    def __init__(self, id: int | None, judged: bool, breaks: tuple[Break, ...]) -> None:
        self.id = id
        self.judged = judged
        self.row = call_counters.row(id or 0)
        self.breaks = breaks
        self.buffer: list[Any] | None = None  # views of the shared input buffer
        self.layout: shared_buffer.Layout | None = None
        self.device: int | None = None  # the first that holds an input
        self.parts: tuple[list[cuda.Part], list[Any]] | None = None  # that copy inputs on a device
        self.quick: Quick | None = None
        self.tests = 0


class _Ids:
    next = 0


def forget() -> None:
    """Begin to count anew, in a process that was forked."""
    _Ids.next = 0
    quick.clear()


def key(torch: Any, call: Any) -> Any:
    """Set the flat leaves of a call; return what is the same in calls that are alike."""
    kwargs = call.kwargs
    flat = [*call.args, *kwargs.values()] if kwargs else call.args
    tensor = torch.Tensor
    each: list[Any] = []
    for leaf in flat:
        if type(leaf) is not tensor:
            return _odd_key(torch, call)
        each += leaf.shape, leaf.stride(), leaf.dtype, leaf.device, leaf.is_neg(), leaf.is_conj()
    call.flat = flat
    alike: Any = tuple(each)
    if kwargs:
        alike = (alike, tuple(kwargs))
    if call.loaded.writes:
        return alike, tuple(sorted(map(str, describe.overlaps(flat).items())))
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
            bits = leaf.is_neg(), leaf.is_conj()
            alike.append((type(leaf), tuple(leaf.shape), stride, leaf.dtype, leaf.device, bits))
        else:
            alike.append((type(leaf), leaf if type(leaf) in _SCALARS else None))
    if call.loaded.writes:
        alike.append(tuple(sorted(map(str, describe.overlaps(leaves).items()))))
    return tuple(alike), str(spec)


def new(torch: Any, call: Any, key: Any, described: Any) -> Group:
    """Make the group of a call that is like none before it, and judge it."""
    loaded, flat = call.loaded, call.flat
    contract = loaded.contract
    judged = contract is not None and contract.stated

    def judged_by(leaves: Sequence[Leaf]) -> list[Break]:
        return judge.breaks(contract, leaves, loaded.device_index) if judged else []

    named = memory.names_of_package.get((loaded.path or "", loaded.model))
    nest = nesting.of_call(loaded, call, named)
    found = nesting.held(nest, list(map(Leaf.of, described)), judged_by)
    broken = tuple(one for one in found if not one.harmless)
    if _Ids.next >= call_counters.GROUPS:
        return Group(None, judged, broken)
    group = loaded.groups[key] = Group(_Ids.next, judged, broken)
    _Ids.next += 1
    on = [leaf.get_device() for leaf in flat if getattr(leaf, "is_cuda", False)]
    group.device = on[0] if on else None
    if group.id is not None and group.id < _HELD:
        _place(torch, group, flat, described, private=loaded.writes)
    return group


def _place(torch: Any, group: Group, flat: Any, described: Any, *, private: bool) -> None:
    """Give the inputs of a group a place where they are copied to."""
    try:
        if group.device is not None:
            group.layout = shared_buffer.of_device(torch, flat, described)
        elif found := shared_buffer.views(torch, flat, described, private=private):
            group.buffer, group.layout = found
    except (OSError, ValueError, RuntimeError):
        return


def remember(torch: Any, model: Any, call: Any, names: tuple[str, ...]) -> None:
    """Have the next call of a model that is like this one take the short way, where that can be:
    it was judged, breaks nothing, and its tensors can be told and copied by one C call each."""
    group = call.group
    if group is None or group.id is None or group.breaks or not group.judged or call.loaded.writes:
        return
    known = group.quick
    if (known is None or quick.get(id(model)) is known) and group.tests < _TESTS:
        group.tests += 1
        known = group.quick = _quick(torch, model, call, names)
    if known is not None:
        quick[id(model)] = known


def _quick(torch: Any, model: Any, call: Any, names: tuple[str, ...]) -> Quick | None:
    c, key, returned = torch._C, id(model), outputs.of(call.loaded)
    flat = [*call.args, *(call.kwargs[name] for name in names)]
    if returned is None or any(type(leaf) is not torch.Tensor for leaf in flat):
        return None
    if c._len_torch_dispatch_stack() or c._functorch.peek_interpreter_stack() is not None:
        return None
    copies = None
    if call.group.buffer is not None:
        copies = shared_buffer.addresses(call.group.buffer)
        if copies is None:
            return None
        first, order = len(call.args), list(call.kwargs)  # the package's, not that of the call
        copies = copies[:first] + [copies[first + order.index(name)] for name in names]
    alike = outputs.laid_out_alike(flat)
    of = weakref.ref(model, lambda _: quick.pop(key, None))
    return of, names, len(flat), alike, copies, call.group, call.loaded
