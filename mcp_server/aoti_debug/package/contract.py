"""The contract of a compiled model as its package states it, and calls held against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aoti_debug.model import Category, Confidence, InputFinding
from aoti_debug.package.expression import evaluate
from aoti_debug.package.record import CompiledModel, Dim, Input, Symbol, Wrapper

Description = Mapping[str, Any]
_SYMBOLS = re.compile(r"\b[a-z]+\d+\b")
CATEGORY: dict[str, Category] = {
    "size": "contract_shape", "rank": "contract_shape", "dtype": "contract_dtype",
    "stride": "contract_stride", "device": "contract_device", "guard": "contract_guard",
    "count": "contract_argument", "type": "contract_argument", "value": "contract_argument",
    "alignment": "misaligned_address", "aliasing": "contract_stride",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Violation:
    """A call breaks the contract, or (`false_alarm`) only the compiled check says so."""

    finding: InputFinding
    category: Category
    confidence: Confidence
    reason: str
    false_alarm: bool = False


def contract(model: CompiledModel | Wrapper) -> Contract:
    """Return the contract that a model's wrapper states."""
    wrapper = model.wrapper if isinstance(model, CompiledModel) else model
    if wrapper is None:
        return Contract((), stated=False)
    stated = any(one.dims is not None for one in wrapper.inputs) or not wrapper.inputs
    return Contract(wrapper.inputs, wrapper.symbols, wrapper.leaves, stated)


def check_call(
    contract: Contract, inputs: Sequence[Description], device_index: int | None = None
) -> list[Violation]:
    """Return what is wrong with a call, described by one mapping an argument.

    `device_index` is the one that the package was loaded with, if it was named. Real violations
    come first; what only the compiled checks would reject is marked as a false alarm. Facts that
    a description lacks are not judged.
    """
    tensors = {i["index"]: i for i in inputs if isinstance(i.get("index"), int)}
    found = list(_count(contract, inputs, tensors))
    symbols = _bind(contract, tensors)
    for expected in contract.inputs:
        given = tensors.get(expected.index)
        if given is not None:
            found += _one(expected, given, symbols)
    found += _several_devices(contract, tensors, device_index)
    return sorted(found, key=lambda v: v.false_alarm)


def _count(
    contract: Contract, inputs: Sequence[Description], tensors: Mapping[int, Description]
) -> Iterator[Violation]:
    if len(tensors) != len(contract.inputs):
        expected, got = f"{len(contract.inputs)} tensors", f"{len(tensors)} tensors"
        odd = next((i for i in inputs if i.get("index") is None), None)
        where = f"; argument {odd.get('position', '?')} is {odd.get('kind')}" if odd else ""
        first = min(len(tensors), len(contract.inputs))
        yield _violation(
            first, None, "count", expected, got + where,
            "the runtime takes tensors only and drops every other argument before it counts",
        )  # fmt: skip


def _several_devices(
    contract: Contract, tensors: Mapping[int, Description], device_index: int | None
) -> Iterator[Violation]:
    """A package runs on one device, and nothing compares the inputs' device numbers."""
    named = {i: str(t["device"]) for i, t in sorted(tensors.items()) if ":" in str(t.get("device"))}
    first = next(iter(named.values()), None)
    reason = "the inputs lie on different devices of one kind"
    if first is not None and device_index is not None and device_index >= 0:
        first = f"{first.partition(':')[0]}:{device_index}"
        reason = "the package was loaded for another device of this kind"
    for one in contract.inputs:
        device = named.get(one.index, first)
        if first is not None and device != first and device is not None:
            if device.partition(":")[0] != first.partition(":")[0]:
                continue  # another type: found by the input's own check
            yield _violation(one.index, one.name, "device", first, device, reason)


def _one(expected: Input, given: Description, symbols: Mapping[str, int]) -> Iterator[Violation]:
    at = (expected.index, given.get("name") or expected.name)
    dtype = given.get("dtype")
    if expected.dtype and dtype and _plain(dtype) != expected.dtype:
        yield _violation(*at, "dtype", expected.dtype, _plain(dtype),
                         "the kernels read the memory as the other type")  # fmt: skip
    device = given.get("device")
    if expected.device and device and str(device).partition(":")[0] != expected.device:
        yield _violation(*at, "device", expected.device, str(device),
                         "the kernels use the pointer on the other device")  # fmt: skip
    shape, stride = _integers(given.get("shape")), _integers(given.get("stride"))
    if expected.dims is None or shape is None:
        return
    if len(shape) != len(expected.dims):
        yield _violation(
            *at, "rank", f"{len(expected.dims)} dimensions", f"{len(shape)}",
            "sizes are read past the end of the shape",
        )  # fmt: skip
        return
    yield from _sizes(at, expected.dims, shape, symbols)
    if stride is not None and len(stride) == len(shape) and 0 not in shape:
        yield from _strides(at, expected.dims, shape, stride, symbols)
    yield from _alignment(at, expected, given)
    if expected.written:
        yield from _aliasing(at, given, shape, stride)


def _sizes(
    at: tuple[int, str], dims: Sequence[Dim], shape: Sequence[int], symbols: Mapping[str, int]
) -> Iterator[Violation]:
    for number, (dim, size) in enumerate(zip(dims, shape, strict=True)):
        if dim.size is not None:
            if dim.size != size:
                yield _violation(
                    *at,
                    "size",
                    str(dim.size),
                    str(size),
                    "this size was fixed when the model was exported",
                    number,
                )
            continue  # fmt: skip
        if dim.low is not None and size < dim.low:
            yield _low(at, number, dim, size)
        if dim.high is not None and size > dim.high:
            yield _violation(*at, "size", f"<= {dim.high}", str(size),
                             "above the upper bound the model was exported with", number,
                             confidence="likely")  # fmt: skip
        value = evaluate(dim.symbol, symbols) if dim.symbol else None
        if value is not None and value != size:
            yield _guard(at, number, dim.symbol or "", value, size)


def _low(at: tuple[int, str], number: int, dim: Dim, size: int) -> Violation:
    if _specialised(dim, size):
        return _violation(
            *at, "size", f">= {dim.low}", str(size),
            "this lower bound comes from the specialisation of sizes 0 and 1 at export, not from "
            "a kernel: such a call usually runs right",
            number, confidence="likely", false_alarm=True,
        )  # fmt: skip
    confidence: Confidence = "possible" if size == 0 and dim.low == 2 else "likely"
    return _violation(*at, "size", f">= {dim.low}", str(size),
                      "below the lower bound the model was exported with", number,
                      confidence=confidence)  # fmt: skip


def _specialised(dim: Dim, size: int) -> bool:
    """Tell whether the bound is what a symbol of at least 2 gives, and the size what 1 gives."""
    names = set(_SYMBOLS.findall(dim.symbol or ""))
    if len(names) != 1:
        return dim.low == 2 and size == 1
    name = names.pop()
    bounds = [evaluate(dim.symbol or "", {name: value}) for value in (1, 2)]
    return bounds == [size, dim.low]


def _guard(at: tuple[int, str], number: int, symbol: str, value: int, size: int) -> Violation:
    plain = symbol.replace("L", "").strip()
    single = plain.isidentifier()
    reason = (
        f"the model takes {plain} from an earlier dimension, and both must be equal"
        if single
        else f"this size must be {plain}"
    )
    expected = f"{value} ({plain}, as another dimension says)" if single else f"{value} = {plain}"
    return _violation(*at, "size" if single else "guard", expected, str(size), reason, number)


def _strides(
    at: tuple[int, str], dims: Sequence[Dim], shape: Sequence[int], stride: Sequence[int],
    symbols: Mapping[str, int],
) -> Iterator[Violation]:  # fmt: skip
    for number, (dim, step) in enumerate(zip(dims, stride, strict=True)):
        wanted = dim.stride
        if wanted is None and dim.stride_symbol:
            wanted = evaluate(dim.stride_symbol, symbols)
        if wanted is None or wanted == step:
            continue
        harmless = shape[number] == 1
        yield _violation(
            *at, "stride", str(wanted), str(step),
            "the stride of a dimension of size 1 is never used" if harmless
            else "the kernels read the memory in the other order",
            number, false_alarm=harmless,
        )  # fmt: skip


def _alignment(at: tuple[int, str], expected: Input, given: Description) -> Iterator[Violation]:
    have = given.get("alignment")
    if expected.aligned and isinstance(have, int) and have < expected.aligned:
        yield _violation(
            *at, "alignment", f"{expected.aligned} bytes", f"{have} bytes",
            "the runtime copies such an input to aligned memory: slower, and a mutation of it is "
            "lost", confidence="possible", false_alarm=True,
        )  # fmt: skip


def _aliasing(
    at: tuple[int, str], given: Description, shape: list[int], stride: list[int] | None
) -> Iterator[Violation]:
    """An input that is written to must share no memory: with no other, nor within itself."""
    reason = "the model writes to this input, which changes the other's values too"
    others = _integers(given.get("overlaps"))
    if others:
        names = ", ".join(f"input {other}" for other in others)
        yield _violation(*at, "aliasing", "memory of its own", f"shared with {names}", reason)
    if stride is None or len(stride) != len(shape) or 0 in shape:
        return
    shared = [d for d, (n, s) in enumerate(zip(shape, stride, strict=True)) if n > 1 and s == 0]
    if shared:
        yield _violation(*at, "aliasing", "memory of its own", "expanded (stride 0)",
                         "the model writes to this input, whose elements share memory",
                         shared[0])  # fmt: skip


def _bind(contract: Contract, tensors: Mapping[int, Description]) -> dict[str, int]:
    """Evaluate the wrapper's own assignments on the sizes of this call."""
    known: dict[str, int] = {}
    for one in contract.inputs:
        given = tensors.get(one.index, {})
        for field, word in (("shape", "size"), ("stride", "stride")):
            for dim, value in enumerate(_integers(given.get(field)) or ()):
                known[f"{one.name}_{word}__{dim}"] = value
    for symbol in contract.symbols:
        result = evaluate(symbol.expression, known)
        if result is not None:
            known[symbol.name] = result
    return known


def _integers(value: object) -> list[int] | None:
    if not isinstance(value, list | tuple) or len(value) > 64:
        return None
    return list(value) if all(isinstance(v, int) for v in value) else None


def _plain(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")


def _violation(
    index: int, name: str | None, property: str, expected: str, got: str, reason: str,
    dim: int | None = None, *, confidence: Confidence = "proved", false_alarm: bool = False,
) -> Violation:  # fmt: skip
    finding = InputFinding(
        index=index, name=name, dim=dim, expected=expected, got=got, property=property
    )
    category = "false_alarm" if false_alarm else CATEGORY[property]
    return Violation(finding, category, confidence, reason, false_alarm)
