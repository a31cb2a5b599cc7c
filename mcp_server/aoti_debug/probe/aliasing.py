"""Which inputs a model writes to, and which inputs of a call share memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_INPUTS = 512
_DEPTH = 1000  # views of views


def overlaps(torch: Any, flat: Sequence[Any]) -> dict[int, list[int]]:
    """Return, for each flat position whose memory another input's overlaps, those positions."""
    spans = []
    for position, leaf in enumerate(flat[:_INPUTS]):
        span = _span(torch, leaf)
        if span is not None:
            spans.append((*span, position))
    found: dict[int, list[int]] = {}
    reaching: list[tuple[Any, ...]] = []
    for device, begin, end, position in sorted(spans, key=lambda s: (s[0], s[1])):
        reaching = [other for other in reaching if other[0] == device and other[2] > begin]
        for other in reaching:
            found.setdefault(position, []).append(other[3])
            found.setdefault(other[3], []).append(position)
        reaching.append((device, begin, end, position))
    return {position: sorted(others) for position, others in found.items()}


def _span(torch: Any, leaf: Any) -> tuple[str, int, int] | None:
    """Return the first and the end address of a tensor's elements."""
    if type(leaf) not in (torch.Tensor, torch.nn.Parameter) or leaf.layout != torch.strided:
        return None
    if not leaf.numel() or leaf.device.type == "meta":
        return None
    extent = 1 + sum((n - 1) * s for n, s in zip(leaf.shape, leaf.stride()))  # noqa: B905
    begin = int(leaf.data_ptr())
    return str(leaf.device), begin, begin + extent * int(leaf.element_size())


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
    found = []
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
