"""Read what a compiled model's own check of its inputs says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from aoti_debug.read.record import InputCheck, Line
from aoti_debug.read.text import span_of

# Codes of c10::ScalarType and c10::DeviceType.
DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32",
    "complex64", "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16", "quint4x2",
    "quint2x4", "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16", "float8_e5m2",
    "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16", "uint32", "uint64", "uint1",
    "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "int1", "int2", "int3", "int4", "int5",
    "int6", "int7", "float8_e8m0fnu", "float4_e2m1fn_x2",
)  # fmt: skip
DEVICES = (
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan",
    "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
)  # fmt: skip

_KEPT = 200
# In the wrapper's source the same words stand within quotation marks.
_INPUT = re.compile(r"(?<!\")input_handles\[(\d{1,9})\]: ([^\n\"]{1,600})$")
Property = Literal["dtype", "size", "stride", "device", "rank", "other"]
Relation = Literal["equal", "min", "max"]
_TEXTS: tuple[tuple[str, Property, Relation], ...] = (
    (r"unmatched dtype, expected: ([^,]{1,80}), but got: (\S{1,40})()", "dtype", "equal"),
    (r"unmatched dim value at (\d{1,4}), expected: (-?\d{1,19}), but got: (-?\d{1,19})",
     "size", "equal"),
    (r"dim value is too small at (\d{1,4}), expected it to be >= (-?\d{1,19}), but got: "
     r"(-?\d{1,19})", "size", "min"),
    (r"dim value is too large at (\d{1,4}), expected(?: it)? to be <= (-?\d{1,19}), but got: "
     r"(-?\d{1,19})", "size", "max"),
    (r"unmatched stride value at (\d{1,4}), expected: (-?\d{1,19}), but got: (-?\d{1,19})",
     "stride", "equal"),
    (r"unmatched device type, expected: ([^,]{1,80}), but got: (\S{1,40})()",
     "device", "equal"),
    (r"(?:unmatched|expected) (?:ndim|rank)\D{1,20}(\d{1,4})\D{1,20}(\d{1,4})()",
     "rank", "equal"),
)  # fmt: skip
_RULES = tuple((re.compile(pattern), what, how) for pattern, what, how in _TEXTS)


class InputCheckReader:
    """Give one record for each input and property that was found wrong."""

    triggers: tuple[str, ...] = ("input_handles[",)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: dict[object, InputCheck] = {}

    def feed(self, line: Line) -> bool:
        if found := _INPUT.search(line.text):
            self._add_input(line, int(found[1]), found[2].strip())
        return False

    def finish(self) -> Iterable[InputCheck]:
        return list(self._found.values())

    def _add_input(self, line: Line, index: int, text: str) -> None:
        dim: int | None = None
        property_: Property = "other"
        relation: Relation = "equal"
        expected, got = "", text
        for pattern, what, how in _RULES:
            match = pattern.search(text)
            if match is None:
                continue
            property_, relation = what, how
            if match[3]:
                dim, expected, got = int(match[1]), match[2], match[3]
            else:
                expected, got = match[1], match[2]
            break
        if property_ == "dtype":
            expected, got = _code(expected, DTYPES), _code(got, DTYPES)
        elif property_ == "device":
            expected, got = _code(expected, DEVICES), _code(got, DEVICES)
        span = span_of(self._artifact, [line])
        key = (index, property_, dim, relation, expected, got)
        if key not in self._found and len(self._found) < _KEPT:
            self._found[key] = InputCheck(span, index, property_, dim, relation, expected, got)


def _code(text: str, names: tuple[str, ...]) -> str:
    """Turn `6(at::kFloat)`, `11(cuda)` (printed twice by a slip: device 1) or `7` into a word."""
    digits, _, word = text.strip().partition("(")
    if not digits.isdigit() or len(digits) > 6:
        return text.strip()
    word = word.rstrip(")")
    if word in names:
        return word
    code = int(digits)
    return names[code] if code < len(names) else text.strip()
