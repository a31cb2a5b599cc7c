"""The exported program as the minifier sees it: nodes as text, and the values they gave."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from aoti_debug.read.typed import take
from aoti_debug.vocabulary import Place

Side = Literal["example", "real"]
Tree = Any  # JSON: {"ref": node}, {"text": Python}, {"list": [...]} or {"tuple": [...]}
Size = int | tuple[str, int | None]  # fixed, or a symbol's expression and its example
WEIGHTS = ("PARAMETER", "BUFFER", "CONSTANT_TENSOR")


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One line of the program. `unsupported` says why it cannot be written as Python."""

    name: str
    op: str
    target: str = ""
    args: tuple[Tree, ...] = ()
    kwargs: Mapping[str, Tree] = field(default_factory=dict)
    source: Place | None = None
    kind: str = ""  # of a placeholder: USER_INPUT, PARAMETER, ...
    is_tensor: bool = False
    is_number: bool = False
    several: tuple[bool, ...] = ()  # of several results, which are tensors
    shape: tuple[Size, ...] = ()
    size: Size | None = None  # of a number
    unsupported: str = ""

    @property
    def is_call(self) -> bool:
        return self.op == "call_function"

    @property
    def is_light(self) -> bool:
        """Tell whether the node only takes apart, measures or asserts; it goes with others."""
        computes = self.is_tensor or self.several
        return self.is_number or self.target == "operator.getitem" or not computes

    def refs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(refs([*self.args, *self.kwargs.values()])))

    @property
    def operator(self) -> str:
        """Return the operator's name without its library and overload: `add` of aten.add.Tensor."""
        parts = self.target.split(".")
        return parts[3] if self.target.startswith("torch.ops.") and len(parts) > 3 else parts[-1]


@dataclass(frozen=True, slots=True)
class OperatorFile:
    """A file that registers operators: these statements, all up to a model's use, or why not."""

    file: str | None
    module: str | None
    source: str | None
    wider: str | None
    why_not: str | None


@dataclass(frozen=True, slots=True)
class NodeValue:
    """What one node gave in an eager run; a tensor lies in a file of that name."""

    name: str
    number: float | int | bool | None = None
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] | None = None
    contiguous: bool = True
    dtype: str = ""
    device: str = "cpu"
    floating: bool = False
    text: str | None = None  # the elements of a small one, as Python

    @property
    def is_tensor(self) -> bool:
        return self.number is None

    def like(self, other: NodeValue) -> bool:
        mine = (self.shape, self.stride, self.dtype, self.device)
        return mine == (other.shape, other.stride, other.dtype, other.device)


@dataclass(frozen=True, slots=True)
class NodeValues:
    """What an eager run of one side gave; `at` is the node that it did not get past."""

    side: Side
    by_name: Mapping[str, NodeValue]
    at: str | None


@dataclass(frozen=True)
class Graph:
    torch: str
    nodes: tuple[GraphNode, ...]
    symbols: Mapping[str, tuple[int | None, int | None]]
    operators: tuple[OperatorFile, ...] = ()
    # By operator: its schemas, and what has a kernel.
    registered: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def index(self) -> Mapping[str, int]:
        return {node.name: number for number, node in enumerate(self.nodes)}

    def __getitem__(self, name: str) -> GraphNode:
        return self.nodes[self.index[name]]

    def calls(self) -> list[int]:
        return [n for n, node in enumerate(self.nodes) if node.is_call and not node.is_light]

    @cached_property
    def users(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for node in self.nodes:
            for name in node.refs():
                found.setdefault(name, []).append(node.name)
        return found


@dataclass(frozen=True, slots=True)
class Survey:
    """The program and its nodes' values, written by the probe; `real` is None without inputs."""

    graph: Graph
    example: NodeValues
    real: NodeValues | None
    weights: NodeValues
    values: Path


def refs(tree: Tree) -> Iterator[str]:
    """Yield the nodes that arguments name."""
    if isinstance(tree, dict):
        if "ref" in tree:
            yield tree["ref"]
        tree = tree.get("list") or tree.get("tuple") or []
    for item in tree if isinstance(tree, list) else ():
        yield from refs(item)


def read_graph(path: Path) -> Graph:
    """Read what the survey wrote; raise OSError or ValueError where it is missing or incomplete."""
    document = json.loads(path.read_bytes())
    return Graph(
        torch=str(document["torch"]),
        nodes=tuple(_node(entry) for entry in document["nodes"]),
        symbols={name: (low, high) for name, (low, high) in document["symbols"].items()},
        operators=tuple(take(OperatorFile, one) for one in document["operators"]),
        registered=document["registered"],
    )


def _node(entry: Mapping[str, Any]) -> GraphNode:
    value = entry.get("value") or {}
    kind = value.get("kind")
    return take(
        GraphNode,
        entry,
        is_tensor=kind == "tensor",
        is_number=kind == "number",
        several=tuple(bool(item and item["kind"] == "tensor") for item in value.get("items") or ()),
        shape=tuple(_size(size) for size in value.get("shape") or ()),
        size=_size(value["size"]) if kind == "number" else None,
    )


def _size(size: Any) -> Size:
    return (str(size[0]), size[1]) if isinstance(size, list) else size


def read_values(folder: Path, side: Side) -> NodeValues:
    """Read what an eager run left; whole lines only, for the run may have ended in one."""
    entries = map(json.loads, _lines(folder / "values.jsonl"))
    found = {entry["name"]: take(NodeValue, entry) for entry in entries}
    begun = _lines(folder / "progress")
    at = begun[-1] if begun and not (folder / "done").exists() else None
    return NodeValues(side, found, at)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").rpartition("\n")[0].splitlines()
    except OSError:
        return []
