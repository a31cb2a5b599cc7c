"""Read from an exported program what its inputs must be, and compare inputs with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import describe, sizes
from .lazy import torch
from .vocabulary import Break, Relation

Document = dict[str, Any]


class Expected:
    """One declared input; sizes and strides are numbers or symbolic."""

    def __init__(self, name: str, spec: Any, value: Any) -> None:
        self.name = name
        self.spec = spec
        self.value = value  # a fake tensor, or None for what is not a tensor
        self.shape = list(value.shape) if value is not None else []
        self.stride = list(value.stride()) if value is not None else []
        self.written = False


def declared(program: Any) -> list[Expected]:
    """Return the declared user inputs, one for each flat leaf."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    written = describe.written(program)
    found = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name != "USER_INPUT":
            continue
        name = getattr(spec.arg, "name", "") or ""
        node = nodes.get(name)
        value = node.meta.get("val") if node is not None else None
        strided = isinstance(value, torch.Tensor) and value.layout == torch.strided
        found.append(Expected(name, spec, value if strided else None))
        found[-1].written = name in written
    return found


def documents(expected: list[Expected]) -> list[Document]:
    """Return declared inputs as JSON can hold them."""
    found: list[Document] = []
    for item in expected:
        document: Document = {"name": item.name, "kind": type(item.spec.arg).__name__}
        if item.value is not None:
            document.update(
                shape=list(map(sizes.written, item.shape)),
                stride=list(map(sizes.written, item.stride)),
                dtype=str(item.value.dtype).replace("torch.", ""),
                device=str(item.value.device),
            )
            if item.written:
                document["written"] = True
        elif hasattr(item.spec.arg, "value"):
            document["value"] = repr(item.spec.arg.value)[:300]
        found.append(document)
    return found


def ranges(program: Any) -> dict[str, list[int | None]]:
    """Return the bounds of each symbol; None where there is none."""
    return {str(one): list(sizes.bounds(program, one)) for one in program.range_constraints}


def differences(program: Any, expected: list[Expected], flat: list[Any]) -> list[Break]:
    """Compare inputs with what is declared: count, type, dtype, device, rank, sizes, strides."""
    found: list[Break] = []
    if len(expected) != len(flat):
        declared = [item for item in expected if item.value is not None]
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        if len(declared) == len(tensors):  # the runtime drops all else
            expected, flat = declared, tensors
        else:
            found.append(_break("count", len(expected), len(flat)))
    symbols: dict[Any, int] = {}
    shared = describe.overlaps(flat)
    index = 0
    for position, (item, leaf) in enumerate(zip(expected, flat)):
        is_tensor = isinstance(leaf, torch.Tensor)
        differences = _compare(program, item, leaf, symbols)
        if is_tensor and item.written:
            others = [expected[p].name for p in shared.get(position, ()) if p < len(expected)]
            written = [replace(one, written=True) for one in differences]
            differences = [*_aliased(leaf, others), *written]
        where: Document = {"index": index} if is_tensor else {"position": position}
        found += [replace(one, name=item.name, **where) for one in differences]
        index += is_tensor
    return found


def _aliased(leaf: Any, others: list[str]) -> list[Break]:
    """Say where an input that the model writes to shares memory, with others or within itself."""
    if others:
        return [_break("aliasing", "memory of its own", f"shared with {', '.join(others)}")]
    for dim, (size, stride) in enumerate(zip(leaf.shape, leaf.stride())):
        if size > 1 and stride == 0 and leaf.numel():
            return [_break("aliasing", "memory of its own", "expanded (stride 0)", dim)]
    return []


def _compare(program: Any, item: Expected, leaf: Any, symbols: dict[Any, int]) -> list[Break]:
    if item.value is None:
        return _compare_constant(item, leaf)
    if not isinstance(leaf, torch.Tensor):
        return [_break("type", "tensor", type(leaf).__name__)]
    found = []
    if leaf.dtype != item.value.dtype:
        expected, got = str(item.value.dtype), str(leaf.dtype)
        found.append(_break("dtype", expected.replace("torch.", ""), got.replace("torch.", "")))
    if leaf.device.type != item.value.device.type:
        found.append(_break("device", item.value.device, leaf.device))
    if leaf.dim() != len(item.shape):
        return [*found, _break("rank", len(item.shape), leaf.dim())]
    for dim, size in enumerate(leaf.shape):
        found += _compare_size(program, item.shape[dim], dim, size, symbols)
    for dim, stride in enumerate(leaf.stride()):
        wanted = sizes.number(item.stride[dim], symbols)
        if wanted is not None and wanted != stride and leaf.shape[dim] > 1:
            found.append(_break("stride", wanted, stride, dim))
    return found


def _compare_constant(item: Expected, leaf: Any) -> list[Break]:
    if not hasattr(item.spec.arg, "value"):
        return []
    wanted = item.spec.arg.value
    same = type(wanted) is type(leaf) and wanted == leaf
    return [] if same else [_break("value", repr(wanted)[:200], repr(leaf)[:200])]


def _compare_size(
    program: Any, declared_size: Any, dim: int, size: int, symbols: dict[Any, int]
) -> list[Break]:
    declared = sizes.expression(declared_size)
    is_symbol = sizes.is_symbol(declared_size)
    if is_symbol and declared not in symbols:
        symbols[declared] = size
        low, high = sizes.bounds(program, declared)
        if low is not None and size < low:
            return [_break("size", f">= {low}", size, dim, "min", low)]
        if high is not None and size > high:
            return [_break("size", f"<= {high}", size, dim, "max", high)]
        return []
    wanted = sizes.number(declared_size, symbols)
    if wanted is None or wanted == size:
        return []
    reason = "" if declared is None else f" ({declared})"
    if is_symbol:
        reason = f" ({declared}, as another dimension says)"
    return [_break("size", f"{wanted}{reason}", size, dim)]


def _break(
    property: str,
    expected: Any,
    got: Any,
    dim: int | None = None,
    relation: Relation = "equal",
    bound: int | None = None,
) -> Break:
    wanted, given = str(expected), str(got)
    return Break(
        property=property, expected=wanted, got=given, dim=dim, relation=relation, bound=bound
    )
