"""Watch calls of loaded models: describe and capture their inputs, describe their outputs."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

from . import budget, capture, describe, events, memory
from .watch import Details, Point, Span, watched

_FULL_CALLS = 100_000  # calls that are recorded one by one
_KEYS = 64
_FRAMES = 50
_HERE = os.path.dirname(__file__)  # noqa: PTH120 - pathlib is slow to import

_numbers = itertools.count(1)
_described: dict[Any, int] = {}  # what an earlier begin event described -> its id


def before_call(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `AOTICompiledModel.__call__(model, *args, **kwargs)`."""
    model, args = args[0], args[1:]
    loaded = memory.loaded.get(model)
    if loaded is None:
        loaded = memory.loaded[model] = memory.Loaded(None)
    _begin(span, loaded, args, _ordered(model, loaded, kwargs))


def watch_callable(span: Span, result: Any) -> Any:
    """Watch the function that `torch._export.aot_load` returns."""
    loaded = span.memory["loaded"]

    def before(inner: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        _begin(inner, loaded, args, kwargs)

    point = Point("torch._export", "aot_load()", "run", before, after_call, failed=after_failure)
    call: Callable[..., Any] = watched(result, point)
    return call


def after_call(span: Span, result: Any) -> Details:
    """Describe the outputs, as long as there is time for it."""
    if span.silent or not budget.allows():
        return {}
    torch: Any = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        flat = torch.utils._pytree.tree_leaves(result)
        count = describe.unreadable_now(torch) is None
        return {"outputs": describe.outputs(torch, flat, count)}


def after_failure(span: Span) -> Details:
    """Keep the inputs of the first call that fails from being written over by later ones."""
    return capture.keep_failed(span.details.get("call", 0))


def _begin(
    span: Span, loaded: memory.Loaded, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    number = next(_numbers)
    span.details.update(call=number, package=loaded.path, caller=_caller())
    if loaded.model != "model":
        span.details["model"] = loaded.model
    if number == _FULL_CALLS + 1:
        events.note("record every call", f"after {_FULL_CALLS} calls only failing ones are")
    span.silent = number > _FULL_CALLS and os.environ.get("AOTI_DEBUG_CAPTURE_CALL") != str(number)
    torch: Any = sys.modules["torch"]
    with torch._C.DisableTorchFunction():
        _inputs(torch, span, loaded, args, kwargs)


def _caller() -> tuple[str, int] | None:
    """Return file and line of the innermost frame that is neither torch's nor the probe's."""
    frame = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return None
        file = frame.f_code.co_filename
        if not file.startswith(_HERE) and "/torch/" not in file and not file.startswith("<"):
            return file, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _inputs(
    torch: Any,
    span: Span,
    loaded: memory.Loaded,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    flat = _leaves(torch, args, kwargs)
    unreadable = describe.unreadable_now(torch)
    scan = unreadable is None and budget.allows()
    same = describe.key(torch, flat)
    if scan or same not in _described:
        names = _names(torch, loaded, args, kwargs, len(flat))
        found = describe.leaves(torch, flat, names)
        if scan:
            describe.add_values(torch, flat, found)
        span.details["inputs"] = found
        if len(_described) < _KEYS:
            _described.setdefault(same, span.id)
    else:
        span.details["inputs_of"] = _described[same]
    call = capture.Call(span.details["call"], args, kwargs, flat)
    span.details.update(capture.keep(torch, call, unreadable))


def _leaves(torch: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    flat = [*args, *kwargs.values()]
    if all(type(leaf) is torch.Tensor for leaf in flat):  # most calls; saves most of the time
        return flat
    leaves: list[Any] = torch.utils._pytree.tree_leaves((args, kwargs))
    return leaves


def _ordered(model: Any, loaded: memory.Loaded, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments in the order in which the package takes them."""
    if len(kwargs) < 2:
        return kwargs
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


def _names(
    torch: Any,
    loaded: memory.Loaded,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    count: int,
) -> memory.Names:
    known = memory.names_of_package.get((loaded.path or "", loaded.model))
    if known is not None and len(known) == count:
        return known
    pytree = torch.utils._pytree
    names: memory.Names = [None] * len(pytree.tree_leaves(args))
    for key, value in kwargs.items():
        leaves = len(pytree.tree_leaves(value))
        names += [key] if leaves == 1 else [f"{key}_{i}" for i in range(leaves)]
    return names
