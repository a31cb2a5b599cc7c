"""A call that arrives: find the group of calls that it is like, describe it if it is one of the
first or unlike all before, and count it."""

from __future__ import annotations

import itertools
import sys
import time
import weakref
from typing import Any

from . import (
    between,
    budget,
    call_counters,
    call_memory,
    capture,
    describe,
    device,
    events,
    groups,
    holding,
    memory,
    nesting,
    on_device,
    shared_buffer,
    store,
)
from .lazy import torch
from .watch import Point, Span, begin, caller

FULL_CALLS = 100  # of a process, that are recorded one by one
FILED = 10  # of them, whose inputs go to a file though they are held in memory
RECORDED = 2000  # more of them that fail or break something
_PAUSE_S = 0.05  # until inputs that are held nowhere may be kept again
_clock = time.perf_counter


class Arrivals:
    numbers = itertools.count(1)
    recorded = 0
    latest: tuple[Any, Any] = (lambda: None, None)  # the model that was called last, weakly
    keep = 0.0  # when inputs that are held nowhere may be kept again


class Call:
    """One call from its begin to its end."""

    __slots__ = tuple("args early entry flat group holds kwargs loaded number span".split())

    def __init__(self, number: int, loaded: memory.Loaded, args: Any, kwargs: Any) -> None:
        self.number = number
        self.loaded = loaded
        self.args = args
        self.kwargs = kwargs  # in the order of the package
        self.flat: Any = args
        self.group: groups.Group | None = None
        self.span: Span | None = None
        self.entry: device.Entry | None = None  # on a device
        self.holds = False  # the shared input buffer
        self.early = capture.EARLY  # calls of which all small ones are kept


def arrive(point: Point, model: Any, args: Any, kwargs: Any) -> Call:
    """Judge and count a call."""
    began = _clock()
    latest, loaded = Arrivals.latest
    if latest() is not model:
        loaded = _loaded(model)
    given = ordered(model, loaded, kwargs) if len(kwargs) > 1 else kwargs
    call = Call(next(Arrivals.numbers), loaded, args, given)
    held = memory.managed.get(loaded.instance)
    if held is not None:
        held.look(call.number)
    if between.WANTED:
        between.begin()
    try:
        with torch._C.DisableTorchFunction():
            key = groups.key(torch, call)
            group = call.group = loaded.groups.get(key)
            if group is None or call.number <= FULL_CALLS or capture.ONLY:
                _describe(point, call, key)
                group = call.group
            if group is not None:
                _count(call, group)
                if group.device is not None and describe.unreadable_now() is None:
                    call.entry = on_device.before(call.number, loaded, group, call.flat)
                if call.number >= FULL_CALLS and not capture.ONLY and held is None:
                    groups.remember(torch, model, call, tuple(kwargs))
    except Exception as error:
        events.note("describe a call", error)
    budget.spent += _clock() - began
    return call


def like(model: Any, number: int, group: groups.Group, args: Any, kwargs: Any) -> Call:
    """Return the call that took the short way, as if it had not."""
    loaded = memory.loaded[model]
    given = ordered(model, loaded, kwargs) if len(kwargs) > 1 else kwargs
    call = Call(number, loaded, args, given)
    call.flat = [*args, *given.values()]
    call.group = group
    call.holds = group.buffer is not None
    return call


def _loaded(model: Any) -> memory.Loaded:
    found = memory.loaded.get(model)
    if found is None:
        loader = getattr(model, "loader", None)
        of_loader = memory.loaded.get(loader) if loader is not None else None
        found = of_loader.anew(flat=False) if of_loader is not None else memory.Loaded(None)
        memory.loaded[model] = found
    Arrivals.latest = (weakref.ref(model), found)
    return found


def _describe(point: Point, call: Call, key: Any) -> None:
    """Record a call in full, if it is among the first or unlike the others."""
    unreadable = describe.unreadable_now()
    described = describe.leaves(call.flat, _names(call))
    known = call.group
    group = known or groups.new(torch, call, key, described)
    call.group = group
    if known is None and group.id is None and not group.breaks:
        return  # too many kinds to record one by one; judged, and counted
    if call.number > FULL_CALLS:
        if Arrivals.recorded >= RECORDED:
            return
        Arrivals.recorded += 1
    if unreadable is None and budget.allows():
        describe.add_values(call.flat, described)
    span = call.span = _span(point, call)
    span.details.update(_nest(call))
    if group.breaks:
        span.details["breaks"] = [b.property for b in group.breaks]
        span.details.update(nesting.told(group.breaks))
    span.details["inputs"] = described
    held = group.buffer is not None or (group.device is not None and group.layout is not None)
    stateful = call.loaded.path in memory.stateful
    call.early = capture.IN_ORDER if stateful else capture.EARLY
    if known is None or not held or call.number <= max(FILED, call.early) or capture.ONLY:
        span.details.update(capture.keep(call, unreadable, group.breaks))
    if unreadable is None and budget.allows():
        span.memory["given"] = call_memory.Memory(call.flat)
    begin(span)


def _span(point: Point, call: Call) -> Span:
    span = Span(events.new_id(), point.phase, point.name)
    span.details.update(call=call.number, package=call.loaded.path, caller=caller())
    if sys.exc_info()[0] is not None:
        span.details["handling"] = True
    if call.loaded.model != "model":
        span.details["model"] = call.loaded.model
    if call.loaded.instance:
        span.details["instance"] = call.loaded.instance
    if call.group is not None and call.group.id is not None:
        span.details["group"] = call.group.id
    return span


def late(point: Point, call: Call) -> Span | None:
    """Record a call that turned out to be one to record; its inputs may have been written to."""
    if Arrivals.recorded >= RECORDED:
        return None
    Arrivals.recorded += 1
    span = _span(point, call)
    span.details["inputs"] = describe.leaves(call.flat, _names(call))
    counted = call_counters.of_process()
    if call.holds and counted is not None and counted.numbers[call_counters.HELD] == call.number:
        span.details.update(_nest(call))
    begin(span)
    span.started = time.perf_counter()
    return span


def _nest(call: Call) -> dict[str, Any]:
    """Say how a call is nested; of flat tensors only the package knows."""
    if call.loaded.flat:
        return {"nested": True}
    return describe.nest(call.args, call.kwargs, call.flat)


def _count(call: Call, group: groups.Group) -> None:
    counted = call_counters.of_process()
    if counted is None:
        return
    numbers = counted.numbers
    if call.number == 1:
        _announce(counted)
    number = call.number
    numbers[call_counters.UNDER_WAY] = number
    if group.breaks:
        numbers[call_counters.BROKEN] += 1
    if not group.judged:
        numbers[call_counters.UNJUDGED] += 1
    if group.id is None:
        numbers[call_counters.OTHERS] += 1
        numbers[call_counters.OTHERS_JUDGED] += group.judged
        numbers[call_counters.LAST], numbers[call_counters.LAST_GROUP] = number, -1
        return
    numbers[group.row] += 1
    numbers[call_counters.LAST], numbers[call_counters.LAST_GROUP] = number, group.id
    if group.breaks and number > FULL_CALLS:
        call_counters.note(numbers, group.id, call.number)
    kept = call.span is not None and call.span.details.get("captured") is not None
    if not kept and not holding.hold(call, numbers):
        Arrivals.keep = _clock() + _PAUSE_S


def _announce(counted: call_counters.CallCounters) -> None:
    folder, files = store.directory(), {}
    if folder is not None:
        for word, suffix in (("now", ".bin"), ("latest", ".pt"), ("pending", ".bin")):
            files[word] = f"{folder.name}/{store.own_name(f'call-{word}', suffix)}"
    events.emit("tally", file=f"calls/{counted.name}", bytes=shared_buffer.BYTES, **files)


def ordered(model: Any, loaded: memory.Loaded, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments in the order in which the package takes them."""
    given = tuple(kwargs)
    if given not in loaded.orders:
        loaded.orders[given] = _order(model, kwargs)
    return {key: kwargs[key] for key in loaded.orders[given]}


def _order(model: Any, kwargs: dict[str, Any]) -> tuple[str, ...]:
    try:
        spec = sys.modules["torch.utils._pytree"].treespec_loads(model.loader.get_call_spec()[0])
        return tuple(sys.modules["torch.export._tree_utils"].reorder_kwargs(kwargs, spec))
    except Exception:  # the call itself is about to fail in the same way
        return tuple(kwargs)


def _names(call: Call) -> memory.Names:
    loaded, kwargs = call.loaded, call.kwargs
    known = memory.names_of_package.get((loaded.path or "", loaded.model))
    if known is not None and len(known) == len(call.flat):
        return known
    pytree = torch.utils._pytree
    names = memory.Names([None] * len(pytree.tree_leaves(call.args)))
    for key, value in kwargs.items():
        leaves = len(pytree.tree_leaves(value))
        names += [key] if leaves == 1 else [f"{key}_{i}" for i in range(leaves)]
    return names


def forget() -> None:
    """Begin to count anew, in a process that was forked."""
    Arrivals.numbers = itertools.count(1)
    Arrivals.recorded = 0
    for loaded in list(memory.loaded.values()):
        loaded.groups.clear()
        loaded.outputs = None
