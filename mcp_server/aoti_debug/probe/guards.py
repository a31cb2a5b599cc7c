"""Say which guard of a traced model breaks a dimension's promise, for which sizes, and where the
model made it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, Optional
from weakref import WeakKeyDictionary

from . import failing_node

_KEPT = 2000  # guards of one trace
_TOLD = 20
_TRIED = 200  # sizes of one dimension
_SHOWN = 8
_FRAMES = 8
_DEPTH = 400
_TEXT = 300

_ENDLESS = 1 << 40

Details = dict[str, Any]
Range = tuple[int, Optional[int]]
Stack = list[list[Any]]

_made: WeakKeyDictionary[Any, list[tuple[Any, Stack]]] = WeakKeyDictionary()


def remembering(original: Any) -> Any:
    """Wrap `ShapeEnv._log_guard`: keep the model's lines of each guard that is added."""

    def log_guard(self: Any, prefix: Any, g: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            known = _made.setdefault(self, [])
            if len(known) < _KEPT:
                known.append((g, _stack()))
        except Exception:
            pass  # of interest only if the export fails
        return original(self, prefix, g, *args, **kwargs)

    return log_guard


def place(error: BaseException) -> Details:
    """Return {"guards": …} of a failed export: those that some promised size breaks, with the
    dimensions, the guard in the user's names, the sizes, and the model's frames, outermost first.
    Where no size breaks any, torch could not prove one of those returned."""
    if not any(
        "onstraint" in type(e).__name__ or "onstraint" in str(e)[:300]
        for e in failing_node.chain(error)
    ):
        return {}
    for one in failing_node.chain(error):
        for frame in failing_node.frames_of(one):
            if frame.f_code.co_name == "produce_guards":  # (self, *args, **kwargs)
                given, named = frame.f_locals["args"], frame.f_locals["kwargs"]
                promised = _promised(given[1], named.get("input_contexts") or ())
                known = list(_judged(frame.f_locals["self"], promised))
                broken = [g for g in known if g["breaks"]]
                broken.sort(key=lambda guard: (len(guard["dims"]), -len(guard["breaks"])))
                told = (broken or known)[:_TOLD]
                return {"guards": [{**g, "breaks": g["breaks"][:_SHOWN]} for g in told]}
    return {}


def _promised(sources: Any, contexts: Any) -> dict[str, Range]:
    """Return the range of each size that the user gave a Dim, by torch's name of the size."""
    found: dict[str, Range] = {}
    for source, context in zip(sources, contexts):
        for place, constraint in enumerate(getattr(context, "constraint_sizes", None) or ()):
            bounds = getattr(constraint, "vr", None)
            if bounds is not None:
                low, high = str(bounds.lower), str(bounds.upper)
                found[f"{_called(source)}.size()[{place}]"] = (
                    max(2, int(low)) if low.isdigit() else 2,
                    int(high) if high.isdigit() and int(high) < _ENDLESS else None,
                )
    return found


def _called(source: Any) -> str:
    name = getattr(source, "name", source)
    return str(name() if callable(name) else name)


def _judged(env: Any, promised: dict[str, Range]) -> Iterator[Details]:
    told: set[str] = set()
    for guard, stack in _made.get(env, ()):
        symbols = sorted(getattr(guard, "free_symbols", ()), key=str)
        sources = [_called((env.var_to_sources.get(s) or [""])[0]) for s in symbols]
        names = [str(env.source_name_to_debug_name.get(s, s)) for s in sources]
        if not 1 <= len(set(names)) == len(symbols) <= 2 or any(s not in promised for s in sources):
            continue
        if len(names) == 2 and not all(name.isidentifier() for name in names):
            continue  # one size is promised as an expression of another
        ranges = [promised[s] for s in sources]
        text = _text(guard, dict(zip(symbols, names)))
        if text in told:
            continue
        told.add(text)
        yield {
            "guard": text,
            "dims": names,
            "sources": sources,
            "ranges": ranges,
            "breaks": list(_breaking(guard, symbols, ranges)),
            "frames": failing_node.with_text(stack),
        }


def _sizes(bounds: Range, many: int) -> range:
    low, high = bounds
    return range(low, min(low + many, high + 1) if high is not None else low + many)


def _breaking(guard: Any, symbols: list[Any], ranges: list[Range]) -> Iterator[tuple[int, ...]]:
    """Yield sizes within the promise for which a guard is false."""
    if len(symbols) == 1:
        highest = ranges[0][1]
        tried = [*_sizes(ranges[0], _TRIED), *([highest] if highest else [])]
        choices: list[tuple[int, ...]] = [(size,) for size in dict.fromkeys(tried)]
    else:
        one, two = (_sizes(bounds, 6) for bounds in ranges)
        choices = [(a, b) for a in one for b in two]
    for choice in choices:
        if _false(guard, dict(zip(symbols, choice))):
            yield choice


def _false(guard: Any, sizes: dict[Any, int]) -> bool:
    try:
        integer = sys.modules["sympy"].Integer
        return str(guard.xreplace({s: integer(v) for s, v in sizes.items()})) == "False"
    except ZeroDivisionError:
        return True
    except Exception:
        return False


def _text(guard: Any, names: dict[Any, str]) -> str:
    """Return a guard as Python, in the user's names."""
    symbol = sys.modules["sympy"].Symbol
    named = guard.xreplace({s: symbol(n, **s.assumptions0) for s, n in names.items()})
    try:
        from torch.utils._sympy.printers import PythonPrinter

        return str(PythonPrinter().doprint(named))[:_TEXT]
    except Exception:
        return str(named)[:_TEXT]


def _stack() -> Stack:
    """Return the frames of the model that is traced, outermost first."""
    context = sys.modules["torch._guards"].TracingContext
    traced = context.extract_stack() if context.try_get() is not None else []
    if traced:  # Dynamo: the model's code runs in no frame of its own
        return [[f.filename, f.lineno, f.name] for f in traced][-_FRAMES:]
    torch = os.path.dirname(sys.modules["torch"].__file__ or "")
    found: Stack = []
    frame: FrameType | None = sys._getframe(2)
    depth = 0
    while frame is not None and depth < _DEPTH and len(found) < _FRAMES:
        file = frame.f_code.co_filename
        if file.startswith(os.path.join(torch, "export", "")):
            break
        if not file.startswith(torch) and not file.startswith("<"):
            found.append([file, frame.f_lineno, frame.f_code.co_name])
        frame, depth = frame.f_back, depth + 1
    return found[::-1]
