"""Hold calls of which only a description was recorded against an exported program: what it
declares, its guards, and the bounds of its indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from . import expectations, graph_run, indices
from .lazy import torch
from .vocabulary import Element, OutOfBounds, Size

Document = dict[str, Any]
_ANCESTORS = 200
_KNOWN = ("size", "count", "type", "value")  # the rest is for the compiled package to say


class Unknown(Exception):
    """A description does not say enough; the message says what is missing."""


class Program:
    """An exported program, and what its recorded calls are held against."""

    def __init__(self, program: Any, module: Any) -> None:
        self.program = program
        self.expected = expectations.declared(program)
        names = [one.name for one in self.expected]
        nodes = list(program.graph.nodes)
        self.places = {n: names.index(n.name) for n in nodes if n.name in names}
        self.indexing = [node for node in nodes if indices.is_indexing(node)]
        targets = {s.arg.name: s.target for s in program.graph_signature.input_specs if s.target}
        held = {**program.constants, **program.state_dict}
        self.constants = {name: held[key] for name, key in targets.items() if key in held}
        self.guard, self.guarded = _guard(module)

    def hold(self, call: Mapping[str, Any]) -> Document:
        """Return what a call breaks: declared sizes and values, guards, bounds of indices."""
        described = call["inputs"]
        try:
            leaves = [_stand_in(one) for one in described]
        except Unknown as error:
            return {"state": "unknown", "why": str(error)}
        different = expectations.differences(self.program, self.expected, leaves)
        found: Document = {
            "state": "held",
            "differences": [one for one in different if one.property in _KNOWN],
        }
        if len(leaves) != len(self.expected):
            return found
        found["broken"] = self.broken(leaves)
        for node in self.indexing:
            outside = self.outside(node, leaves, described)
            if outside is not None:
                return {**found, "index": outside, "node": graph_run.about(node)}
        return found

    def broken(self, leaves: Sequence[Any]) -> list[str]:
        texts: list[str] = []
        if self.guard is not None and len(self.guarded) <= len(leaves):
            with graph_run.collecting(texts):
                self.guard(*[leaves[place] for place in self.guarded])
        return texts

    def outside(self, node: Any, leaves: Sequence[Any], described: Any) -> OutOfBounds | None:
        """Return the index of an operator that is out of bounds, as far as sizes and extremes
        tell it."""
        table = getattr(node.args[0], "meta", {}).get("val") if node.args else None
        if not isinstance(table, torch.Tensor) or any(type(n) is not int for n in table.shape):
            return None
        known = {node.args[0]: torch.empty(tuple(table.shape), device="meta")}
        roots: dict[Any, Any] = {}
        for place in node.all_input_nodes:
            root = indices.root(place, whole=True)
            if place in known:
                continue
            if root in self.places:
                given = described[self.places[root]]
                ends = given.get("min"), given.get("max")
                if None not in ends:
                    known[place] = torch.tensor([int(end) for end in ends])
                    roots[place] = root, given
            else:
                known[place] = self.of_sizes(place, leaves)
        args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), known.get)
        found = indices.outside(node, args, kwargs, [])
        if found is None:
            return None
        place = next((p for p in roots if found.value in known[p].tolist()), None)
        if place is None:
            return replace(found, size=self.size(node, leaves))
        root, given = roots[place]
        at = tuple(given.get("min_at" if found.value == given["min"] else "max_at") or ())
        return replace(found, count=1, at=at, input=Element(given["index"], root.name, at))

    def of_sizes(self, place: Any, leaves: Sequence[Any]) -> Any:
        """Return the value of a node that follows from sizes and constants; None of any other."""
        data, sizes = indices.ancestors(place)
        if not sizes or data - set(self.constants) or len(data) + len(sizes) > _ANCESTORS:
            return None
        known: dict[Any, Any] = {node: leaves[at] for node, at in self.places.items()}
        left = [_ANCESTORS]

        def value(node: Any) -> Any:
            if node not in known:
                left[0] -= 1
                if node.op == "placeholder":
                    known[node] = self.constants[node.name]
                elif node.op != "call_function" or left[0] < 0:
                    raise Unknown(node.name)
                else:
                    given = node.args, dict(node.kwargs)
                    args, kwargs = torch.fx.node.map_arg(given, value)
                    known[node] = node.target(*args, **kwargs)
            return known[node]

        try:
            with torch.no_grad():
                return value(place)
        except Exception:  # not of sizes alone, or another device's
            return None

    def size(self, node: Any, leaves: Sequence[Any]) -> Size | None:
        """Name a size of an input that an operator's indices follow from."""
        tensors = [at for at, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        for place in node.all_input_nodes[1:]:
            for name, dims in indices.ancestors(place)[1].items():
                at = next((p for n, p in self.places.items() if n.name == name), None)
                if at in tensors:
                    size = int(leaves[at].shape[dims[0]])
                    return Size(tensors.index(at), name, dims[0], size)
        return None


def _guard(module: Any) -> tuple[Any, list[int]]:
    """Return the function that checks the guards, and which inputs it takes; releases before 2.9
    have none."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node in module.graph.nodes:
        plain = all(argument in inputs for argument in node.args) and not node.kwargs
        if node.op == "call_module" and node.target == "_guards_fn" and plain:
            return module._guards_fn, [inputs.index(argument) for argument in node.args]
    return None, []


def _stand_in(described: Mapping[str, Any]) -> Any:
    """Return a tensor without memory, or the value, that a description tells of."""
    kind = described["kind"]
    if kind == "none":
        return None
    if kind in ("bool", "int", "float", "str"):
        return described["value"]
    dtype = getattr(torch, described.get("dtype") or "", None)
    shape, stride = described.get("shape"), described.get("stride")
    if kind != "tensor" or dtype is None or shape is None or stride is None:
        raise Unknown(f"{described.get('name') or 'an argument'} is no plain tensor")
    return torch.empty_strided(tuple(shape), tuple(stride), dtype=dtype, device="meta")
