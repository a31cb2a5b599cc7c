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
    """Custom operators that write to an argument which their schema says they only read, and those
    that return the memory of an argument, or of an earlier result, as a new tensor."""

    def __init__(self) -> None:
        self.found: list[Document] = []
        self.aliases: list[Document] = []
        self._results: dict[int, tuple[Any, Any]] = {}  # by address: the node, its result
        self._before: list[tuple[int, Any, Any]] = []  # place, the tensor, a copy if it is read

    def before(self, node: Any, args: Any, kwargs: Any) -> None:
        self._before = []
        if node.op != "call_function" or not fakes.is_custom(node.target):
            return
        schema = getattr(node.target, "_schema", None)
        declared = list(schema.arguments) if schema is not None else []
        for place, one in enumerate(args[: len(declared)]):
            if isinstance(one, torch.Tensor):
                alias = declared[place].alias_info
                read = one.numel() <= _ELEMENTS and not (alias and alias.is_write)
                self._before.append((place, one, one.detach().clone() if read else None))

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        for place, given, before in self._before:
            now = given.detach()
            sized = before is not None and now.shape == before.shape
            if before is not None and not (sized and bool(marks.alike(now, before).all())):
                at = (~marks.alike(now, before)).nonzero()[0].tolist() if sized else []
                self.found.append({**_argument(node, place), "at": at})
                return
        if not self._before or any(one.alias_info for one in node.target._schema.returns):
            return
        results = [one.detach() for one in marks.tensors(value) if one.numel()]
        memory = {one.untyped_storage().data_ptr(): one for one in results}
        for place, given, _ in self._before:
            if given.untyped_storage().data_ptr() in memory:
                self.aliases.append({**_argument(node, place), "aliased": True})
                return
        for address, one in memory.items():
            earlier, _ = self._results.get(address, (None, None))
            if earlier is not None and earlier.target is node.target:
                found = {**located(node), "argument": "", "from": earlier.name}
                self.aliases.append({**found, "again": True})
            elif one.numel() <= _ELEMENTS // 16 and len(self._results) < _KEPT:
                self._results[address] = node, one  # as long as it lives the address is its own


def _argument(node: Any, place: int) -> Document:
    """Describe an argument of a custom operator's call."""
    given = node.args[place]
    source, constant = getattr(given, "name", ""), getattr(given, "op", "") == "get_attr"
    argument = node.target._schema.arguments[place].name
    held = {"constant": str(given.target)} if constant else {}
    return {**located(node), "argument": argument, "from": source, **held}


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
