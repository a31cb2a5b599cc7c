"""Write a contract for people (a table) and for serving code (a function in plain torch)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aoti_debug.package.contract import Contract
from aoti_debug.package.expression import evaluate
from aoti_debug.package.record import Dim, Input

_TORCH_DTYPES = frozenset(
    (
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "complex32",
        "complex64",
        "complex128",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
    )
)

_SYMBOL = re.compile(r"\b[a-z]+\d+\b")


def one_line(one: Input) -> str:
    """Return an input as a person would write it: `float32[s0 in 2..64, 10] on cpu, strides …`."""
    dtype = one.dtype or "tensor"
    if one.dims is None:
        return f"{dtype}, sizes not stated"
    text = f"{dtype}[{', '.join(map(_size, one.dims))}]"
    if one.device:
        text += f" on {one.device}"
    if one.dims:
        text += f", strides ({', '.join(map(_stride, one.dims))})"
    if one.aligned:
        text += f", aligned to {one.aligned} bytes"
    return text


def _size(dim: Dim) -> str:
    if dim.size is not None:
        return str(dim.size)
    name = dim.symbol.replace("L", "") if dim.symbol else "any"
    if dim.low is None and dim.high is None:
        return name
    bounds = f"{'' if dim.low is None else dim.low}..{'' if dim.high is None else dim.high}"
    return f"{name} in {bounds}" if dim.symbol else bounds


def _stride(dim: Dim) -> str:
    if dim.stride is not None:
        return str(dim.stride)
    return dim.stride_symbol.replace("L", "") if dim.stride_symbol else "any"


def table(contract: Contract) -> str:
    """Return the contract as a Markdown table."""
    rows = ["| input | name | dtype | sizes | strides | device |", "|---|---|---|---|---|---|"]
    for one in contract.inputs:
        sizes = ", ".join(map(_size, one.dims)) if one.dims is not None else "not stated"
        strides = ", ".join(map(_stride, one.dims)) if one.dims is not None else "not stated"
        cells = (str(one.index), one.name, one.dtype or "not stated", f"[{sizes}]", f"[{strides}]",
                 one.device or "not stated")  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    if contract.others:
        rows.append(f"\n{contract.others} further argument(s) are no tensors: the values used at "
                    "export are compiled in, and others are ignored.")  # fmt: skip
    return "\n".join(rows)


_HEAD = """\
import torch
from torch.utils import _pytree

# (name, dtype, device type, sizes, strides); a pair is a range, None is not checked
_INPUTS = [
"""
_BODY = '''

def check_inputs(*args, **kwargs):
    """Raise ValueError where a call breaks what the model was compiled for."""
    tensors = [x for x in _pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    if len(tensors) != len(_INPUTS):
        raise ValueError(f"expected {len(_INPUTS)} tensors, got {len(tensors)}")
    for index, (x, expected) in enumerate(zip(tensors, _INPUTS)):
        name, dtype, device, sizes, strides = expected
        where = f"input {index} ({name})"
        if dtype is not None and x.dtype != dtype:
            raise ValueError(f"{where}: dtype is {x.dtype}, expected {dtype}")
        if device is not None and x.device.type != device:
            raise ValueError(f"{where}: device is {x.device}, expected {device}")
        if sizes is None:
            continue
        if x.dim() != len(sizes):
            raise ValueError(f"{where}: {x.dim()} dimensions, expected {len(sizes)}")
        for dim, size in enumerate(sizes):
            low, high = size if isinstance(size, tuple) else (size, size)
            if (low is not None and x.size(dim) < low) or (high is not None and x.size(dim) > high):
                raise ValueError(f"{where}: size {x.size(dim)} at dim {dim}, expected {size}")
        if strides == "contiguous":
            if not x.is_contiguous():
                raise ValueError(f"{where}: not contiguous, strides are {x.stride()}")
            continue
        for dim, stride in enumerate(strides):
            if stride is not None and x.size(dim) > 1 and x.numel() and x.stride(dim) != stride:
                raise ValueError(f"{where}: stride {x.stride(dim)} at dim {dim}, expected {stride}")
    for places in _EQUAL:
        found = {tensors[index].size(dim) for index, dim in places}
        if len(found) > 1:
            raise ValueError(f"sizes that must be equal differ: {sorted(found)} at {places}")
    devices = {x.device for x in tensors}
    if len(devices) > 1 and len({d.type for d in devices}) == 1:
        raise ValueError(f"inputs lie on different devices: {sorted(map(str, devices))}")
'''


def write_check_inputs(contract: Contract) -> str:
    """Return the source of a `check_inputs(*args, **kwargs)` for serving code: plain torch.

    It allows a size of 1 where the bound of 2 only comes from the specialisation at export.
    """
    rows = "".join(f"    {_row(one)},\n" for one in contract.inputs)
    equal = "".join(f"    {places},\n" for places in _equal(contract))
    groups = f"[\n{equal}]" if equal else "[]"
    return (
        f"{_HEAD}{rows}]\n# places (input, dim) whose sizes must be equal\n_EQUAL = {groups}\n"
        f"{_BODY}"
    )


def _row(one: Input) -> str:
    dtype = f"torch.{one.dtype}" if one.dtype in _TORCH_DTYPES else "None"
    device = repr(one.device) if one.device and one.device.isidentifier() else "None"
    sizes = None if one.dims is None else [_range(dim) for dim in one.dims]
    strides: object = None if one.dims is None else [dim.stride for dim in one.dims]
    if one.dims and _contiguous(one.dims):
        strides = "contiguous"
    return f"({one.name!r}, {dtype}, {device}, {sizes}, {strides!r})"


def _contiguous(dims: Sequence[Dim]) -> bool:
    """Tell whether the strides, dynamic ones too, are those of a contiguous tensor: numbers are
    put for the symbols."""
    names = sorted({n for d in dims for n in _SYMBOL.findall(f"{d.symbol} {d.stride_symbol}")})
    known = {name: 101 + 2 * place for place, name in enumerate(names)}
    step = 1
    for number, dim in reversed(list(enumerate(dims))):
        stride = dim.stride if dim.stride is not None else evaluate(dim.stride_symbol or "?", known)
        size = dim.size if dim.size is not None else evaluate(dim.symbol or "?", known)
        if stride != step and dim.size != 1:
            return False
        if size is None and number > 0:
            return False
        step *= max(size or 1, 1)
    return True


def _range(dim: Dim) -> int | tuple[int | None, int | None]:
    if dim.size is not None:
        return dim.size
    return (1 if dim.low == 2 else dim.low, dim.high)


def _equal(contract: Contract) -> list[list[tuple[int, int]]]:
    places: dict[str, list[tuple[int, int]]] = {}
    for one in contract.inputs:
        for number, dim in enumerate(one.dims or ()):
            if dim.symbol is not None:
                places.setdefault(dim.symbol, []).append((one.index, number))
    return [group for group in places.values() if len(group) > 1]
