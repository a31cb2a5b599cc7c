"""Read the input checks of a wrapper: `check_input_N` and `assert_size_stride` of each input."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from aoti_debug.package.record import Dim, Input

_HANDLE = re.compile(r"ConstantHandle (\w{1,300}) = ConstantHandle\(input_handles\[(\d{1,6})\]\);")
_DTYPE = re.compile(r"_expected_dtype = aoti_torch_dtype_(\w{1,40})\(\);")
_EXACT = re.compile(r"if \((-?\d{1,19})L? != \w{1,300}_(size|stride)\[(\d{1,3})\]\)")
_BOUND = re.compile(r"if \(\w{1,300}_size\[(\d{1,3})\] ([<>]) (-?\d{1,19})L?\)")
_DEVICE = re.compile(r"_expected_device_type = (-?\d{1,3});")
_SYMBOLIC = re.compile(
    r"assert_size_stride\((\w{1,300}), \{([^{}]{0,2000})\}, \{([^{}]{0,2000})\}, \"input\"\)"
)
_ALIGNED = re.compile(r"Input (\d{1,6}) was compiled as (\d{1,4})-bytes aligned")
DEVICE_TYPES = {0: "cpu", 1: "cuda", 12: "xpu", 13: "mps"}
UNBOUNDED = 2**63 - 1


@dataclass(slots=True)
class _Checked:
    name: str
    dtype: str | None = None
    device: str | None = None
    sizes: dict[int, int] = field(default_factory=dict)
    strides: dict[int, int] = field(default_factory=dict)
    low: dict[int, int] = field(default_factory=dict)
    high: dict[int, int] = field(default_factory=dict)

    def freeze(self, index: int) -> Input:
        seen = (*self.sizes, *self.strides, *self.low, *self.high)
        rank = max(seen, default=-1) + 1
        dims = tuple(
            Dim(self.sizes.get(d), self.low.get(d), self.high.get(d), stride=self.strides.get(d))
            for d in range(min(rank, 64))
        )
        return Input(index, self.name, self.dtype, self.device, dims)


def read_checks(lines: Iterable[str]) -> dict[int, Input]:
    """Return what the wrapper checks of each input, by index."""
    found: dict[int, _Checked] = {}
    current: _Checked | None = None
    for line in lines:
        if match := _HANDLE.search(line):
            current = found.setdefault(int(match[2]), _Checked(match[1]))
        elif current is not None:
            _take(current, line)
    return {index: checked.freeze(index) for index, checked in found.items()}


def _take(checked: _Checked, line: str) -> None:
    if match := _EXACT.search(line):
        target = checked.sizes if match[2] == "size" else checked.strides
        target[int(match[3])] = int(match[1])
    elif match := _BOUND.search(line):
        bound = int(match[3])
        if match[2] == "<":
            checked.low[int(match[1])] = bound
        elif bound < UNBOUNDED:
            checked.high[int(match[1])] = bound
    elif match := _DTYPE.search(line):
        checked.dtype = match[1]
    elif match := _DEVICE.search(line):
        number = int(match[1])
        checked.device = DEVICE_TYPES.get(number, f"device type {number}")


def add_symbols(inputs: tuple[Input, ...], body: Iterable[str]) -> tuple[Input, ...]:
    """Add each dimension's symbolic size and stride (torch 2.13 and later print them), and the
    alignment the model was compiled for."""
    shapes: dict[str, tuple[list[str], list[str]]] = {}
    aligned: dict[int, int] = {}
    for line in body:
        if match := _SYMBOLIC.search(line):
            shapes.setdefault(match[1], (_parts(match[2]), _parts(match[3])))
        elif match := _ALIGNED.search(line):
            aligned[int(match[1])] = int(match[2])
    return tuple(
        replace(
            one,
            dims=_symbolic(one.dims, *shapes[one.name]) if one.name in shapes else one.dims,
            aligned=aligned.get(one.index, one.aligned),
        )
        for one in inputs
    )


def _parts(text: str) -> list[str]:
    """Split at commas outside parentheses: `s0, 2L*s1, ` → two parts."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "(<") - (character in ")>")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _symbolic(
    dims: tuple[Dim, ...] | None, sizes: list[str], strides: list[str]
) -> tuple[Dim, ...] | None:
    if len(sizes) != len(strides) or len(sizes) > 64:
        return dims
    known = {**dict(enumerate(dims or ()))}
    return tuple(
        replace(
            known.get(d, Dim()),
            size=_number(size),
            symbol=None if _number(size) is not None else size,
            stride=_number(stride),
            stride_symbol=None if _number(stride) is not None else stride,
        )
        for d, (size, stride) in enumerate(zip(sizes, strides, strict=True))
    )


def _number(text: str) -> int | None:
    digits = text.removesuffix("L")
    return int(digits) if digits.lstrip("-").isdecimal() and len(digits) < 20 else None
