"""Which inputs a model writes to, and which inputs of a call share memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

_INPUTS = 512
_DEPTH = 1000  # views of views


def overlaps(torch: Any, flat: Sequence[Any]) -> dict[int, list[int]]:
    """Return, for each flat position whose memory another input's overlaps, those positions.

    Never claims an overlap that is none: of two interleaved views nothing is said.
    """
    found: dict[int, list[int]] = {}
    reaching: list[_Span] = []
    spans = [span for p, leaf in enumerate(flat[:_INPUTS]) if (span := _span(torch, leaf, p))]
    for span in sorted(spans, key=lambda s: (s.device, s.begin)):
        reaching = [r for r in reaching if r.device == span.device and r.end > span.begin]
        for other in reaching:
            if other.dense or other.begin == span.begin or (span.dense and other.end <= span.end):
                found.setdefault(span.position, []).append(other.position)
                found.setdefault(other.position, []).append(span.position)
        reaching.append(span)
    return {position: sorted(others) for position, others in found.items()}


class _Span(NamedTuple):
    """The addresses from a tensor's first element to its last; `dense`: all are its own."""

    device: str
    begin: int
    end: int
    dense: bool
    position: int


def _span(torch: Any, leaf: Any, position: int) -> _Span | None:
    if type(leaf) not in (torch.Tensor, torch.nn.Parameter) or leaf.layout != torch.strided:
        return None
    if not leaf.numel() or leaf.device.type == "meta":
        return None
    sizes = [(n, s) for n, s in zip(leaf.shape, leaf.stride()) if n > 1]  # noqa: B905
    extent = 1 + sum((n - 1) * s for n, s in sizes)
    begin, item = int(leaf.data_ptr()), int(leaf.element_size())
    dense = extent == leaf.numel() and all(s for _, s in sizes)
    return _Span(str(leaf.device), begin, begin + extent * item, dense, position)


def written(program: Any) -> set[str]:
    """Return the names of the inputs that an exported program writes to: as its signature says
    once it is functional, before that by its in-place operators."""
    signature = program.graph_signature
    found = {str(name) for name in dict(signature.user_inputs_to_mutate).values()}
    inputs = set(signature.user_inputs)
    for node in program.graph.nodes:
        for argument in _written_arguments(node):
            root = _root(argument)
            if root is not None and root.name in inputs:
                found.add(root.name)
    return found


def _written_arguments(node: Any) -> list[Any]:
    """Return the nodes whose memory an operator changes, by its schema."""
    schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
    found: list[Any] = []
    for place, argument in enumerate(schema.arguments if schema is not None else ()):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = node.args[place] if place < len(node.args) else node.kwargs.get(argument.name)
            found += given if isinstance(given, (list, tuple)) else [given]
    return [node for node in found if hasattr(node, "op")]


def _root(node: Any) -> Any:
    """Follow views, and the results of in-place operators, to the input that they show."""
    for _ in range(_DEPTH):
        if node.op == "placeholder":
            return node
        schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
        if schema is None or not schema.arguments or schema.arguments[0].alias_info is None:
            return None
        if not node.args or not hasattr(node.args[0], "op"):
            return None
        node = node.args[0]
    return None
