"""Integers that pass 32 bits: Inductor computes indices, and what comes of them, in 32 bits, and
does not wrap what eager wraps."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .describe import dtype_of
from .graph_run import Document, Observer, located, reached
from .lazy import torch

_WIDE = 1 << 31


class Origins(Observer):
    """Nodes whose exact result passes 32 bits although none of their inputs does."""

    def __init__(self) -> None:
        self.found: dict[Any, Document] = {}
        self._passing: set[Any] = set()

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        if isinstance(value, int) and abs(value) >= _WIDE:
            self._passing.add(node)
        kinds = (torch.int64, torch.int32)
        if getattr(value, "dtype", None) not in kinds:
            return
        places = _passing(value)
        if len(places):
            self._passing.add(node)
        if node.op == "call_function" and self._passing.isdisjoint(node.all_input_nodes):
            dtype = dtype_of(value)
            if dtype == "int32":  # eager wraps
                value = _exact(node, args, kwargs)
                places = _passing(value)
            if len(places):
                at = places[0].tolist()
                exact = int(value[tuple(at)])
                wrapped = (exact + _WIDE) % (2 * _WIDE) - _WIDE
                what = {**located(node), "node": node.name, "at": at, "dtype": dtype}
                self.found[node] = {**what, "exact": exact, "wrapped": wrapped}

    def behind(self, name: str, known: Collection[str]) -> Document | None:
        """Return the nearest origin of those that a value is computed from, up to known values."""
        graphs = {node.graph for node in self.found}
        begin = [node for graph in graphs for node in graph.nodes if node.name == name]
        own = reached(
            begin, lambda node: [one for one in node.all_input_nodes if one.name not in known]
        )
        return next((self.found[node] for node in own if node in self.found), None)

    def wrapped_behind(self, name: str) -> Document | None:
        """Return the nearest origin that wraps in eager as well."""
        found = self.behind(name, ())
        return found if found is not None and found["dtype"] == "int32" else None


def _passing(value: Any) -> Any:
    return (value.to(torch.float64).abs() >= _WIDE).nonzero()  # abs of the least overflows


def in_64_bits(node: Any, args: Any, kwargs: Any) -> Any:
    """Return what an operator gives in 64 bits."""
    return node.target(*torch.fx.node.map_aggregate(args, _in_64_bits), **kwargs)


def _exact(node: Any, args: Any, kwargs: Any) -> Any:
    """Return that, or nothing for an operator that takes none."""
    try:
        return in_64_bits(node, args, kwargs)
    except Exception:
        return torch.zeros(0, dtype=torch.int64)


def _in_64_bits(value: Any) -> Any:
    return value.to(torch.int64) if getattr(value, "dtype", 0) == torch.int32 else value
