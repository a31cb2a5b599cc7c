"""Wrap a function so that its calls leave a begin and an end event."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from . import budget, events, failing_node, guards
from .vocabulary import owner

Details = dict[str, Any]
_FRAMES = 60
_GENERATOR = 0x20  # inspect.CO_GENERATOR
_HERE = os.path.dirname(__file__)


@dataclass
class Span:
    """One watched call. `before` may leave in `memory` what `after` needs."""

    id: int
    phase: str
    name: str
    started: float = 0.0
    details: Details = field(default_factory=dict)
    memory: Details = field(default_factory=dict)


Before = Callable[[Span, tuple[Any, ...], dict[str, Any]], None]
After = Callable[[Span, Any], Details]
Instead = Callable[[Span, tuple[Any, ...], dict[str, Any]], Any]


@dataclass(frozen=True)
class Point:
    """A function to watch. `fold`: not reported inside another call of the same phase."""

    module: str
    attribute: str
    phase: str
    before: Before | None = None  # fills span.details
    after: After | None = None
    instead: Instead | None = None  # its result, where the function need not run
    replace: Callable[[Span, Any], Any] | None = None
    fold: bool = True
    wrap: Callable[[Callable[..., Any], Point], Callable[..., Any]] | None = None  # in its own way

    @property
    def name(self) -> str:
        return f"{self.module}.{self.attribute}"


class _Stack(threading.local):
    def __init__(self) -> None:
        self.spans: list[Span] = []


_stack = _Stack()


def phases() -> list[str]:
    """Return the phases that this thread is in, outermost first."""
    return [span.phase for span in _stack.spans]


def watched(original: Callable[..., Any], point: Point) -> Callable[..., Any]:
    """Return a function that does what `original` does and reports its calls."""
    call = (point.wrap or _reported)(original, point)
    call._aoti_debug = True  # type: ignore[attr-defined]
    call._torchdynamo_disable = True  # type: ignore[attr-defined] # never traced into
    return call


def wrap_once(owner: Any, name: str, wrapper: Callable[[Any], Callable[..., Any]]) -> None:
    """Replace a function of a module or a class by what `wrapper` makes of it, unless that was
    done."""
    original = vars(owner).get(name)
    if original is not None and not hasattr(original, "_aoti_debug"):
        call: Any = functools.wraps(original)(wrapper(original))
        call._aoti_debug = True
        setattr(owner, name, call)


def caller(*others: str) -> tuple[str, int] | None:
    """Return file and line of the innermost frame that is neither torch's nor the probe's, nor of
    those that `others` own."""
    frame = users(sys._getframe(1), ("torch", *others))
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def consumer() -> tuple[str, int] | None:
    """Return where the user's generator that calls now was asked for a value; None outside one."""
    frame = first = users(sys._getframe(1))
    while frame is not None and frame.f_code.co_flags & _GENERATOR:
        frame = users(frame.f_back)
    lazy = frame is not None and frame is not first
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None and lazy else None


def users(frame: FrameType | None, others: tuple[str, ...] = ("torch",)) -> FrameType | None:
    """Return the innermost frame that is neither the probe's nor of those that others own."""
    for _ in range(_FRAMES):
        if frame is None:
            return None
        file = frame.f_code.co_filename
        if not file.startswith((_HERE, "<")) and owner(file) not in others:
            return frame
        frame = frame.f_back
    return None


def is_probes(frame: FrameType | None, until: FrameType | None) -> bool:
    """Tell whether a frame of the probe stands between a frame and one that it was called from."""
    while frame is not None and frame is not until:
        if frame.f_code.co_filename.startswith(_HERE):
            return True
        frame = frame.f_back
    return False


def _reported(original: Callable[..., Any], point: Point) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        span = _begin(point, args, kwargs)
        if span is None:
            return original(*args, **kwargs)
        try:
            result = _instead(point, span, args, kwargs)
            if result is None:
                result = original(*args, **kwargs)
        except BaseException as error:
            _end(point, span, None, error)
            raise
        _end(point, span, result, None)
        if point.replace is not None:
            return point.replace(span, result)
        return result

    return call


def _instead(point: Point, span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with events.noted(f"a result in place of {point.name}"):
        return point.instead(span, args, kwargs) if point.instead is not None else None
    return None


def _vec_isa() -> list[str] | None:
    """Return which vector instructions torch has found usable; None where it has not looked.

    It compiles and loads something for each, which a repetition need not do again.
    """
    module = sys.modules.get("torch._inductor.cpu_vec_isa")
    usable: Any = getattr(module, "valid_vec_isa_list", None)
    looked = hasattr(usable, "cache_info") and usable.cache_info().currsize
    return [str(isa) for isa in usable()] if looked else None


def _begin(point: Point, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Span | None:
    if point.fold and point.phase in phases():
        return None
    with budget.OwnTime():
        span = Span(events.new_id(), point.phase, point.name)
        with events.noted(f"details of {point.name}"):
            if point.before is not None:
                point.before(span, args, kwargs)
        begin(span)
    return span


def begin(span: Span) -> None:
    """Write the begin event of a call, and have what it calls stand inside it."""
    details = dict(span.details)
    if _stack.spans:
        details["parent"] = _stack.spans[-1].id
    if threading.current_thread() is not threading.main_thread():
        details["thread"] = threading.current_thread().name
    events.emit("begin", id=span.id, phase=span.phase, name=span.name, **details)
    _stack.spans.append(span)
    span.started = time.perf_counter()


def _end(point: Point, span: Span, result: Any, error: BaseException | None) -> None:
    after = point.after
    found = (lambda: after(span, result)) if after is not None and error is None else dict
    seconds = time.perf_counter() - span.started
    with budget.OwnTime():
        end(span, error, found, seconds)


def end(
    span: Span,
    error: BaseException | None,
    found: Callable[[], Details],
    seconds: float | None = None,
) -> None:
    """Write the end event of a call, with the details that `found` returns."""
    if seconds is None:
        seconds = time.perf_counter() - span.started
    if span in _stack.spans:
        del _stack.spans[_stack.spans.index(span) :]
    details: Details = {"id": span.id, "ok": error is None, "seconds": round(seconds, 6)}
    if error is not None:
        details["error"] = events.describe_error(error)
    with events.noted(f"result of {span.name}"):
        if error is not None and span.phase in ("export", "lower"):
            details.update(failing_node.place(error), **guards.place(error))
        details.update(found())
        if span.phase == "lower":
            details["vec_isa"] = _vec_isa()
    events.emit("end", **details)
