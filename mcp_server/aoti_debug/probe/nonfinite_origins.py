"""Where NaN and Inf first appear: at which node, from which values, and which usual reason fits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from . import intermediates
from .describe import dtype_of, written_arguments
from .graph_run import Observer, base, located, op_of, reached, stack_of
from .indices import described
from .lazy import torch
from .observers import Values
from .standalone import statistics
from .vocabulary import Reason, ReasonKind, is_torchs

Document = dict[str, Any]
_ELEMENTS = 3
_ORIGINS = 200
_STORED = ("get_attr", "placeholder")
_TESTS = ("isnan", "isfinite", "nan_to_num")


def targets(node: Any) -> list[Any]:
    """Return the nodes, those they are views of, whose values a node's operator writes to."""
    found: list[Any] = []
    for given in written_arguments(node):
        while getattr(given, "op", "") == "call_function" and intermediates.is_view(given):
            given = given.args[0]
        found += [given] if hasattr(given, "op") else []
    return found


class Origins(Observer):
    """Where NaN and Inf first appear; it takes from `values`, which stands before it, which nodes
    hold them."""

    def __init__(self, values: Values) -> None:
        self._nan, self._inf = values.nan, values.inf
        self._origins: dict[str, Document] = {}
        self._writers: dict[str, list[Any]] = {}  # of such values, into a tensor made before

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        if node.op == "output" or node.name not in self._nan | self._inf:
            return
        if len(self._origins) < _ORIGINS:
            found = self._look(node, args, kwargs, value)
            if found is not None:
                self._origins[node.name] = {**located(node), **found}
        for target in targets(node):
            self._writers.setdefault(target.name, []).append(node)
            for names in (self._nan, self._inf):
                if node.name in names:
                    names.add(target.name)

    def _look(self, node: Any, args: Any, kwargs: Any, value: Any) -> Document | None:
        """Return what a node that makes NaN or Inf made it from; None where it passes them on."""
        tensor = _first_bad(value)
        if tensor is None:
            return None
        if node.op in _STORED:
            kind = "nan" if bool(tensor.isnan().any()) else "inf"
            read = next((one for one in node.users if one.op == "call_function"), None)
            if tensor.numel() == 1 and read is not None and base(read).startswith("lift_fresh"):
                return {"meant": True, "kind": kind, **_elements(tensor)}  # a number of the code
            found = {"what": described(node), **_elements(tensor), "kind": kind}
            if read is None:
                return found
            return {**found, "reader": op_of(read), "op": op_of(read), "stack": stack_of(read)}
        nan, inf = self._nan, self._inf
        kind, passed_on = ("nan", nan) if node.name in nan else ("inf", inf | nan)
        if any(source.name in passed_on for source in node.all_input_nodes):
            return None
        found = {"kind": kind, **_elements(tensor)}
        if meant(kind, args, kwargs):
            return {"meant": True, **found}
        place = tuple(found["at"][0]) if found["at"] else ()
        found["from"] = [
            _source(argument, given, place, tensor.shape)
            for argument, given in zip(_flat(node.args), _flat(args))
            if isinstance(given, (torch.Tensor, int, float)) and not isinstance(given, bool)
        ][:6]
        found["reason"] = reason(str(node.target), args, kwargs, tensor, place)
        return found

    def cause(self, graph: Any) -> Document | None:
        """Walk back from an output that is not finite to the node where that began; None where all
        outputs are finite.

        Only what reaches an output counts: a NaN that a `where` throws away is none. An infinity
        that a NaN was made of is the cause of it, unless the model wrote it.
        """
        origins = self._origins
        nodes = {node.name: node for node in graph.nodes}
        ends = intermediates.output_of(graph).all_input_nodes
        kind = self._nan if any(node.name in self._nan for node in ends) else self._inf
        bad = [node for node in ends if node.name in kind]
        known = self._behind(bad, kind, nodes)
        if not known:
            return None
        own = [n for n in known if not origins[n].get("meant")]
        first = next((n for n in own if not tested(nodes[n])), (own or known)[0])
        found = {
            **origins[first],
            "tested": tested(nodes[first]),
            "reaches": [node.name for node in bad][:8],
        }
        if kind is self._nan and not found.get("meant"):
            sources = [n for n in nodes[first].all_input_nodes if n.name in self._inf]
            mattering = self._behind(sources, self._inf, nodes)
            root = next((n for n in mattering if not origins[n].get("meant")), None)
            if root is not None and nodes[root].op not in _STORED:
                return {**origins[root], "then": found, "reaches": found["reaches"]}
        return found

    def _behind(self, begin: list[Any], bad: set[str], nodes: Document) -> list[str]:
        """Return the origins that bad values come from, in the order of the graph."""

        def sources(node: Any) -> list[Any]:
            given = [*node.all_input_nodes, *self._writers.get(node.name, [])]
            return [source for source in given if source.name in bad]

        names = {node.name for node in reached(begin, sources)}
        return [name for name in nodes if name in names and name in self._origins]


def meant(kind: str, args: Any, kwargs: Any) -> bool:
    """Tell whether it was written in the model: a mask's infinity, a NaN for what is missing."""
    flat = [*_flat(args), *_flat(list(kwargs.values()))]
    written = math.isnan if kind == "nan" else math.isinf
    return any(isinstance(one, float) and written(one) for one in flat)


def tested(node: Any) -> bool:
    """Tell whether the model itself tests the value, which is made of others, for NaN."""
    users = [] if node.op in _STORED else [one for one in node.users if one.op == "call_function"]
    unlike = [one for one in users if base(one) == "ne" and one.args == (node, node)]
    return bool(unlike) or any(base(one) in _TESTS for one in users)


def _first_bad(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        bad = value.is_floating_point() and not bool(torch.isfinite(value).all())
        return value.detach() if bad else None
    if isinstance(value, (list, tuple)):
        return next((t for one in value if (t := _first_bad(one)) is not None), None)
    return None


def _elements(tensor: Any) -> Document:
    nan = tensor.isnan()
    bad = nan if bool(nan.any()) else tensor.isinf()
    places = bad.nonzero()
    return {
        "count": len(places),
        "elements": tensor.numel(),
        "shape": list(tensor.shape),
        "dtype": dtype_of(tensor),
        "at": places[:_ELEMENTS].tolist(),
        "value": float(tensor[tuple(places[0].tolist())]) if len(places) else None,
    }


def _source(argument: Any, given: Any, place: tuple[int, ...], shape: Any) -> Document:
    found: Document = dict(vars(described(argument)))
    if not isinstance(given, torch.Tensor):
        found["value"] = given
        return found
    found.update(shape=list(given.shape), dtype=dtype_of(given))
    found.update(statistics(given.detach()))
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


_DOMAIN: dict[str, tuple[ReasonKind, str, Callable[[Any], Any]]] = {
    "sqrt": ("square_root", "a negative number", lambda x: x < 0),
    "rsqrt": ("reciprocal_root", "zero or a negative number", lambda x: x <= 0),
    "log": ("logarithm", "zero or a negative number", lambda x: x <= 0),
    "log2": ("logarithm", "zero or a negative number", lambda x: x <= 0),
    "log10": ("logarithm", "zero or a negative number", lambda x: x <= 0),
    "log1p": ("domain", "-1 or less", lambda x: x <= -1),
    "acos": ("unit_interval", "a number outside -1..1", lambda x: x.abs() > 1),
    "asin": ("unit_interval", "a number outside -1..1", lambda x: x.abs() > 1),
    "acosh": ("domain", "a number below 1", lambda x: x < 1),
    "atanh": ("unit_interval", "a number outside -1..1 or at its ends", lambda x: x.abs() >= 1),
    "reciprocal": ("division_by_zero", "zero", lambda x: x == 0),
    "logit": ("domain", "a number outside 0..1 or at its ends", lambda x: (x <= 0) | (x >= 1)),
    "erfinv": ("unit_interval", "a number outside -1..1 or at its ends", lambda x: x.abs() >= 1),
}
_ELEMENTWISE: dict[str, Callable[[Any, Any], Any]] = {
    "mul": operator.mul,
    "add": operator.add,
    "sub": operator.sub,
    "pow": operator.pow,
}
_REDUCED = ("sum", "mean", "var", "std", "var_mean", "norm", "linalg_vector_norm", "logsumexp")


def reason(target: str, args: Any, kwargs: Any, result: Any, place: tuple[int, ...]) -> Reason:
    """Return why `result[place]` is not finite, as far as the operator tells."""
    op = target.removeprefix("aten.").partition(".")[0].strip("_")
    tensors = [one for one in _flat(args) if isinstance(one, torch.Tensor)]
    values = [one for one in _flat(args) if isinstance(one, (torch.Tensor, int, float))]
    if any(isinstance(one, float) and math.isnan(one) for one in (*values, *kwargs.values())):
        return Reason("written", "the model writes NaN there itself")
    pair = [_at(one, place, result.shape) for one in values[:2]]
    left, right = pair if len(pair) > 1 else (None, None)
    if op in _DOMAIN and tensors:
        kind, words, outside = _DOMAIN[op]
        at = _at(tensors[0], place, result.shape)
        if at is not None and bool(outside(torch.as_tensor(at))):
            return Reason(kind, f"{op} of {words}: {at:.6g}")
    if op in ("div", "true_divide") and len(values) > 1:
        return _division(left, right)
    if op in ("softmax", "log_softmax", "safe_softmax") and tensors:
        return _softmax(tensors[0], args, place)
    if left is not None and right is not None:
        if op == "pow" and left < 0 and right % 1 != 0:
            text = f"a negative number to a fractional power: {left:.6g} ** {right:.6g}"
            return Reason("fractional_power", text)
        if op == "pow" and left == 0 and right < 0:
            return Reason("division_by_zero", f"zero to a negative power: 0 ** {right:.6g}")
        if said := _infinite(op, left, right):
            return Reason("infinite_operands", said)
    if "batch_norm" in op and len(args) > 4 and isinstance(args[4], torch.Tensor):
        lowest = float(args[4].min())
        if lowest < 0:
            return Reason("negative_variance", f"a negative running variance: {lowest:.6g}")
    if op in ("var", "std", "var_mean") and tensors:
        count = tensors[0].numel() // max(1, result.numel())
        if count <= 1:
            return Reason("one_element", "the corrected variance of one element: 0/0")
    if op in ("mean", "amax", "amin") and tensors and tensors[0].numel() == 0:
        return Reason("no_elements", f"the {op} of no elements: 0/0")
    if not is_torchs(target):
        return Reason("other", _of_custom(tensors, result, place))
    return _overflow(op, tensors, values, result, place)


def _of_custom(tensors: Any, result: Any, place: tuple[int, ...]) -> str:
    """Say what a custom operator made of what; how it computes is not known."""
    floats = [one.detach() for one in tensors if one.is_floating_point() and one.numel()]
    kind = "NaN" if bool(result[place].isnan()) else "Inf"
    if not all(bool(one.isfinite().all()) for one in floats):
        return f"the custom operator makes {kind} of values that are not finite"
    largest = max((float(one.abs().max()) for one in floats), default=0.0)
    return f"the custom operator makes {kind} of finite values: the largest is {largest:.6g}"


def _division(top: float | None, bottom: float | None) -> Reason:
    if top is None or bottom is None:
        return Reason("other", "a division whose result is not finite")
    if bottom == 0 and top == 0:
        return Reason("zero_by_zero", "0/0")
    if bottom == 0:
        return Reason("division_by_zero", f"a division by zero: {top:.6g}/0")
    if abs(top) == float("inf") and abs(bottom) == float("inf"):
        return Reason("infinite_operands", "Inf/Inf")
    return Reason("overflow", f"overflow of a division: {top:.6g}/{bottom:.6g}")


def _softmax(tensor: Any, args: Any, place: tuple[int, ...]) -> Reason:
    dim = next((one for one in args[1:] if isinstance(one, int) and not isinstance(one, bool)), -1)
    row = tensor.detach().movedim(dim, -1)
    at = list(place)
    if at:
        at.pop(dim % tensor.dim())
    values = row[tuple(at)]
    if bool((values == float("-inf")).all()):
        return Reason("masked_row", f"softmax of a row that is all -Inf (fully masked): row {at}")
    if bool((values == float("inf")).any()):
        return Reason("infinite_operands", f"softmax of a row that holds +Inf: row {at}")
    return Reason("other", f"softmax of row {at}")


def _infinite(op: str, left: float, right: float) -> str:
    inf = float("inf")
    if op == "sub" and left == right and abs(left) == inf:
        return "Inf - Inf"
    if op == "add" and left == -right and abs(left) == inf:
        return "Inf - Inf (their sum)"
    if op == "mul" and 0 in (left, right) and inf in (abs(left), abs(right)):
        return "0 * Inf"
    return ""


def _overflow(op: str, tensors: Any, values: Any, result: Any, place: tuple[int, ...]) -> Reason:
    """Say which type was too small, with the largest value that went in."""
    floats = [t for t in tensors if t.is_floating_point() and t.numel()]
    dtype = dtype_of(result)
    limit = torch.finfo(result.dtype).max
    largest = max((float(t.detach().abs().max()) for t in floats), default=0.0)
    if not torch.isfinite(torch.tensor(largest)):
        if bool(result.isnan().any()):
            text = f"{op} of values that hold Inf: Inf - Inf or 0 * Inf inside"
            return Reason("infinite_operands", text)
        return Reason("infinite_operands", f"{op} of values that hold Inf")
    if op in ("to", "to_copy", "convert_element_type") and largest > limit:
        text = f"overflow of {dtype}, {largest:.6g} is over {limit:.6g}"
        return Reason("overflow", text, dtype)
    if op == "exp" and floats:
        at = _at(floats[0], place, result.shape)
        if at is not None:
            text = f"overflow of {dtype}, exp({at:.6g}) is over {limit:.6g}"
            return Reason("exponential", text, dtype)
    products = op in intermediates.PRODUCTS
    inside = " inside a sum of products" if products else " in a sum" if op in _REDUCED else ""
    true = _true(op, values, place, result)
    wide = f", {true:.6g} in float64" if true is not None else ""
    text = f"overflow of {dtype}{inside}: the largest input is {largest:.6g}, the limit {limit:.6g}"
    return Reason("overflow", text + wide, dtype)


def _true(op: str, values: Any, place: tuple[int, ...], result: Any) -> Any:
    """Return what an elementwise operation gives in float64 at the place."""
    compute = _ELEMENTWISE.get(op)
    if compute is None or len(values) < 2:
        return None
    left, right = (_at(v, place, result.shape) for v in values[:2])
    try:
        return compute(left, right)
    except (OverflowError, TypeError, ZeroDivisionError):
        return None


def _at(value: Any, place: tuple[int, ...], shape: Any) -> float | None:
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return float(value.detach().expand(shape)[place])
    except (RuntimeError, TypeError, ValueError, IndexError):
        return None
