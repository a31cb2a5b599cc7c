"""Hold a call against what a compiled model states of its inputs.

The probe judges every call with it, the server what the probe recorded; `check_inputs` functions
are this file, the evaluation of expressions and a contract. Standard library alone, Python 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .expression import evaluate
from .vocabulary import Break, Confidence, Leaf


@dataclass(frozen=True)
class Dim:
    """One dimension of an input. `size` is None when it is dynamic; then `low` and `high` bound
    it (None: no bound), and `symbol` is its expression in the wrapper's symbols."""

    size: int | None = None
    low: int | None = None
    high: int | None = None
    symbol: str | None = None
    stride: int | None = None  # None: dynamic, see `stride_symbol`
    stride_symbol: str | None = None


@dataclass(frozen=True)
class Input:
    """A tensor that the model takes; `index` counts tensors only, as the runtime does."""

    index: int
    name: str
    dtype: str | None = None
    device: str | None = None
    dims: tuple[Dim, ...] | None = None  # None: the wrapper does not say
    aligned: int | None = None  # bytes; else the input is copied at run time
    written: bool = False  # a C++ kernel writes to it; kernels of a GPU do not tell


@dataclass(frozen=True)
class Symbol:
    """How the wrapper derives a size symbol: `s0 = arg0_1_size[0]`."""

    name: str
    expression: str


@dataclass(frozen=True)
class Contract:
    """What a call must satisfy: the inputs, and how the wrapper derives its size symbols."""

    inputs: tuple[Input, ...]
    symbols: tuple[Symbol, ...] = ()
    arguments: int | None = None  # of a call, tensors or not
    stated: bool = True  # False: the package does not say (torch 2.6 without debug compile)

    @property
    def others(self) -> int | None:
        """Return how many arguments are no tensors: their values were fixed at export."""
        return None if self.arguments is None else max(0, self.arguments - len(self.inputs))


def breaks(
    contract: Contract, inputs: Sequence[Leaf], device_index: int | None = None
) -> list[Break]:
    """Return all that is wrong with a call, described by one leaf an argument.

    `device_index` is the one that the package was loaded with, if it was named. What is harmless
    comes last. Facts that a description lacks are not judged.
    """
    tensors = {leaf.index: leaf for leaf in inputs if leaf.index is not None}
    found = list(_count(contract, inputs, tensors))
    symbols = _bind(contract, tensors)
    for expected in contract.inputs:
        given = tensors.get(expected.index)
        if given is not None:
            found += _one(expected, given, symbols)
    found += _several_devices(contract, tensors, device_index)
    return sorted(found, key=lambda b: b.harmless)


def _count(
    contract: Contract, inputs: Sequence[Leaf], tensors: Mapping[int, Leaf]
) -> Iterator[Break]:
    if len(tensors) != len(contract.inputs):
        expected, got = f"{len(contract.inputs)} tensors", f"{len(tensors)} tensors"
        odd = next((leaf for leaf in inputs if leaf.index is None), None)
        # No quotes in a field: unparsed by Python 3.12, only that release could read the string.
        where = f"; argument {odd.position} is {odd.kind}" if odd else ""
        first = min(len(tensors), len(contract.inputs))
        reason = "the runtime takes tensors only and drops every other argument before it counts"
        yield Break(first, None, "count", expected, got + where, reason)


def _several_devices(
    contract: Contract, tensors: Mapping[int, Leaf], device_index: int | None
) -> Iterator[Break]:
    """A package runs on one device, and nothing compares the inputs' device numbers."""
    named = {i: t.device for i, t in sorted(tensors.items()) if t.device and ":" in t.device}
    first = next(iter(named.values()), None)
    reason = "the inputs lie on different devices of one kind"
    if first is not None and device_index is not None and device_index >= 0:
        first = first.partition(":")[0] + f":{device_index}"
        reason = "the package was loaded for another device of this kind"
    for one in contract.inputs:
        device = named.get(one.index, first)
        if first is not None and device != first and device is not None:
            if device.partition(":")[0] != first.partition(":")[0]:
                continue  # another type: found by the input's own check
            yield Break(one.index, one.name, "device", first, device, reason)


def _one(expected: Input, given: Leaf, symbols: Mapping[str, int]) -> Iterator[Break]:
    at = (expected.index, given.name or expected.name)
    dtype, device = (given.dtype or "").replace("torch.", ""), given.device
    if expected.dtype and dtype and dtype != expected.dtype:
        reason = "the kernels read the memory as the other type"
        yield Break(*at, "dtype", expected.dtype, dtype, reason)
    if given.bit:  # operators of torch, which get complex tensors, heed it
        sure: Confidence = "proved" if given.bit == "negated" else "likely"
        reason = "generated kernels read the memory, and not the bit that changes its values"
        yield Break(*at, "bit", "none", given.bit, reason, confidence=sure)
    if expected.device and device and str(device).partition(":")[0] != expected.device:
        reason = "the kernels use the pointer on the other device"
        yield Break(*at, "device", expected.device, str(device), reason)
    shape, stride = _integers(given.shape), _integers(given.stride)
    if expected.dims is None or shape is None:
        return
    if len(shape) != len(expected.dims):
        reason = "the package reads sizes past the end of the shape"
        yield Break(*at, "rank", f"{len(expected.dims)}", f"{len(shape)}", reason)
        return
    yield from _sizes(at, expected.dims, shape, symbols)
    if stride is not None and len(stride) == len(shape) and 0 not in shape:
        yield from _strides(at, expected.dims, shape, stride, symbols)
    yield from _alignment(at, expected, given)
    if expected.written:
        yield from _aliasing(at, given, shape, stride)


def _sizes(
    at: tuple[int, str], dims: Sequence[Dim], shape: Sequence[int], symbols: Mapping[str, int]
) -> Iterator[Break]:
    for number, (dim, size) in enumerate(zip(dims, shape)):
        if dim.size is not None:
            if dim.size != size:
                reason = "this size was fixed when the model was exported"
                yield Break(*at, "size", str(dim.size), str(size), reason, number)
            continue
        if dim.low is not None and size < dim.low:
            yield _low(at, number, dim, size)
        if dim.high is not None and size > dim.high:
            reason = "above the upper bound the model was exported with"
            wanted = ("size", f"<= {dim.high}", str(size))
            yield Break(*at, *wanted, reason, number, "likely", relation="max")
        value = evaluate(dim.symbol, symbols) if dim.symbol else None
        if value is not None and value != size:
            yield _guard(at, number, dim.symbol or "", value, size)


def _low(at: tuple[int, str], number: int, dim: Dim, size: int) -> Break:
    wanted = ("size", f">= {dim.low}", str(size))
    if _specialised(dim, size):
        reason = (
            "this lower bound comes from the specialisation of sizes 0 and 1 at export, not from "
            "a kernel: such a call usually runs right"
        )
        return Break(*at, *wanted, reason, number, "likely", True, "min")
    confidence: Confidence = "possible" if size == 0 and dim.low == 2 else "likely"
    reason = "below the lower bound the model was exported with"
    return Break(*at, *wanted, reason, number, confidence, relation="min")


def _specialised(dim: Dim, size: int) -> bool:
    """Tell whether the bound is what a symbol of at least 2 gives, and the size what 1 gives."""
    names = set(re.findall(r"\b[a-z]+\d+\b", dim.symbol or ""))
    if len(names) != 1:
        return dim.low == 2 and size == 1
    name = names.pop()
    return [evaluate(dim.symbol or "", {name: value}) for value in (1, 2)] == [size, dim.low]


def _guard(at: tuple[int, str], number: int, symbol: str, value: int, size: int) -> Break:
    plain = symbol.replace("L", "").strip()
    if plain.isidentifier():
        reason = f"the model takes {plain} from an earlier dimension, and both must be equal"
        expected = f"{value} ({plain}, as another dimension says)"
        return Break(*at, "size", expected, str(size), reason, number, relation="derived")
    reason = f"this size must be {plain}"
    return Break(*at, "guard", f"{value} = {plain}", str(size), reason, number)


def _strides(
    at: tuple[int, str],
    dims: Sequence[Dim],
    shape: Sequence[int],
    stride: Sequence[int],
    symbols: Mapping[str, int],
) -> Iterator[Break]:
    for number, (dim, step) in enumerate(zip(dims, stride)):
        wanted = dim.stride
        if wanted is None and dim.stride_symbol:
            wanted = evaluate(dim.stride_symbol, symbols)
        if wanted is None or wanted == step:
            continue
        unused = shape[number] == 1
        reason = (
            "the stride of a dimension of size 1 is never used"
            if unused
            else "the kernels read, and write, this memory with the expected strides"
        )
        yield Break(*at, "stride", str(wanted), str(step), reason, number, harmless=unused)


def _alignment(at: tuple[int, str], expected: Input, given: Leaf) -> Iterator[Break]:
    have = given.alignment
    if expected.aligned and isinstance(have, int) and have < expected.aligned:
        reason = (
            "the runtime copies such an input to aligned memory: slower, and a mutation of it is "
            "lost"
        )
        wanted = ("alignment", f"{expected.aligned} bytes", f"{have} bytes")
        yield Break(*at, *wanted, reason, None, "possible", True)


def _aliasing(
    at: tuple[int, str], given: Leaf, shape: list[int], stride: list[int] | None
) -> Iterator[Break]:
    """An input that is written to must share no memory: with no other, nor within itself."""
    others = _integers(given.overlaps)
    if others:
        got = "shared with " + ", ".join(f"input {other}" for other in others)
        reason = "the model writes to this input, which changes the other's values too"
        yield Break(*at, "aliasing", "memory of its own", got, reason)
    if stride is None or len(stride) != len(shape) or 0 in shape:
        return
    for dim, (size, step) in enumerate(zip(shape, stride)):
        if size > 1 and step == 0:
            reason = "the model writes to this input, whose elements share memory"
            wanted = ("aliasing", "memory of its own", "expanded (stride 0)")
            yield Break(*at, *wanted, reason, dim)
            break


def _bind(contract: Contract, tensors: Mapping[int, Leaf]) -> dict[str, int]:
    """Evaluate the wrapper's own assignments on the sizes of this call."""
    known: dict[str, int] = {}
    for one in contract.inputs:
        given = tensors.get(one.index, Leaf())
        for word, values in (("size", given.shape), ("stride", given.stride)):
            for dim, value in enumerate(_integers(values) or ()):
                known[f"{one.name}_{word}__{dim}"] = value
    for symbol in contract.symbols:
        result = evaluate(symbol.expression, known)
        if result is not None:
            known[symbol.name] = result
    return known


def _integers(value: object) -> list[int] | None:
    if not isinstance(value, (list, tuple)) or len(value) > 64:
        return None
    return list(value) if all(isinstance(v, int) for v in value) else None
