"""Make inputs that a package accepts, by what its source says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import describe, standalone
from .expression import evaluate
from .judge import Dim, Input
from .lazy import torch
from .wrapper_contract import contract_in

_FREE = 16  # size of a dimension that may have any


def inputs_for(package: str, model: str) -> standalone.Inputs:
    """Return tensors of the sizes, dtypes and devices that a model wants: random numbers, and
    zeros for integers, which are in every range.

    Raises:
        ValueError: the package does not say enough.
    """
    contract = contract_in(Path(package), model)
    if contract is None or not contract.inputs:
        raise ValueError("the package does not say what its inputs are: give --inputs FILE")
    torch.manual_seed(0)
    sizes: dict[str, int] = {}
    flat = [_tensor(one, sizes) for one in contract.inputs]
    return standalone.of_call(tuple(flat), {})


def _tensor(wanted: Input, sizes: dict[str, int]) -> Any:
    if wanted.dims is None or wanted.dtype is None:
        raise ValueError(f"the package does not say what {wanted.name} is: give --inputs FILE")
    shape = [_size(wanted, dim, sizes) for dim in wanted.dims]
    strides = [dim.stride for dim in wanted.dims]
    dtype, device = getattr(torch, wanted.dtype), wanted.device or "cpu"
    made = torch.zeros(shape, dtype=dtype, device=device)
    if dtype.is_floating_point and dtype.itemsize > 1:
        made = torch.randn(shape, device=device).to(dtype)
    known = [stride for stride in strides if stride is not None]
    if len(known) == len(shape) and tuple(known) != made.stride():
        made = describe.laid_out(made, known)
    return made


def _size(wanted: Input, dim: Dim, sizes: dict[str, int]) -> int:
    if dim.size is not None:
        return dim.size
    low, high = max(2, dim.low or 0), dim.high
    chosen = max(low, min(_FREE, high if high is not None else _FREE))
    if dim.symbol is None:
        return chosen
    if dim.symbol.isidentifier():
        return sizes.setdefault(dim.symbol, chosen)
    value = evaluate(dim.symbol, sizes)
    if value is None:
        raise ValueError(f"a size of {wanted.name} depends on others: give --inputs FILE")
    return value
