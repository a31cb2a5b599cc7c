"""Check the indices of an operator before it runs: eager raises, and on a GPU the context dies."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]

# op -> (position of the tensor selected from, of the dimension or None, of the index, wraps)
_ALONG = {
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
_LISTS = ("aten.index", "aten.index_put", "aten.index_put_", "aten._unsafe_index")


def check(torch: Any, node: Any, args: Any, kwargs: Any) -> Document | None:
    """Return which element of which index of a node is out of bounds; None if none is."""
    op = str(node.target).rpartition(".")[0]
    if op in _ALONG and len(args) > _ALONG[op][2]:
        table, dim, index, wraps = _ALONG[op]
        at = args[dim] if dim is not None else 0
        return _one(torch, node, args, (table, at, index), node.args[index], args[index], wraps)
    if op in _LISTS and len(args) > 1 and isinstance(args[1], (list, tuple)):
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
