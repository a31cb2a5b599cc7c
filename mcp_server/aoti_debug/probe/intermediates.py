"""Values inside a model: which may be asked for, how to have them, how to compile that."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from operator import getitem
from typing import Any

from . import standalone
from .describe import is_float, writers
from .fakes import is_custom
from .graph_run import Observer, base, reached, values_of
from .lazy import torch

Document = dict[str, Any]

_VIEWS = tuple(
    """
    view reshape t transpose permute expand slice select unsqueeze squeeze detach alias split
    chunk unbind getitem clone contiguous flatten unflatten movedim narrow lift_fresh_copy
    sym_size
    """.split()
)

CONVOLUTIONS = ("convolution", "conv1d", "conv2d", "conv3d", "conv_transpose2d")
PRODUCTS = (
    *("mm", "bmm", "addmm", "baddbmm", "matmul", "linear", "einsum"),
    *("scaled_dot_product_attention", *CONVOLUTIONS),
)
# What no generated kernel reaches across: it calls a library, or what the user wrote.
_CALLS = (*PRODUCTS, "lstm", "gru", "topk", "sort", "embedding_bag", "_embedding_bag")
# Which arguments of a product are multiplied, where these are not the first two.
_FACTORS = {"addmm": (1, 2), "baddbmm": (1, 2), "scaled_dot_product_attention": (0, 1, 2)}
_INLINED = 8  # elements
_OF_PACKAGES = ("aot_inductor.package", "aot_inductor.output_path")  # here it is a library


def output_of(graph: Any) -> Any:
    return next(node for node in reversed(list(graph.nodes)) if node.op == "output")


def ancestors(nodes: list[Any]) -> set[Any]:
    """Return the nodes and all that they are computed from."""
    return set(reached(nodes, lambda node: node.all_input_nodes))


def candidates(graph: Any) -> list[str]:
    """Return the nodes whose values may be asked for, in order: those that compute a tensor that
    an output depends on."""
    needed = ancestors([output_of(graph)])
    found = []
    for node in graph.nodes:
        name = base(node)
        value = node.meta.get("val")
        if node.op != "call_function" or node not in needed or name.lstrip("_") in _VIEWS:
            continue
        if name.endswith("_") or not isinstance(value, torch.Tensor):
            continue
        found.append(node.name)
    return found


def computing(node: Any) -> Any:
    """Return what computed the value of a node that may only be a view of it."""
    while node.op == "call_function" and base(node).lstrip("_") in _VIEWS:
        tensors = [n for n in node.all_input_nodes if isinstance(n.meta.get("val"), torch.Tensor)]
        if len(tensors) != 1:
            return node
        node = tensors[0]
    return node


def operator(node: Any) -> list[Any]:
    """Return the node, after the operator of several results that it takes one of."""
    if node.target is getitem and node.all_input_nodes:
        return [node.all_input_nodes[0], node]
    return [node]


def fused(node: Any) -> list[Any]:
    """Return the nodes that one generated kernel may compute together with this one, in order."""
    begin = [node] if node.op == "call_function" else []
    return _some(node, reached(begin, lambda one: filter(_is_fused, one.all_input_nodes)), 24)


def _is_fused(node: Any) -> bool:
    library = base(node).lstrip("_") in _CALLS
    return node.op == "call_function" and not library and not is_custom(node.target)


def _some(node: Any, found: Iterator[Any], limit: int) -> list[Any]:
    """Return the first of these nodes, in the order of the graph."""
    some = set(islice(found, limit))
    return [one for one in node.graph.nodes if one in some]


def spread(count: int, limit: int) -> list[int]:
    """Return at most `limit` of `count` places, evenly apart."""
    if count <= limit:
        return list(range(count))
    return sorted({(n + 1) * count // (limit + 1) for n in range(limit)})


def add_outputs(module: Any, names: list[str]) -> int:
    """Give a module further outputs, flat after its own; return how many it had."""
    pytree = torch.utils._pytree
    graph = module.graph
    output = output_of(graph)
    nodes = {node.name: node for node in graph.nodes}
    flat = pytree.tree_leaves(output.args[0])
    leaves = (*flat, *(nodes[name] for name in names))
    output.args = (leaves,)
    info = graph._codegen.pytree_info
    spec = pytree.tree_structure(tuple(0 for _ in leaves))
    graph._codegen.pytree_info = info._replace(out_spec=spec)
    module.recompile()
    return len(flat)


def options(settings: Document) -> Document:
    """Return the settings of a compile without those of a package."""
    return {key: value for key, value in settings.items() if key not in _OF_PACKAGES}


def build(module: Any, program: Any, settings: Document) -> Any:
    """Compile a module of an exported program and load it."""
    inductor: Any = import_module("torch._inductor")
    args, kwargs = program.example_inputs
    library = inductor.aot_compile(module, args, kwargs, options=options(settings) or None)
    return standalone.load_library(library, torch.utils._pytree.tree_leaves((args, kwargs)))


def downstream(node: Any, limit: int = 16) -> list[Any]:
    """Return the nodes that take a value further through what kernels fuse, in order: the node
    itself first."""
    return _some(node, reached([node], lambda one: filter(_is_fused, one.users)), limit)


def alone(
    groups: list[tuple[list[Any], list[Any]]], values: Document
) -> tuple[Any, tuple[Any, ...]]:
    """Return groups of nodes as one module and its arguments; its results are the ends of each
    group, which shares nothing with the others.

    `values` holds what flows into them, by name: tensors become arguments, numbers constants, and
    so do tensors of the program that Inductor writes into its code.
    """
    graph, module = torch.fx.Graph(), torch.nn.Module()
    args: list[Any] = []
    taken: list[dict[Any, Any]] = []
    (first, *_), _ = groups[0]
    written = {root for root, _ in writers(first.graph)}
    for nodes, _ in groups:  # placeholders come before all else
        kept: dict[Any, Any] = {}
        taken.append(kept)
        for name in entering(nodes):
            one = next(n for node in nodes for n in node.all_input_nodes if n.name == name)
            value = values[name]
            if one.op == "get_attr" and one not in written and is_inlined(value):
                setattr(module, f"constant_{name}", value.clone())
                kept[one] = graph.get_attr(f"constant_{name}")
            elif isinstance(value, torch.Tensor):
                kept[one] = graph.placeholder(f"{name}_{len(args)}")
                device = getattr(one.meta.get("val"), "device", value.device)
                args.append(value.clone().to(device))
            else:
                kept[one] = value
    for (nodes, _), kept in zip(groups, taken):
        for node in nodes:
            kept[node] = graph.create_node(
                node.op,
                node.target,
                torch.fx.node.map_arg(node.args, kept.__getitem__),
                torch.fx.node.map_arg(node.kwargs, kept.__getitem__),
            )
    pairs = zip(groups, taken)
    graph.output(tuple(kept[one] for (_, ends), kept in pairs for one in ends))
    return torch.fx.GraphModule(module, graph), tuple(args)


def is_inlined(constant: Any) -> bool:
    """Tell whether Inductor writes a constant into its code."""
    small = isinstance(constant, torch.Tensor) and constant.dim() < 2
    return small and constant.numel() <= _INLINED


def entering(nodes: list[Any]) -> list[str]:
    """Return the names of what flows into these nodes from others."""
    inside = set(nodes)
    names = [one.name for node in nodes for one in node.all_input_nodes if one not in inside]
    return list(dict.fromkeys(names))


def is_view(node: Any) -> bool:
    return base(node).lstrip("_") in _VIEWS or base(node).endswith("_")


def convolves_in_tf32(module: Any) -> bool:
    """Tell whether cuDNN may compute a float32 convolution of this module in TF32."""
    try:
        if not torch.backends.cudnn.allow_tf32:
            return False
    except RuntimeError:  # newer torch: precision was set for convolutions alone
        return bool(torch.backends.cudnn.conv.fp32_precision == "tf32")
    values = [n.meta.get("val") for n in module.graph.nodes if base(n).lstrip("_") in CONVOLUTIONS]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return any(one.dtype == torch.float32 and one.device.type == "cuda" for one in tensors)


def with_short_factors(
    module: Any,
    inputs: standalone.Inputs,
    products: tuple[str, ...],
    bits: int,
    nearest: bool = True,
    *watching: Observer,
) -> list[Any]:
    """Return a module's outputs with the factors of these products short of mantissa."""

    def compute(_: Any, node: Any, args: Any, kwargs: Any) -> Any:
        name = base(node).lstrip("_")
        if name not in products:
            return node.target(*args, **kwargs)
        factors = _FACTORS.get(name, (0, 1))
        short = [rounded(one, bits, nearest) if n in factors else one for n, one in enumerate(args)]
        return node.target(*short, **kwargs)

    found: list[Any] = values_of(module, inputs.flat, (), compute, *watching, writes=True)[
        "outputs"
    ]
    return found


def rounded(leaf: Any, bits: int, nearest: bool = True) -> Any:
    """Return a float tensor with a mantissa of so many bits, rounded to the nearest or cut off."""
    if not is_float(leaf):
        return leaf
    fraction, exponent = torch.frexp(leaf)
    scale = float(2 ** (bits + 1))
    short = torch.round(fraction * scale) if nearest else torch.trunc(fraction * scale)
    return torch.ldexp(short / scale, exponent).to(leaf.dtype)
