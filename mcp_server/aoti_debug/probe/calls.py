"""Watch calls of loaded models. The first calls, and each that is unlike all before it, take the
long way: they are described and judged. One that is like an earlier one takes the short way: a
look-up, a copy of its inputs, a few counters. The outputs of all are judged.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import (
    arrival,
    budget,
    call_counters,
    call_memory,
    capture,
    describe,
    events,
    garbled,
    groups,
    growth,
    holding,
    memory,
    on_device,
    outputs,
    reference,
    store,
)
from .arrival import Arrivals, Call
from .lazy import below_autograd, torch
from .watch import Details, Point, Span, end

_clock = arrival._clock
_ident = threading.get_ident
_UNDER_WAY, _HELD, _RETURNED, _NOW = (
    8 * call_counters.UNDER_WAY,
    call_counters.HELD,
    call_counters.RETURNED,
    call_counters.UNDER_WAY,
)
_modules = sys.modules


class _Thread(threading.local):
    inside = False  # a call: what it calls itself is part of it
    more: tuple[Any, Any] = ((), {})  # what a runner is given besides its inputs: a stream


class _State:
    thread = 0  # whose call is on the short way
    at_length: list[Any] = []  # noqa: RUF012 - calls under way that took the long way


_thread = _Thread()
_state = _State()


def watch_method(original: Callable[..., Any], point: Point) -> Callable[..., Any]:
    """Watch `AOTICompiledModel.__call__(model, *args, **kwargs)`."""
    original = garbled.garbled(original)
    long_way = _long_way(original, point)
    quick, place, move, modes = groups.quick, *_in_c()
    at_length, enough = _state.at_length, call_counters.NUMBERS

    @functools.wraps(original)
    def call(model: Any, /, *args: Any, **kwargs: Any) -> Any:
        known = quick.get(id(model))
        if known is None or at_length or modes():
            return long_way(model, args, kwargs)
        of, names, count, alike, copies, group, loaded = known
        flat = (*args, *kwargs.values()) if kwargs else args
        if of() is not model or len(flat) != count or (*kwargs,) != names or not alike(*flat):
            return long_way(model, args, kwargs)
        lock = holding.buffer
        held = copies is not None or group.device is not None or _clock() <= Arrivals.keep
        if not held or not lock.acquire(False):
            return long_way(model, args, kwargs)
        number, entry = next(Arrivals.numbers), None
        returned = loaded.outputs
        numbers = returned.numbers
        try:
            _state.thread = _ident()
            try:
                place(numbers, _UNDER_WAY, number, number, group.id, 0)
                numbers[group.row] += 1
                if copies is not None:
                    for leaf, (to, size) in zip(flat, copies):
                        move(to, leaf.data_ptr(), size)
                    numbers[_HELD] = number
                elif group.device is not None:
                    if len(kwargs) > 1:
                        flat = (*args, *arrival.ordered(model, loaded, kwargs).values())
                    entry = on_device.before(number, loaded, group, flat)
            except Exception as error:
                quick.pop(id(model), None)
                events.note("hold the inputs of a call", error)
            result = original(model, *args, **kwargs)
        except BaseException as error:
            _state.thread = 0
            failed = arrival.like(model, number, group, args, kwargs)
            failed.entry = entry
            if not failed.holds:  # else the end of the call releases it
                lock.release()
            _failed(point, failed, error)
            raise
        _state.thread = 0
        try:
            signature, later = outputs.judged(returned, outputs.leaves(result))
            if later is not None:
                on_device.judge(number, loaded, group, entry, signature, later)
            elif signature and returned.count(signature) < enough:
                _odd(point, arrival.like(model, number, group, args, kwargs), signature, result)
            else:
                at = returned.place(signature) if signature else returned.finite
                numbers[at + 1] += 1
        except Exception as error:
            outputs.unread()
            events.note("judge the outputs of a call", error)
        numbers[_RETURNED] += 1
        if numbers[_NOW] == number:
            numbers[_NOW] = 0
        lock.release()
        return result

    if memory.hands_over:
        from . import handed

        return handed.calling(call)
    return call


def _in_c() -> tuple[Callable[..., Any], ...]:
    """Return what puts the numbers of a call in their place, copies memory, and tells whether a
    mode would see what is asked of a tensor."""
    address = ctypes.cast(ctypes.memmove, ctypes.c_void_p).value
    kind = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    modes = _modules["torch"]._C._len_torch_function_stack
    return struct.Struct("=4q").pack_into, kind(address or 0), modes


def _long_way(original: Callable[..., Any], point: Point) -> Callable[..., Any]:
    def watched(model: Any, args: Any, kwargs: Any) -> Any:
        if _thread.inside or _state.thread == _ident():
            return original(model, *args, **kwargs)
        found = arrival.arrive(point, model, args, kwargs)
        _thread.inside = True
        _state.at_length.append(found)
        try:
            result = original(model, *args, **kwargs)
        except BaseException as error:
            _failed(point, found, error)
            raise
        finally:
            _thread.inside = False
            del _state.at_length[-1:]
        _returned(found, result)
        return result

    return watched


def watch_run(original: Callable[..., Any], point: Point) -> Callable[..., Any]:
    """Watch `run(runner, inputs, …)` or `boxed_run`, which takes the tensors out of the list."""

    def flat(runner: Any, /, *inputs: Any) -> Any:
        more, named = _thread.more
        return original(runner, [*inputs], *more, **named)

    inner, boxed = watch_method(flat, point), point.attribute.endswith(".boxed_run")

    @functools.wraps(original)
    def run(runner: Any, inputs: Any, *more: Any, **named: Any) -> Any:
        # A model calls its own loader.
        if _state.thread == _ident() or _thread.inside or not isinstance(inputs, (list, tuple)):
            return original(runner, inputs, *more, **named)
        given = (*inputs,)
        if boxed and isinstance(inputs, list):
            inputs.clear()
        _thread.more = more, named
        return inner(runner, *given)

    return run


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


def _returned(call: Call, result: Any) -> None:
    """Judge what a call on the long way returned, and count its end."""
    began = _clock()
    try:
        with torch._C.DisableTorchFunction():
            _judge(call, result)
    except Exception as error:
        outputs.unread()
        events.note("judge the outputs of a call", error)
    try:
        _over(call, call_counters.RETURNED)
        if call.span is not None:
            with torch._C.DisableTorchFunction():
                end(call.span, None, lambda: _ending(call, result))
    except Exception as error:
        events.note("describe the result of a call", error)
    budget.spent += _clock() - began


def _judge(call: Call, result: Any) -> None:
    """Judge the outputs of a call that took the long way."""
    if describe.unreadable_now() is not None:
        outputs.unread()
        return
    flat = outputs.leaves(result)
    returned = outputs.of(call.loaded)
    with below_autograd():
        signature, later = (
            outputs.seen(flat) if returned is None else outputs.judged(returned, flat)
        )
    if later is not None:
        on_device.judge(call.number, call.loaded, call.group, call.entry, signature, later)
        return
    _settle(call, signature)


def _settle(call: Call, signature: int) -> None:
    about = call.number, call.loaded, call.group
    outputs.settle(*about, signature, lambda stem: holding.keep(call, stem))


def _odd(point: Point, call: Call, signature: int, result: Any) -> None:
    """Count a call on the short way whose outputs are not finite; record the first of them."""
    call.span = arrival.late(point, call)
    _settle(call, signature)
    if call.span is not None:
        end(call.span, None, lambda: _ending(call, result))


def _over(call: Call, which: int) -> None:
    """Count a call that is over."""
    if call.holds:
        holding.buffer.release()
    counted = call_counters.of_process()
    if counted is not None:
        numbers = counted.numbers
        numbers[which] += 1
        if numbers[call_counters.UNDER_WAY] == call.number:
            numbers[call_counters.UNDER_WAY] = 0


def _ending(call: Call, result: Any) -> Details:
    found: Details = {}
    flat = torch.utils._pytree.tree_leaves(result)
    with events.noted("remember the outputs of a call"):
        growth.returned(flat, call.number)
    if budget.allows():
        count = describe.unreadable_now() is None
        found["outputs"] = describe.outputs(flat, count)
    return {**found, **_memory(call, result)}


def _memory(call: Call, result: Any) -> Details:
    given = call.span.memory.get("given") if call.span is not None else None
    if given is None:
        return {}
    with events.noted("look at the memory of a call"):
        reference.returned(call, given.inputs, result)
        contract = call.loaded.contract
        writes = call.loaded.writes or contract is None or not contract.stated
        return {"memory": given.found(call.number, call.flat, result, writes)}
    return {}


def _failed(point: Point, call: Call, error: BaseException) -> None:
    began = _clock()
    try:
        _over(call, call_counters.FAILED)
        on_device.failed(call.entry)
        with torch._C.DisableTorchFunction():
            span = call.span or arrival.late(point, call)
            if span is not None:
                end(span, error, lambda: capture.keep_failed(call))
    except Exception as failure:
        events.note("describe a failed call", failure)
    budget.spent += _clock() - began


def _after_fork() -> None:
    """A child counts its own calls, into a file of its own."""
    arrival.forget()
    holding.buffer, store.busy = threading.Lock(), threading.Lock()  # others may have held them
    _state.thread = 0
    _state.at_length.clear()
    outputs.forget()
    on_device.forget()
    call_memory.forget()
    reference.forget()
    groups.forget()
    call_counters.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(on_device.finish)
