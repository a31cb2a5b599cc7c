"""Watch calls of loaded models. The first calls, and each that is unlike all before it, are
described and judged; one that is like an earlier one costs a look-up and a few counters.
"""

from __future__ import annotations

import functools
import itertools
import os
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from . import budget, call_counters, capture, describe, events, groups, memory, reference, store
from .vocabulary import owner
from .watch import Details, Point, Span, begin, end

FULL_CALLS = 100  # of a process, that are recorded one by one
_FILED = 10  # of them, whose inputs go to a file though the shared memory has a place for them
RECORDED = 2000  # more of them that fail or break something
_FRAMES = 50
_READING = 0.004  # of the time, at the most, goes into reading outputs
_PAUSE_S = 0.05  # at the most, until they are read again
_HERE = os.path.dirname(__file__)  # noqa: PTH120 - pathlib is slow to import


class _Thread(threading.local):
    inside = False  # a call: what it calls itself is part of it


class _State:
    numbers = itertools.count(1)
    recorded = 0
    not_finite = 0  # such calls, that were recorded; the inputs of the first are kept
    read = 0.0  # when outputs are to be read again
    latest: tuple[Any, Any] = (lambda: None, None)  # the model that was called last, weakly
    memory = threading.Lock()  # whose holder's inputs go to the shared memory
    thread = 0  # that holds it on the short way
    keep = 0.0  # when inputs that have no place there may be kept again


_clock = time.perf_counter
_ident = threading.get_ident
_UNDER_WAY, _HELD, _RETURNED, _NOW = (
    8 * call_counters.UNDER_WAY,
    call_counters.HELD,
    call_counters.RETURNED,
    call_counters.UNDER_WAY,
)
_at_length: list[Any] = []  # calls under way that did not take the short way
_modules = sys.modules
_thread = _Thread()
_state = _State()


class _Call:
    """One call from its begin to its end."""

    __slots__ = ("args", "flat", "group", "holds", "kwargs", "loaded", "number", "span")

    def __init__(self, number: int, loaded: memory.Loaded, args: Any, kwargs: Any) -> None:
        self.number = number
        self.loaded = loaded
        self.args = args
        self.kwargs = kwargs
        self.flat: Any = args
        self.group: groups.Group | None = None
        self.span: Span | None = None
        self.holds = False


def watch_method(original: Callable[..., Any], point: Point) -> Callable[..., Any]:
    """Watch `AOTICompiledModel.__call__(model, *args, **kwargs)`."""
    quick, place, move, modes = groups.quick, *_in_c()

    @functools.wraps(original)
    def call(model: Any, /, *args: Any, **kwargs: Any) -> Any:
        known = quick.get(id(model))
        if known is None or _at_length or modes():
            return watched(model, args, kwargs)
        of, names, count, alike, copies, group, numbers = known
        flat = (*args, *kwargs.values()) if kwargs else args
        if of() is not model or len(flat) != count or (*kwargs,) != names or not alike(*flat):
            return watched(model, args, kwargs)
        lock = _state.memory
        if (copies is None and _clock() > _state.keep) or not lock.acquire(False):
            return watched(model, args, kwargs)
        number = next(_state.numbers)
        try:
            _state.thread = _ident()
            try:
                place(numbers, _UNDER_WAY, number, number, group.id, 0)
                numbers[group.row] += 1
                if copies is not None:
                    for leaf, (to, size) in zip(flat, copies):  # noqa: B905 - Python 3.9
                        move(to, leaf.data_ptr(), size)
                    numbers[_HELD] = number
            except Exception as error:
                del quick[id(model)]
                events.note("hold the inputs of a call", error)
            result = original(model, *args, **kwargs)
        except BaseException as error:
            _state.thread = 0
            _failed(point, _like(model, number, group, args, kwargs), error)
            raise
        _state.thread = 0
        numbers[_RETURNED] += 1
        if numbers[_NOW] == number:
            numbers[_NOW] = 0
        lock.release()
        if _clock() > _state.read:
            _looked(point, _like(model, number, group, args, kwargs), result)
        return result

    def watched(model: Any, args: Any, kwargs: Any) -> Any:
        if _thread.inside or _state.thread == _ident():
            return original(model, *args, **kwargs)
        latest, loaded = _state.latest
        if latest() is not model:
            loaded = _loaded(model)
        given = _ordered(model, loaded, kwargs) if len(kwargs) > 1 else kwargs
        found = _arrive(point, model, loaded, args, given, tuple(kwargs))
        _thread.inside = True
        _at_length.append(found)
        try:
            result = original(model, *args, **kwargs)
        except BaseException as error:
            _failed(point, found, error)
            raise
        finally:
            _thread.inside = False
            del _at_length[-1:]
        _returned(point, found, result)
        return result

    return call


def _in_c() -> tuple[Callable[..., Any], ...]:
    """Return what puts the numbers of a call in their place, copies memory, and tells whether a
    mode would see what is asked of a tensor."""
    import ctypes  # torch has it already

    address = ctypes.cast(ctypes.memmove, ctypes.c_void_p).value
    kind = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    modes = _modules["torch"]._C._len_torch_function_stack
    return struct.Struct("=4q").pack_into, kind(address or 0), modes


def _like(model: Any, number: int, group: groups.Group, args: Any, kwargs: Any) -> _Call:
    """Return the call that took the short way, as if it had not."""
    loaded = memory.loaded[model]
    given = _ordered(model, loaded, kwargs) if len(kwargs) > 1 else kwargs
    call = _Call(number, loaded, args, given)
    call.flat = [*args, *given.values()]
    call.group = group
    call.holds = True
    return call


def _loaded(model: Any) -> memory.Loaded:
    found = memory.loaded.get(model)
    if found is None:
        found = memory.loaded[model] = memory.Loaded(None)
    _state.latest = (weakref.ref(model), found)
    return found


def watch_callable(span: Span, result: Any) -> Any:
    """Watch the function that `torch._export.aot_load` returns."""
    point = Point("torch._export", "aot_load()", "run")
    model = _Function()
    memory.loaded[model] = span.memory["loaded"]
    inner = watch_method(lambda _, /, *args, **kwargs: result(*args, **kwargs), point)

    @functools.wraps(result)
    def call(*args: Any, **kwargs: Any) -> Any:
        return inner(model, *args, **kwargs)

    return call


class _Function:
    loader = None


def _arrive(
    point: Point, model: Any, loaded: memory.Loaded, args: Any, kwargs: Any, names: tuple[str, ...]
) -> _Call:
    """Judge and count a call; `kwargs` are in the package's order, `names` in that of the call."""
    began = _clock()
    call = _Call(next(_state.numbers), loaded, args, kwargs)
    try:
        torch: Any = _modules["torch"]
        with torch._C.DisableTorchFunction():
            reference.called_package(torch, call.flat)
            key = groups.key(torch, call)
            group = call.group = loaded.groups.get(key)
            if group is None or call.number <= FULL_CALLS or capture.ONLY:
                _describe(torch, point, call, key)
                group = call.group
            if group is not None:
                _count(torch, call, group)
                if call.number >= FULL_CALLS and not capture.ONLY:
                    groups.remember(torch, model, call, names)
    except Exception as error:
        events.note("describe a call", error)
    budget.spent += _clock() - began
    return call


def _describe(torch: Any, point: Point, call: _Call, key: Any) -> None:
    """Record a call in full, if it is among the first or unlike the others."""
    unreadable = describe.unreadable_now(torch)
    names = _names(torch, call)
    described = describe.leaves(torch, call.flat, names)
    known = call.group
    group = known or groups.new(torch, call.loaded, key, call.flat, described)
    call.group = group
    if known is None and group.id is None and not group.breaks:
        return  # too many kinds to be told one by one; judged, and counted
    if call.number > FULL_CALLS:
        if _state.recorded >= RECORDED:
            return
        _state.recorded += 1
    if unreadable is None and budget.allows():
        describe.add_values(torch, call.flat, described)
    span = call.span = Span(events.new_id(), point.phase, point.name)
    span.details.update(call=call.number, package=call.loaded.path, caller=_caller())
    if call.loaded.model != "model":
        span.details["model"] = call.loaded.model
    span.details.update(describe.nest(call.args, call.kwargs, call.flat))
    if group.id is not None:
        span.details["group"] = group.id
    if group.breaks:
        span.details["breaks"] = [b.property for b in group.breaks]
    span.details["inputs"] = described
    if known is None or group.slot is None or call.number <= _FILED or capture.ONLY:
        given = capture.Call(call.number, call.args, call.kwargs, call.flat)
        span.details.update(capture.keep(torch, given, unreadable, group.breaks))
    if unreadable is None and budget.allows():
        span.memory["given"] = reference.Memory(torch, call.flat)
    begin(span)


def _count(torch: Any, call: _Call, group: groups.Group) -> None:
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
    if call.span is None or call.span.details.get("captured") is None:
        _hold(torch, call, group, numbers)


def _announce(counted: call_counters.Tally) -> None:
    folder, files = store.directory(), {}
    if folder is not None:
        for word, suffix in (("now", ".bin"), ("latest", ".pt")):
            files[word] = f"{folder.name}/{store.own_name(f'call-{word}', suffix)}"
    events.emit("tally", file=f"calls/{counted.name}", **files)


def _hold(torch: Any, call: _Call, group: groups.Group, numbers: memoryview[int]) -> None:
    """Keep the inputs of a call that is not recorded: in shared memory if they fit, else in a
    file as long as there is time for it."""
    if group.slot is None:
        if group.id is not None and budget.allows(capture.fixed()):
            given = capture.Call(call.number, call.args, call.kwargs, call.flat)
            kept = capture.keep(torch, given, describe.unreadable_now(torch), ())
            if kept.get("captured"):
                numbers[call_counters.LATEST_KEPT] = call.number
        else:
            _state.keep = _clock() + _PAUSE_S
        return
    if torch._C._len_torch_dispatch_stack() or not _state.memory.acquire(False):
        return
    call.holds = True
    numbers[call_counters.HELD] = 0
    if torch.is_grad_enabled():
        with torch._C._AutoDispatchBelowAutograd():
            _copy(group.slot, call.flat)
    else:
        _copy(group.slot, call.flat)
    numbers[call_counters.HELD] = call.number


def _copy(slot: Any, flat: Any) -> None:
    for to, given in zip(slot, flat):  # noqa: B905 - Python 3.9
        to.copy_(given)


def _returned(point: Point, call: _Call, result: Any) -> None:
    try:
        _over(call, call_counters.RETURNED)
    except Exception as error:
        events.note("count the end of a call", error)
    if call.span is not None or _clock() > _state.read:
        _looked(point, call, result)


def _looked(point: Point, call: _Call, result: Any) -> None:
    """Look at what a call returned, and tell when that may be done again."""
    began = _clock()
    try:
        torch: Any = _modules["torch"]
        with torch._C.DisableTorchFunction():
            _read(torch, point, call, result)
    except Exception as error:
        events.note("describe the result of a call", error)
    took = _clock() - began
    _state.read = began + min(took / _READING, _PAUSE_S)
    budget.spent += took


def _over(call: _Call, which: int) -> None:
    """Count a call that is over."""
    if call.holds:
        _state.memory.release()
    counted = call_counters.of_process()
    if counted is not None:
        numbers = counted.numbers
        numbers[which] += 1
        if numbers[call_counters.UNDER_WAY] == call.number:
            numbers[call_counters.UNDER_WAY] = 0


def _read(torch: Any, point: Point, call: _Call, result: Any) -> None:
    """Look at the outputs; keep the inputs of the first call whose outputs are not finite."""
    finite = describe.finite(torch, result)
    counted = call_counters.of_process()
    if finite is not None and counted is not None:
        counted.numbers[call_counters.OUTPUTS_READ] += 1
        counted.numbers[call_counters.NOT_FINITE] += not finite
    kept: Details = {}
    if finite is False and _state.not_finite < call_counters.NUMBERS:
        call.span = call.span or _late(torch, point, call)
        _state.not_finite += 1
        if _state.not_finite == 1:
            given = capture.Call(call.number, call.args, call.kwargs, call.flat)
            kept = capture.keep_now(torch, given, "call-not-finite")
    if call.span is not None:
        end(
            call.span,
            None,
            lambda: {**_outputs(torch, result), **kept, **_memory(torch, call, result)},
        )


def _memory(torch: Any, call: _Call, result: Any) -> Details:
    given = call.span.memory.get("given") if call.span is not None else None
    stated = call.loaded.contract is not None and call.loaded.contract.stated
    if given is None or call.loaded.writes or not stated:  # the model may write to its inputs
        return {}
    try:
        found = given.found(torch, call.flat, result)
        return {"memory": found} if found else {}
    except Exception as error:
        events.note("look at the memory of a call", error)
        return {}


def _outputs(torch: Any, result: Any) -> Details:
    if not budget.allows():
        return {}
    flat = torch.utils._pytree.tree_leaves(result)
    count = describe.unreadable_now(torch) is None
    return {"outputs": describe.outputs(torch, flat, count)}


def _failed(point: Point, call: _Call, error: BaseException) -> None:
    began = _clock()
    try:
        torch: Any = _modules["torch"]
        _over(call, call_counters.FAILED)
        with torch._C.DisableTorchFunction():
            span = call.span or _late(torch, point, call)
            given = capture.Call(call.number, call.args, call.kwargs, call.flat)
            if span is not None:
                end(span, error, lambda: capture.keep_failed(torch, given))
    except Exception as failure:
        events.note("describe a failed call", failure)
    budget.spent += _clock() - began


def _late(torch: Any, point: Point, call: _Call) -> Span | None:
    """Record a call that turned out to be one to record; its inputs may have been written to."""
    if _state.recorded >= RECORDED:
        return None
    _state.recorded += 1
    span = Span(events.new_id(), point.phase, point.name)
    span.details.update(call=call.number, package=call.loaded.path, caller=_caller())
    if call.loaded.model != "model":
        span.details["model"] = call.loaded.model
    if call.group is not None and call.group.id is not None:
        span.details["group"] = call.group.id
    span.details["inputs"] = describe.leaves(torch, call.flat, _names(torch, call))
    counted = call_counters.of_process()
    if call.holds and counted is not None and counted.numbers[call_counters.HELD] == call.number:
        span.details.update(describe.nest(call.args, call.kwargs, call.flat))
    begin(span)
    span.started = time.perf_counter()
    return span


def _caller() -> tuple[str, int] | None:
    """Return file and line of the innermost frame that is neither torch's nor the probe's."""
    frame = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return None
        file = frame.f_code.co_filename
        if not file.startswith((_HERE, "<")) and owner(file) != "torch":
            return file, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _ordered(model: Any, loaded: memory.Loaded, kwargs: dict[str, Any]) -> dict[str, Any]:
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


def _names(torch: Any, call: _Call) -> memory.Names:
    loaded, kwargs = call.loaded, call.kwargs
    known = memory.names_of_package.get((loaded.path or "", loaded.model))
    if known is not None and len(known) == len(call.flat):
        return known
    pytree = torch.utils._pytree
    names: memory.Names = [None] * len(pytree.tree_leaves(call.args))
    for key, value in kwargs.items():
        leaves = len(pytree.tree_leaves(value))
        names += [key] if leaves == 1 else [f"{key}_{i}" for i in range(leaves)]
    return names


def _after_fork() -> None:
    """A child counts its own calls, into a file of its own."""
    _state.numbers = itertools.count(1)
    _state.recorded = 0
    _state.not_finite = False
    _state.memory = threading.Lock()
    _state.thread = 0
    _at_length.clear()
    for loaded in list(memory.loaded.values()):
        loaded.groups.clear()
    groups.forget()
    call_counters.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
