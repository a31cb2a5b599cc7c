"""Look, before an operator that indexes is run, whether its indices are within what they index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]
# Operators that index dimension `dim` of their first argument: where `dim` and the index stand.
_ALONG = {
    "index_select": (1, 2),
    "gather": (1, 2),
    "index_add": (1, 2),
    "index_add_": (1, 2),
    "index_copy": (1, 2),
    "index_copy_": (1, 2),
    "index_fill": (1, 2),
    "index_fill_": (1, 2),
    "scatter": (1, 2),
    "scatter_": (1, 2),
    "scatter_add": (1, 2),
    "scatter_add_": (1, 2),
    "scatter_reduce": (1, 2),
    "scatter_reduce_": (1, 2),
}
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


def outside(
    torch: Any, node: Any, args: Any, kwargs: Any, inputs: list[tuple[Any, Any]]
) -> Document | None:
    """Return the first index of an operator that is out of bounds; None when all are within."""
    name = _name(node.target)
    for size, dim, index, place, ignored in _indexed(torch, name, node, args, kwargs):
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
        found: Document = {
            "op": str(node.target),
            "node": node.name,
            "dim": dim,
            "lower": low,
            "upper": size,
            "value": value,
            "at": at,
            "count": int(bad.sum()),
        }
        found.update(_origin(torch, node, place, value, inputs))
        return found
    return None


def is_indexing(node: Any) -> bool:
    """Tell whether a node is of an operator that this looks at."""
    name = _name(node.target) if node.op == "call_function" else ""
    return name in _ALONG or name in (*_ROWS, *_LISTS, *_CLASSES, "take")


def message(found: Document) -> str:
    at = ", ".join(map(str, found["at"]))
    return (
        f"{found['op']}: index {found['value']} at [{at}] is out of bounds: "
        f"{found['lower']} <= index < {found['upper']}"
    )


def _name(target: Any) -> str:
    """Return `embedding` of aten.embedding.default; nothing for what is not of ATen."""
    namespace = getattr(target, "namespace", "")
    return str(target).split(".")[1] if namespace == "aten" and "." in str(target) else ""


def _indexed(
    torch: Any, name: str, node: Any, args: Any, kwargs: Any
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
    if name in _ROWS:
        index, place = given(1, "indices")
        if isinstance(index, torch.Tensor):
            yield first.shape[0], 0, index, place, None
    elif name in _ALONG:
        dim, (index, place) = given(_ALONG[name][0], "dim")[0], given(_ALONG[name][1], "index")
        if isinstance(index, torch.Tensor) and isinstance(dim, int):
            yield (first.shape[dim] if first.dim() else 1), dim, index, place, None
    elif name == "take":
        index, place = given(1, "index")
        if isinstance(index, torch.Tensor):
            yield first.numel(), None, index, place, None
    elif name in _LISTS:
        listed, places = given(1, "indices")
        dim = 0
        for index, place in zip(listed or (), places or ()):  # noqa: B905 - Python 3.9
            if isinstance(index, torch.Tensor):
                if index.dtype in (torch.bool, torch.uint8):
                    dim += index.dim()
                    continue
                yield (first.shape[dim] if dim < first.dim() else None), dim, index, place, None
            dim += 1
    elif name in _CLASSES and first.dim():
        index, place = given(1, "target")
        if isinstance(index, torch.Tensor) and not index.is_floating_point():
            ignored = given(4, "ignore_index")[0]
            size = first.shape[1] if first.dim() > 1 else first.shape[0]
            yield (
                size,
                1 if first.dim() > 1 else 0,
                index,
                place,
                -100 if ignored is None else ignored,
            )


def _origin(
    torch: Any, node: Any, place: Any, value: int, inputs: list[tuple[Any, Any]]
) -> Document:
    """Follow an index to the input that holds it, else to the size of an input that it is of."""
    held = root(place)
    tensors = [(n, leaf) for n, leaf in inputs if isinstance(leaf, torch.Tensor)]
    for index, (placeholder, leaf) in enumerate(tensors):
        if placeholder is held and not leaf.is_floating_point():
            at = (leaf == value).nonzero()
            if len(at):
                return {"input": {"index": index, "name": placeholder.name, "at": at[0].tolist()}}
    data, sizes = ancestors(place)
    for index, (placeholder, leaf) in enumerate(tensors):
        for dim in sizes.get(placeholder.name, ()) if not data else ():
            size = int(leaf.shape[dim])
            named = {"index": index, "name": placeholder.name, "dim": dim, "size": size}
            return {"size": named}
        if placeholder.name in data and not leaf.is_floating_point():
            named = {"index": index, "name": placeholder.name}
            return {"input": {**named, "computed": True}}
    return {}


def ancestors(node: Any) -> tuple[set[str], dict[str, list[int]]]:
    """Return the inputs whose elements a node is computed from, and those of whose sizes it is."""
    data: set[str] = set()
    sizes: dict[str, list[int]] = {}
    seen: set[Any] = set()
    waiting = [node] if hasattr(node, "all_input_nodes") else []
    while waiting and len(seen) < _NODES:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        if one.op == "placeholder":
            data.add(one.name)
        elif _name(one.target) == "sym_size" and getattr(one.args[0], "op", "") == "placeholder":
            dims = sizes.setdefault(one.args[0].name, [])
            dims.append(one.args[1] if len(one.args) > 1 else 0)
        else:
            waiting += one.all_input_nodes
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


# op -> (position of the tensor selected from, of the dimension or None, of the index, wraps)
_SELECTED = {
    "aten.embedding": (0, None, 1, False),
    "aten.index_select": (0, 1, 2, False),
    "aten.gather": (0, 1, 2, False),
    "aten.scatter": (0, 1, 2, False),
    "aten.scatter_": (0, 1, 2, False),
    "aten.scatter_add": (0, 1, 2, False),
    "aten.scatter_add_": (0, 1, 2, False),
    "aten.scatter_reduce": (0, 1, 2, False),
    "aten.scatter_reduce_": (0, 1, 2, False),
    "aten.index_add": (0, 1, 2, False),
    "aten.index_add_": (0, 1, 2, False),
    "aten.index_copy": (0, 1, 2, False),
    "aten.index_fill": (0, 1, 2, False),
    "aten.embedding_bag": (0, None, 1, False),
    "aten._embedding_bag": (0, None, 1, False),
    "aten._embedding_bag_forward_only": (0, None, 1, False),
}
_LISTED = ("aten.index", "aten.index_put", "aten.index_put_", "aten._unsafe_index")


def check(torch: Any, node: Any, args: Any, kwargs: Any) -> Document | None:
    """Return which element of which index of a node is out of bounds; None if none is."""
    op = str(node.target).rpartition(".")[0]
    if op in _SELECTED and len(args) > _SELECTED[op][2]:
        table, dim, index, wraps = _SELECTED[op]
        at = args[dim] if dim is not None else 0
        return _one(torch, node, args, (table, at, index), node.args[index], args[index], wraps)
    if op in _LISTED and len(args) > 1 and isinstance(args[1], (list, tuple)):
        for place, index in enumerate(args[1]):
            if isinstance(index, torch.Tensor) and index.dtype is not torch.bool:
                source = node.args[1][place]
                found = _one(torch, node, args, (0, place, 1), source, index, True)
                if found is not None:
                    return found
    return None


def _one(
    torch: Any,
    node: Any,
    args: Any,
    places: tuple[int, int, int],
    source: Any,
    index: Any,
    wraps: bool,
) -> Document | None:
    selected = args[places[0]]
    if not isinstance(selected, torch.Tensor) or not isinstance(index, torch.Tensor):
        return None
    if index.numel() == 0 or selected.dim() == 0 or index.is_floating_point():
        return None
    dim = places[1] % selected.dim()
    size = int(selected.shape[dim])
    lowest = -size if wraps else 0
    bad = (index < lowest) | (index >= size)
    if not bool(bad.any()):
        return None
    at = bad.nonzero()[0].tolist()
    table = node.args[places[0]]
    return {
        "table": described(table),
        "table_node": getattr(table, "name", None),
        "size": size,
        "dim": dim,
        "index_node": getattr(source, "name", None),
        "index_is": described(source),
        "at": at,
        "value": int(index[tuple(at)]),
        "count": int(bad.sum()),
        "elements": index.numel(),
        "shape": list(index.shape),
        "low": int(index.min()),
        "high": int(index.max()),
    }


def described(node: Any) -> Document:
    """Say what a graph node is: a parameter by its name, an input, or computed."""
    if not hasattr(node, "op"):
        return {"kind": "value", "name": str(node)[:80]}
    if node.op == "get_attr":
        return {"kind": "parameter", "name": str(node.target)}
    if node.op == "placeholder":
        return {"kind": "input", "name": str(node.name)}
    return {"kind": "computed", "name": str(node.name), "op": str(node.target)}
