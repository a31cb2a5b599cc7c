"""Where NaN and Inf are born: which node, from which values, and the usual reason that fits."""

from __future__ import annotations

import math
from typing import Any

from . import reasons
from .indexing import described
from .standalone import statistics

Document = dict[str, Any]
_ELEMENTS = 3
_STORED = ("get_attr", "placeholder")


def look(
    torch: Any, node: Any, args: Any, kwargs: Any, value: Any, nan: set[str], inf: set[str]
) -> Document | None:
    """Return what a node that makes NaN or Inf made it from; None where it passes them on."""
    tensor = _first_bad(torch, value)
    if tensor is None:
        return None
    if node.op in _STORED:
        return {"what": described(node), **_elements(torch, tensor), "kind": _kind(tensor)}
    sources = node.all_input_nodes
    if node.name in nan:
        if any(source.name in nan for source in sources):
            return None
        kind = "nan"
    else:
        if any(source.name in inf or source.name in nan for source in sources):
            return None
        kind = "inf"
    if kind == "inf" and meant(args, kwargs):
        return {"meant": True, "kind": kind, **_elements(torch, tensor)}
    found: Document = {"kind": kind, **_elements(torch, tensor)}
    place = tuple(found["at"][0]) if found["at"] else ()
    found["from"] = [
        _source(torch, argument, given, place, tensor.shape)
        for argument, given in zip(_flat(node.args), _flat(args))  # noqa: B905 - Python 3.9
        if isinstance(given, (torch.Tensor, int, float)) and not isinstance(given, bool)
    ][:6]
    found["reason"] = reasons.reason(torch, str(node.target), args, kwargs, tensor, place)
    return found


def meant(args: Any, kwargs: Any) -> bool:
    """Tell whether an infinity was written in the model: a mask's, a start of a maximum."""
    flat = [*_flat(args), *_flat(list(kwargs.values()))]
    return any(isinstance(one, float) and math.isinf(one) for one in flat)


def cause(graph: Any, born: dict[str, Document], nan: set[str], inf: set[str]) -> Document | None:
    """Walk back from an output that is not finite to the node where that began.

    Only what reaches an output counts: a NaN that a `where` throws away is none. An infinity that
    a NaN was made of is the cause of it, unless the model wrote it.
    """
    nodes = {node.name: node for node in graph.nodes}
    output = next((node for node in reversed(list(graph.nodes)) if node.op == "output"), None)
    if output is None:
        return None
    bad = [node for node in output.all_input_nodes if node.name in nan]
    kind = nan
    if not bad:
        bad = [node for node in output.all_input_nodes if node.name in inf]
        kind = inf
    reached = _reached(bad, kind)
    first = next((n for n in nodes if n in reached and n in born), None)
    if first is None:
        return None
    found = {**born[first], "reaches": [node.name for node in bad][:8]}
    if found.get("meant"):
        return None
    if kind is nan and first not in ("", None):
        earlier = _reached([n for n in nodes[first].all_input_nodes if n.name in inf], inf)
        root = next(
            (n for n in nodes if n in earlier and n in born and not born[n].get("meant")), None
        )
        if root is not None and nodes[root].op not in _STORED:
            return {**born[root], "then": found, "reaches": found["reaches"]}
    return found


def _reached(begin: list[Any], bad: set[str]) -> set[str]:
    found: set[str] = set()
    wanted = list(begin)
    while wanted:
        node = wanted.pop()
        if node.name in found:
            continue
        found.add(node.name)
        wanted += [source for source in node.all_input_nodes if source.name in bad]
    return found


def _first_bad(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        bad = value.is_floating_point() and not bool(torch.isfinite(value).all())
        return value.detach() if bad else None
    if isinstance(value, (list, tuple)):
        return next((t for one in value if (t := _first_bad(torch, one)) is not None), None)
    return None


def _kind(tensor: Any) -> str:
    return "nan" if bool(tensor.isnan().any()) else "inf"


def _elements(torch: Any, tensor: Any) -> Document:
    nan = tensor.isnan()
    bad = nan if bool(nan.any()) else tensor.isinf()
    places = bad.nonzero()
    return {
        "count": len(places),
        "elements": tensor.numel(),
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).replace("torch.", ""),
        "at": places[:_ELEMENTS].tolist(),
        "value": float(tensor[tuple(places[0].tolist())]) if len(places) else None,
    }


def _source(torch: Any, argument: Any, given: Any, place: tuple[int, ...], shape: Any) -> Document:
    found: Document = dict(described(argument))
    if not isinstance(given, torch.Tensor):
        found["value"] = given
        return found
    found.update(shape=list(given.shape), dtype=str(given.dtype).replace("torch.", ""))
    found.update(statistics(torch, given.detach()))
    try:  # elementwise: what stood at the first bad element
        same = given.detach().expand(shape)
        found["there"] = float(same[place])
    except (RuntimeError, TypeError, ValueError, IndexError):
        pass
    return found


def _flat(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        found += _flat(value) if isinstance(value, (list, tuple)) else [value]
    return found
