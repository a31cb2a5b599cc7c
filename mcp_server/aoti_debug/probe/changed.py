"""Say what a fix changed: the inputs of a call, free sizes, operators that hide values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import intermediates, sizes, standalone
from .describe import is_float
from .graph_run import base
from .lazy import torch
from .sizes import ENDLESS as _ENDLESS

# Operators that make a bad value look like a good one; the second kind as the last one only.
_ITSELF = "comparison with itself"
_HIDING = ("nan_to_num", "nansum", "nanmean", "nanmedian", "isnan", "isinf", "isfinite", _ITSELF)
_LAST = ("clamp", "clamp_min", "clamp_max", "hardtanh", "minimum", "maximum")
_CHOOSING = {"where": 0, "masked_fill": 1}  # they replace values: which argument says where


def by_name(before: standalone.Inputs, now: standalone.Inputs) -> tuple[list[Any], list[Any]]:
    """Return the leaves of two calls, those of the same keys side by side: the order of keys may be
    what a fix is about."""
    if before.args is None or now.args is None:
        return before.flat, now.flat
    flatten = torch.utils._pytree.tree_flatten_with_path
    one, other = (
        {str(path): leaf for path, leaf in flatten((given.args, given.kwargs))[0]}
        for given in (before, now)
    )
    if one.keys() != other.keys():
        return before.flat, now.flat
    return list(one.values()), [other[path] for path in one]


def part(leaf: Any, parts: list[int], number: int) -> Any:
    """Return one of the parts that the rows of a call are split into."""
    whole = isinstance(leaf, torch.Tensor) and leaf.dim() and leaf.shape[0] == sum(parts)
    return leaf.split(parts)[number] if whole else leaf


def repaired(before: list[Any], now: list[Any]) -> bool:
    """Tell whether two calls differ only in elements that were not finite and are now."""
    found = False
    for one, other in zip(before, now):
        if is_float(one) and is_float(other) and one.shape == other.shape:
            bad = ~one.isfinite()
            if bool(bad.any()) and bool(other.isfinite().all()):
                one, found = torch.where(bad, other.to(one.dtype), one), True
        if differ([one], [other]):
            return False
    return found and len(before) == len(now)


def differ(before: list[Any], now: list[Any]) -> str:
    """Say how the values of two calls differ; another dtype, layout or device is no difference,
    nor is a number that became a tensor. Integers are the same or not; floats may be rounded to the
    coarser of the two dtypes."""
    if len(before) != len(now):
        return f"{len(now)} inputs instead of {len(before)}"
    for number, (one, other) in enumerate(zip(before, now)):
        if isinstance(other, torch.Tensor) and isinstance(one, (bool, int, float)):
            one = torch.tensor(one, dtype=torch.float64 if isinstance(one, float) else None)
            one = one.reshape((1,) * other.dim())
        if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
            if one is not other and (type(one) is not type(other) or one != other):
                return f"input {number} is {other!r} instead of {one!r}"[:200]
            continue
        if one.shape != other.shape:
            return f"input {number} has shape {tuple(other.shape)} instead of {tuple(one.shape)}"
        if not _alike(one.detach().cpu(), other.detach().cpu()):
            return f"input {number} has other values"
    return ""


def _alike(one: Any, other: Any) -> bool:
    if not one.is_floating_point() or not other.is_floating_point():
        if one.is_complex() and other.is_complex():
            return bool(torch.allclose(one.cfloat(), other.cfloat(), equal_nan=True))
        return bool((one == other).all())  # torch compares them in a dtype that holds both
    kinds = {one.dtype, other.dtype}
    error = max(torch.finfo(dtype).eps for dtype in kinds) if len(kinds) > 1 else 1e-6
    wide, narrow = one.double(), other.double()
    finite = wide[wide.isfinite()].abs()
    size = float(finite.max()) if finite.numel() else 1.0
    tiny = error * 1e-3 * size
    return bool(torch.allclose(narrow, wide, rtol=error, atol=tiny, equal_nan=True))


def narrowed(old: Any, new: Any, places: Iterable[tuple[int, int]]) -> list[str]:
    """Say which sizes of the inputs were free, or freer, before the fix: `places` are those of each
    input before and now, whatever they are called. Sizes 0 and 1 are apart in every export."""
    found = []
    before, after = standalone.user_inputs(old), standalone.user_inputs(new)
    for one, other in ((before[was], after[now]) for was, now in places):
        pairs = zip(_shape(one), _shape(other))
        for dim, (was, now) in enumerate(pairs):
            name = f"{one.name}[{dim}]" if _shape(one) is not None else one.name
            low, high = _range(old, was)
            lowest, highest = _range(new, now)
            if low == high:
                continue
            if lowest == highest:
                found.append(f"{name} could be {_said(low, high)} and is fixed now")
            elif (
                sizes.is_symbol(was)
                and sizes.expression(now) is not None
                and not sizes.is_symbol(now)
            ):
                found.append(f"{name} could be {_said(low, high)} and is {now} now")
            elif max(lowest, 2) > max(low, 2) or highest < high:
                found.append(f"{name}: {_said(low, high)} is now {_said(lowest, highest)}")
    return found


def _shape(node: Any) -> Any:
    """Return the sizes of an input; of a number that is free itself, that number."""
    value = node.meta.get("val")
    return getattr(value, "shape", (value,))


def _range(program: Any, size: Any) -> tuple[int, int]:
    """Return the bounds of a size: those of its symbol, or of an expression of symbols."""
    found = sizes.expression(size)
    if found is None:
        return (int(size), int(size)) if isinstance(size, int) else (0, 0)
    ends = {symbol: sizes.bounds(program, symbol) for symbol in found.free_symbols}
    lows = {symbol: low or 0 for symbol, (low, _) in ends.items()}
    highs = {symbol: _ENDLESS if high is None else high for symbol, (_, high) in ends.items()}
    return int(found.subs(lows)), int(found.subs(highs))


def _said(low: int, high: int) -> str:
    return f"{low} to {high}" if high < _ENDLESS else f"{low} and more"


def hiding(old: Any, new: Any) -> list[str]:
    """Return operators that the fix added and that can hide a bad value."""
    before, after = _counts(old), _counts(new)
    found = [name for name in _HIDING if after.get(name, 0) > before.get(name, 0)]
    return found + [f"{name} of an output" for name in sorted(_last(new) - _last(old))]


def _last(program: Any) -> set[str]:
    """Return those operators that make an output and can bound it, or choose it by itself."""
    output = next(node for node in program.graph.nodes if node.op == "output")
    made = {node: _name(node) for node in output.all_input_nodes}
    return {
        name
        for node, name in made.items()
        if name in _LAST or (name in _CHOOSING and _chosen_by_itself(node))
    }


def _chosen_by_itself(node: Any) -> bool:
    """Tell whether the values that an operator may replace decide themselves which are."""
    place = _CHOOSING[_name(node)]
    before = intermediates.ancestors(_nodes(node.args[place : place + 1]))
    values = _nodes([*node.args[:place], *node.args[place + 1 :]])
    return any(one in before and one.op == "call_function" for one in values)


def _nodes(args: Any) -> list[Any]:
    return [one for one in args if hasattr(one, "all_input_nodes")]


def _name(node: Any) -> str:
    return base(node) if node.op == "call_function" else ""


def _counts(program: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in program.graph.nodes:
        if node.op == "call_function":
            same = len(node.args) > 1 and node.args[0] is node.args[1]
            name = _ITSELF if same and _name(node) in ("eq", "ne") else _name(node)
            found[name] = found.get(name, 0) + 1
    return found
