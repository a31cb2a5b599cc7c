"""Run the exported program node by node: its guards, indices, fake kernels and results, in more
precision too, and with other rounding."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from . import events, graph_run, intermediates, observers, standalone
from .describe import is_float
from .lazy import torch
from .standalone import Inputs
from .vocabulary import OutOfBounds

Document = dict[str, Any]
_NO_FLOAT64 = ("aten._grouped_mm",)  # whose kernels know float32 and less
_OF_DTYPE = ("aten.nextafter",)  # another value in another dtype, and no rounding


class Eager:
    """One run of an exported program on captured inputs, and what it showed."""

    def __init__(self) -> None:
        self.outputs: list[Any] | None = None  # flat, on the CPU
        self.broken: list[str] = []  # guards that do not hold
        self.exception: Document | None = None
        self.where: str | None = None
        self.node: Document | None = None
        self.index: OutOfBounds | None = None
        self.custom_ops: list[str] = []
        self.mismatches: list[Document] = []
        self.writes: list[Document] = []  # of operators, to what their schema says they only read


def run(module: Any, inputs: standalone.Inputs) -> Eager:
    """Run the module with its own guards; what raises ends it, a guard that is broken does not."""
    found = Eager()
    found.exception = signature(module, inputs)
    if found.exception is not None:
        found.where = found.exception.pop("where")
        if found.where == "signature":
            return found
    index, promises, writes = observers.IndexCheck(), observers.Promises(), observers.Writes()
    watched = graph_run.Run(module, index, promises, writes, guards=True, writes=True)
    found.broken, found.custom_ops = watched.broken, promises.operators
    found.writes = writes.found
    found.mismatches = promises.mismatches
    try:
        flat = watched(inputs.flat)
        standalone.synchronize()
    except Exception as error:
        found.exception = found.exception or events.describe_error(error)
        found.where = found.where or "model"
        found.index = index.found
        if watched.at is not None and watched.at.op == "call_function":
            found.node = graph_run.about(watched.at)
        return found
    if found.broken:
        message = f"{graph_run.GUARD}{found.broken[0]}"
        found.exception = {"type": "AssertionError", "message": message}
        found.where = "guards"
    found.outputs = [graph_run.on_cpu(leaf) for leaf in flat]
    return found


def signature(module: Any, inputs: standalone.Inputs) -> Document | None:
    """Run the checks that stand before the module: nesting, and bounds in older releases."""
    hooks = list(module._forward_pre_hooks.items())
    if inputs.args is None:
        return None
    for _, hook in hooks:
        try:
            hook(module, inputs.args, inputs.kwargs)
        except TypeError as error:
            if "positional argument" not in str(error):
                return {**events.describe_error(error), "where": "signature"}
        except Exception as error:
            text = str(error)
            bounds = "to be" in text and "input" in text.lower() and "tree spec" not in text
            return {**events.describe_error(error), "where": "guards" if bounds else "signature"}
    return None


def guard_texts(module: Any) -> list[str]:
    """Return the text of each guard that the module checks; only newer torch has them."""
    function = getattr(getattr(module, "_guards_fn", None), "forward", None)
    texts = [text for text in _constants(function, 3) if text.startswith(graph_run.GUARD)]
    return [text[len(graph_run.GUARD) :] for text in texts][:200]


def _constants(function: Any, depth: int) -> Iterator[str]:
    """Yield the strings in the code of a function and of those that it wraps."""
    code = getattr(function, "__code__", None)
    yield from (c for c in getattr(code, "co_consts", ()) if isinstance(c, str))
    for cell in getattr(function, "__closure__", None) or ():
        if depth > 0 and callable(cell.cell_contents):
            yield from _constants(cell.cell_contents, depth - 1)


def widen(module: Any) -> Any:
    """Return a float64 copy of a graph module: weights, and dtypes that the graph names."""
    wide = copy.deepcopy(module)
    for tensor in [*wide.parameters(), *wide.buffers()]:
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(torch.float64)
    for name, value in list(vars(wide).items()):  # lifted constants that are no buffers
        if is_float(value):
            setattr(wide, name, value.to(torch.float64))
    narrow = (torch.float32, torch.float16, torch.bfloat16)

    def wider(value: Any) -> Any:
        return torch.float64 if isinstance(value, torch.dtype) and value in narrow else value

    for node in list(wide.graph.nodes):
        if "_assert_tensor_metadata" in str(node.target):  # of dtypes that are others here
            wide.graph.erase_node(node)
            continue
        node.args = tuple(wider(value) for value in node.args)
        node.kwargs = {key: wider(value) for key, value in node.kwargs.items()}
        if str(node.target).startswith(_NO_FLOAT64):
            node.target = _in(torch.float32, node.target)
        elif str(node.target).startswith(_OF_DTYPE):
            node.target = _in(node.meta["val"].dtype, node.target)
        elif _makes_default_floats(node):
            node.kwargs = {**node.kwargs, "dtype": torch.float64}
    wide.recompile()
    return wide


def _in(dtype: Any, target: Any) -> Any:
    """Return an operator that takes and gives float64 and computes in a dtype."""

    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _cast((args, kwargs), dtype)
        return _cast(target(*args, **kwargs), torch.float64)

    return call


def _cast(tree: Any, dtype: Any) -> Any:
    """Return a tree with its float tensors, and the dtypes that it names, in this one."""

    def one(leaf: Any) -> Any:
        if is_float(leaf):
            return leaf.detach().to(dtype)
        return dtype if isinstance(leaf, torch.dtype) else leaf

    return torch.utils._pytree.tree_map(one, tree)


def _makes_default_floats(node: Any) -> bool:
    """Tell whether a node makes float32 of nothing because it names no dtype, as `ones` does."""
    schema = getattr(node.target, "_schema", None)
    value = node.meta.get("val")
    if schema is None or not is_float(value):
        return False
    named = any(argument.name == "dtype" for argument in schema.arguments)
    tensors = [n for n in node.all_input_nodes if isinstance(n.meta.get("val"), torch.Tensor)]
    return named and not tensors and node.kwargs.get("dtype") is None


def widen_inputs(inputs: Inputs) -> Inputs:
    """Return the same inputs with float tensors in float64."""
    return standalone.with_leaves(inputs, _cast(inputs.flat, torch.float64))


def in_float64(
    module: Any,
    inputs: Inputs,
    names: Sequence[str] = (),
    *watching: graph_run.Observer,
    writes: bool = False,
) -> tuple[Document, list[str]]:
    """Run a float64 copy of a module; return its `outputs`, with what it `writes` to inputs, and
    the named nodes' values, on the CPU, and the operators that refuse it: these are given the
    dtypes that they were exported with, and their results widened."""
    wide = widen(module)
    plain = {node.name: node for node in module.graph.nodes}
    nodes = {node.name: node for node in wide.graph.nodes}
    refusing: dict[str, None] = {}

    def compute(run: graph_run.Run, node: Any, args: Any, kwargs: Any) -> Any:
        def narrow(one: Any) -> Any:
            value, known = run.values[nodes[one.name]], one.meta.get("val")
            if known is None and one.op == "get_attr":
                known = attrgetter(one.target)(module)
            floats = is_float(value)
            return value.to(known.dtype) if floats and known is not None else value

        try:
            return node.target(*args, **kwargs)
        except Exception:
            own = plain[node.name]
            args, kwargs = torch.fx.node.map_arg((own.args, dict(own.kwargs)), narrow)
            result = node.target(*args, **kwargs)
            refusing[str(node.target)] = None
            return _cast(result, torch.float64)

    flat = standalone.copied(widen_inputs(inputs)).flat
    values = graph_run.values_of(wide, flat, names, compute, *watching, writes=writes)
    return values, list(refusing)


def exact(
    module: Any, inputs: Inputs, names: Sequence[str] = (), *, writes: bool = False
) -> Document | None:
    """Return the same; None where an operator refuses float64 and what it was exported with."""
    try:
        return in_float64(module, inputs, names, writes=writes)[0]
    except Exception:
        return None


def rounded_anew(module: Any, inputs: Inputs, seed: int) -> list[Any]:
    """Run a module with one in twelve of the floats that it computes moved by a unit in the last
    place, up or down, which has the variance of rounding; return the outputs, on the CPU. What
    ends in four zero bits counts as exact: zeros, positions and lengths in floats. The module's
    state stays as it is."""
    torch.manual_seed(seed)

    def compute(_: Any, node: Any, args: Any, kwargs: Any) -> Any:
        result = node.target(*args, **kwargs)
        if intermediates.is_view(node) or str(node.target).startswith(_OF_DTYPE):
            return result
        return torch.utils._pytree.tree_map(moved, result)

    def moved(leaf: Any) -> Any:
        if not is_float(leaf):
            return leaf
        wide = leaf.to(torch.float64)
        chance = torch.rand_like(wide)
        way = (chance < 1 / 24).to(wide.dtype) - (chance > 23 / 24).to(wide.dtype)
        eps = torch.finfo(leaf.dtype).eps
        mantissa, exponent = torch.frexp(wide)
        way = way * (mantissa / (8 * eps) % 1 != 0)
        unit = torch.ldexp(way * eps, exponent - 1)
        return (wide + unit).to(leaf.dtype)

    return graph_run.outputs_of(module, standalone.copied(inputs).flat, compute, writes=True)
