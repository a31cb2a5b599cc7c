"""Find the graph node that Inductor was working on when an exception left it."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from . import describe
from .vocabulary import places_in

_ERRORS = 20  # of one chain
_FRAMES = 400
_ORIGINS = 8
_LINES = 12  # of a node's stack
_TEXT = 120
_LIST = 64
# What the code of Inductor calls the thing it works on; other locals are looked at after these.
_NAMES = ("n", "node", "fx_node", "snode", "scheduler_node", "self", "match", "node_schedule")
_PLACES = (
    ("_inductor/codegen/", "generating code"),
    ("_inductor/scheduler.py", "scheduling"),
    ("_inductor/fx_passes/", "rewriting the graph"),
    ("_inductor/pattern_matcher.py", "rewriting the graph"),
    ("_inductor/graph.py", "lowering"),
    ("_inductor/lowering.py", "lowering"),
)

Details = dict[str, Any]


def place(error: BaseException) -> Details:
    """Return {"node": …} of the innermost node in the traceback's frames: operator, operands,
    stack; nothing where there is none."""
    fx = sys.modules.get("torch.fx")
    if fx is None:
        return {}
    for one in reversed(list(chain(error))):
        frames = list(frames_of(one))
        hint = ""
        for frame in reversed(frames):
            nodes, inner = _in_frame(frame, fx.Node)
            hint = hint or inner
            if nodes:
                return {"node": _described(_most_like(nodes, hint), nodes, _during(frames))}
    return {}


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those it was raised for, the outermost first."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen and len(seen) < _ERRORS:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """Yield the frames of a traceback, outermost first; of a long one the innermost."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    yield from frames[-_FRAMES:]


def frames_in(stack: str) -> list[list[Any]]:
    """Return the places of a stack as [file, line, function, text], outermost first."""
    places = places_in(stack)[-_LINES:]
    return with_text([[place.file, place.line, place.function] for place in places])


def with_text(frames: list[list[Any]]) -> list[list[Any]]:
    """Add the text of each line, where its file is there."""
    return [[*f, linecache.getline(f[0], f[1]).strip()[:_TEXT] or None] for f in frames]


def _in_frame(frame: FrameType, kind: type) -> tuple[list[Any], str]:
    """Return the nodes of the model's graph that a frame works on, and the name of the step of
    a loop's body if it works on that."""
    if "torch" not in frame.f_code.co_filename and "node" not in frame.f_locals:
        return [], ""
    local = frame.f_locals
    hint = ""
    for name in (*(n for n in _NAMES if n in local), *(n for n in local if n not in _NAMES)):
        value = local[name]
        if isinstance(value, kind) and not _of_the_model(value):
            hint = hint or str(getattr(value, "target", ""))
        if nodes := [n for n in _nodes(value, kind) if _of_the_model(n)]:
            return nodes, hint
    return [], hint


def _nodes(value: Any, kind: type) -> Iterable[Any]:
    """Return the graph nodes that a value is, or was made of."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, (list, tuple)):
        return [n for item in value[:_LIST] for n in _origins(item, kind)]
    return _origins(value, kind)


def _origins(value: Any, kind: type) -> list[Any]:
    """Return the origins of an IR node, a scheduler's node, or several fused ones."""
    if not str(type(value).__module__).startswith("torch._inductor"):
        return []
    held = vars(value) if hasattr(value, "__dict__") else {}
    for name in ("snodes", "nodes"):
        if isinstance(held.get(name), (list, tuple)):
            return [
                n
                for item in held[name][:_LIST]
                for n in ([item] if isinstance(item, kind) else _origins(item, kind))
            ]
    inner = held.get("node")
    if isinstance(inner, kind):
        return [inner]
    source = value if "origins" in held else inner
    origins = getattr(source, "origins", None)
    return [n for n in origins if isinstance(n, kind)] if isinstance(origins, Iterable) else []


def _of_the_model(node: Any) -> bool:
    meta = getattr(node, "meta", None) or {}
    return node.op not in ("placeholder", "output", "root") and (
        "val" in meta or "stack_trace" in meta
    )


def _most_like(nodes: list[Any], step: str) -> Any:
    """Choose among the nodes of a fused loop the one whose operator the loop's step is of."""
    if step:
        for node in nodes:
            if step in str(node.target):
                return node
    return next((n for n in nodes if n.meta.get("stack_trace")), nodes[0])


def _during(frames: list[FrameType]) -> str:
    for frame in reversed(frames):
        file = frame.f_code.co_filename.replace("\\", "/")
        for part, what in _PLACES:
            if part in file:
                return what
    return "lowering"


def _described(node: Any, nodes: list[Any], during: str) -> Details:
    given = [*node.args, *node.kwargs.values()]
    return {
        "name": str(node.name)[:_TEXT],
        "op": operator(node),
        "inputs": [_operand(value) for value in given[:_ORIGINS]],
        "output": _value(node.meta.get("val")),
        "frames": frames_in(str(node.meta.get("stack_trace") or "")),
        "during": during,
        "fused": [operator(n) for n in nodes[:_ORIGINS] if n is not node],
    }


def operator(node: Any) -> str:
    return str(node.target)[:_TEXT]


def _operand(value: Any) -> Details:
    if hasattr(value, "meta") and hasattr(value, "target"):
        return {"name": str(value.name)[:_TEXT], **_value(value.meta.get("val"))}
    if isinstance(value, (list, tuple)):
        inner = ", ".join(str(v)[:20] for v in value[:8])
        return {"value": f"[{inner}{', …' if len(value) > 8 else ''}]"}
    return {"value": str(value)[:_TEXT]}


def _value(value: Any) -> Details:
    """Describe a fake tensor; sizes that are symbols are given as text."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return {} if value is None else {"type": type(value).__name__}
    return describe.kind(value)
