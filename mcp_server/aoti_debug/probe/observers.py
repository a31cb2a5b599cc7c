"""What a run of an exported graph is watched for."""

from __future__ import annotations

from itertools import islice
from typing import Any

from . import custom_ops, fakes, indices, marks, sizes, standalone
from .describe import dtype_of
from .graph_run import Document, Observer, located, op_of, reached, stack_of
from .lazy import torch
from .vocabulary import OutOfBounds

_KEPT = 20
_ROWS = 20_000
_CHAIN = 24
_ELEMENTS = 16 * 1024 * 1024


class CustomArguments(Observer):
    """The arguments of each custom operator, of as many runs as it watches."""

    def __init__(self) -> None:
        self.given: dict[Any, list[tuple[Any, Any]]] = {}

    def before(self, node: Any, args: Any, kwargs: Any) -> None:
        if node.op == "call_function" and fakes.is_custom(node.target):
            self.given.setdefault(node, []).append((args, kwargs))


class IndexCheck(Observer):
    """The first index that is out of bounds; it ends the run before the operator uses it."""

    def __init__(self) -> None:
        self.found: OutOfBounds | None = None
        self.chain: list[Document] = []  # integer nodes behind the index, nearest first
        self._inputs: list[tuple[Any, Any]] = []
        self._integers: set[str] = set()

    def before(self, node: Any, args: Any, kwargs: Any) -> None:
        if node.op != "call_function":
            return
        found = indices.outside(node, args, kwargs, self._inputs)
        if found is not None:
            self.found = found
            self.chain = self._behind(node, found)
            raise IndexError(str(found))

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        if node.op == "placeholder":
            self._inputs.append((node, value))
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole or (isinstance(value, torch.Tensor) and not value.is_floating_point()):
            self._integers.add(node.name)

    def _behind(self, node: Any, found: OutOfBounds) -> list[Document]:
        source = found.source.node if found.source is not None else None

        def integers(nodes: list[Any]) -> list[Any]:
            return [one for one in nodes if one.name in self._integers]

        begin = integers([one for one in node.graph.nodes if one.name == source])
        nodes = reached(begin, lambda one: integers(one.all_input_nodes))
        return [
            {"node": one.name, "op": op_of(one), "kind": one.op} for one in islice(nodes, _CHAIN)
        ]


class Promises(Observer):
    """Results of custom operators that are not what their fake kernels promise."""

    def __init__(self) -> None:
        self.operators: list[str] = []
        self.mismatches: list[Document] = []  # one of a kind, with their `count`
        self._symbols: dict[Any, int] = {}
        self._known: dict[Any, Document] = {}

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        symbols = self._symbols
        if node.op == "placeholder":
            sizes.learn(node.meta.get("val"), value, symbols)
        if node.op != "call_function" or not fakes.is_custom(node.target):
            return
        name = str(node.target)
        if name not in self.operators and len(self.operators) < _KEPT:
            self.operators.append(name)
        for one in fakes.differences(node, (args, kwargs), value, symbols):
            known = self._known.setdefault((one["op"], one["output"], one["property"]), one)
            if known is one and len(self.mismatches) < _KEPT:
                one["places"] = custom_ops.places(node.target)
                self.mismatches.append(one)
            known["count"] = known.get("count", 0) + 1


class Writes(Observer):
    """Custom operators that write to an argument which their schema says they only read."""

    def __init__(self) -> None:
        self.found: list[Document] = []
        self._before: list[tuple[int, Any]] = []

    def before(self, node: Any, args: Any, kwargs: Any) -> None:
        self._before = []
        if node.op != "call_function" or not fakes.is_custom(node.target):
            return
        schema = getattr(node.target, "_schema", None)
        declared = list(schema.arguments) if schema is not None else []
        self._before = [
            (place, one.detach().clone())
            for place, one in enumerate(args[: len(declared)])
            if isinstance(one, torch.Tensor)
            and one.numel() <= _ELEMENTS
            and not (declared[place].alias_info and declared[place].alias_info.is_write)
        ]

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        for place, before in self._before:
            now = args[place].detach()
            sized = now.shape == before.shape
            if not sized or not bool(marks.alike(now, before).all()):
                at = (~marks.alike(now, before)).nonzero()[0].tolist() if sized else []
                argument = node.target._schema.arguments[place].name
                source = getattr(node.args[place], "name", "")
                wrote = {**located(node), "argument": argument, "from": source, "at": at}
                self.found.append(wrote)
                return


class Values(Observer):
    """Minimum, maximum, mean, NaN and Inf of each float tensor that is computed."""

    def __init__(self) -> None:
        self.rows: list[Document] = []
        self.nan: set[str] = set()
        self.inf: set[str] = set()

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        for place, tensor in enumerate(marks.tensors(value)):
            row = row_of(node, tensor, place)
            if row is None:
                continue
            for kind, names in (("nan", self.nan), ("inf", self.inf)):
                if row.get(kind):
                    names.add(node.name)
            if node.op == "call_function" and len(self.rows) < _ROWS:
                self.rows.append(row)


def row_of(node: Any, tensor: Any, place: int) -> Document | None:
    """Return min, max, mean, NaN and Inf of a float tensor; None of any other."""
    if not tensor.is_floating_point() or tensor.numel() == 0 or tensor.layout != torch.strided:
        return None
    row: Document = {
        "node": node.name,
        "op": op_of(node),
        "shape": [int(size) for size in tensor.shape],
        "dtype": dtype_of(tensor),
        **standalone.statistics(tensor.detach()),
    }
    if place:
        row["output"] = place
    frames = stack_of(node)
    if frames:
        row["line"] = f"{frames[-1][0]}:{frames[-1][1]}"
    return row
