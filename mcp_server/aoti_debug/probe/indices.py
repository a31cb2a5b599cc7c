"""Look, before an operator that indexes is run, whether its indices are within what they index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from .graph_run import reached
from .lazy import torch
from .vocabulary import Element, GraphValue, OutOfBounds, Size

Document = dict[str, Any]
# Operators of (self, dim, index, ...), which index that dimension.
_ALONG = tuple(
    """
    index_select gather index_add index_add_ index_copy index_copy_ index_fill index_fill_ scatter
    scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_
    """.split()
)
_ROWS = ("embedding", "embedding_bag", "_embedding_bag", "_embedding_bag_forward_only")
_LISTS = ("index", "index_put", "index_put_", "_unsafe_index", "_unsafe_index_put")
_CLASSES = ("nll_loss", "nll_loss_nd", "nll_loss_forward", "nll_loss2d", "cross_entropy_loss")
# Operators whose result holds the elements of their first argument and nothing else.
_SAME = tuple(
    """
    view reshape to _to_copy contiguous flatten unsqueeze squeeze expand clone detach alias
    slice select permute transpose t lift_fresh_copy _unsafe_view narrow detach_ ravel
    """.split()
)
# Those of them whose result holds only some of the elements.
_PARTS = ("slice", "select", "narrow")
_DEPTH = 100
_NODES = 10_000
_NEGATIVE = ("index", "index_put", "index_put_", "_unsafe_index", "_unsafe_index_put", "take")


def outside(node: Any, args: Any, kwargs: Any, inputs: list[tuple[Any, Any]]) -> OutOfBounds | None:
    """Return the first index of an operator that is out of bounds; None when all are within."""
    name = _name(node.target)
    for size, dim, index, place, ignored in _indexed(name, node, args, kwargs):
        if index.numel() == 0 or index.is_meta or index.dtype == torch.bool or size is None:
            continue
        if index.is_floating_point() or index.is_complex():
            continue
        low = -size if name in _NEGATIVE else 0
        bad = (index < low) | (index >= size)
        if ignored is not None:
            bad &= index != ignored
        if not bool(bad.any()):
            continue
        at = bad.nonzero()[0].tolist()
        value = int(index[tuple(at)])
        found = OutOfBounds(
            op=str(node.target),
            upper=size,
            value=value,
            node=node.name,
            dim=dim,
            lower=low,
            at=tuple(at),
            count=int(bad.sum()),
            shape=tuple(index.shape),
            min=int(index.min()),
            max=int(index.max()),
            table=described(node.args[0]),
            source=described(place),
        )
        return replace(found, **_origin(place, value, inputs))
    return None


def sizes_indexed(node: Any) -> Iterator[tuple[int, Any]]:
    """Yield the fixed sizes that an operator indexes, each with the node of its index."""

    def value(one: Any) -> Any:
        return one.meta.get("val")

    args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), value)
    for size, _, _, place, _ in _indexed(_name(node.target), node, args, kwargs):
        if isinstance(size, int):
            yield size, place


def is_indexing(node: Any) -> bool:
    """Tell whether a node is of an operator that this looks at."""
    name = _name(node.target) if node.op == "call_function" else ""
    return name in _ALONG or name in (*_ROWS, *_LISTS, *_CLASSES, "take")


def _name(target: Any) -> str:
    """Return `embedding` of aten.embedding.default; nothing for what is not of ATen."""
    namespace = getattr(target, "namespace", "")
    return str(target).split(".")[1] if namespace == "aten" and "." in str(target) else ""


def _indexed(
    name: str, node: Any, args: Any, kwargs: Any
) -> Iterator[tuple[Any, Any, Any, Any, Any]]:
    """Yield the size, the dimension, the index, the node of the index, and a value to ignore."""
    nodes = node.args

    def given(place: int, key: str) -> tuple[Any, Any]:
        if place < len(args):
            return args[place], nodes[place]
        return kwargs.get(key), node.kwargs.get(key)

    first = args[0] if args else None
    if not name or not isinstance(first, torch.Tensor):
        return
    if name in _ROWS and first.dim():
        index, place = given(1, "indices")
        if isinstance(index, torch.Tensor):
            yield first.shape[0], 0, index, place, None
    elif name in _ALONG:
        dim, (index, place) = given(1, "dim")[0], given(2, "index")
        if isinstance(index, torch.Tensor) and isinstance(dim, int):
            size, dim = (first.shape[dim], dim % first.dim()) if first.dim() else (1, dim)
            yield size, dim, index, place, None
    elif name == "take":
        index, place = given(1, "index")
        if isinstance(index, torch.Tensor):
            yield first.numel(), None, index, place, None
    elif name in _LISTS:
        listed, places = given(1, "indices")
        dim = 0
        for index, place in zip(listed or (), places or ()):
            if isinstance(index, torch.Tensor):
                if index.dtype in (torch.bool, torch.uint8):
                    dim += index.dim()
                    continue
                yield (first.shape[dim] if dim < first.dim() else None), dim, index, place, None
            dim += 1
    elif name in _CLASSES and first.dim():
        index, place = given(1, "target")
        if isinstance(index, torch.Tensor) and not index.is_floating_point():
            ignored, dim = given(4, "ignore_index")[0], int(first.dim() > 1)
            yield first.shape[dim], dim, index, place, -100 if ignored is None else ignored


def _origin(place: Any, value: int, inputs: list[tuple[Any, Any]]) -> Document:
    """Follow an index to the input that holds it, else to the size of an input that it is of."""
    held = root(place)
    tensors = [(n, leaf) for n, leaf in inputs if isinstance(leaf, torch.Tensor)]
    for index, (placeholder, leaf) in enumerate(tensors):
        if placeholder is held and not leaf.is_floating_point():
            at = (leaf == value).nonzero()
            if len(at):
                return {"input": Element(index, placeholder.name, tuple(at[0].tolist()))}
    data, sizes = ancestors(place)
    for index, (placeholder, leaf) in enumerate(tensors):
        for dim in sizes.get(placeholder.name, ()) if not data else ():
            return {"size": Size(index, placeholder.name, dim, int(leaf.shape[dim]))}
        if placeholder.name in data and not leaf.is_floating_point():
            return {"input": Element(index, placeholder.name, computed=True)}
    return {}


def ancestors(node: Any) -> tuple[set[str], dict[str, list[int]]]:
    """Return the inputs whose elements a node is computed from, and those of whose sizes it is."""
    data: set[str] = set()
    sizes: dict[str, list[int]] = {}

    def of_size(one: Any) -> bool:
        size = one.op == "call_function" and _name(one.target) == "sym_size"
        return size and getattr(one.args[0], "op", "") == "placeholder"

    begin = [node] if hasattr(node, "all_input_nodes") else []
    nodes = reached(begin, lambda one: () if of_size(one) else one.all_input_nodes)
    for one in islice(nodes, _NODES):
        if one.op == "placeholder":
            data.add(one.name)
        elif of_size(one):
            dims = sizes.setdefault(one.args[0].name, [])
            dims.append(one.args[1] if len(one.args) > 1 else 0)
    return data, sizes


def root(node: Any, *, whole: bool = False) -> Any:
    """Return the input whose elements a node holds, with `whole` all of them; None when they were
    computed."""
    for _ in range(_DEPTH):
        if getattr(node, "op", "") == "placeholder":
            return node
        name = _name(node.target) if getattr(node, "op", "") == "call_function" else ""
        if name not in _SAME or (whole and name in _PARTS):
            return None
        node = node.args[0] if node.args else None
    return None


def described(node: Any) -> GraphValue:
    """Say what a graph node is: a parameter by its name, an input, or computed."""
    if not hasattr(node, "op"):
        return GraphValue("value", str(node)[:80])
    if node.op == "get_attr":
        return GraphValue("parameter", str(node.target), node=node.name)
    if node.op == "placeholder":
        return GraphValue("input", str(node.name), node=node.name)
    return GraphValue("computed", str(node.name), str(node.target), node.name)
