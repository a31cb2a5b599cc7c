"""Read what a compiled model's check of its inputs says, and torch.export of dimensions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aoti_debug.read.blocks import BlockReader
from aoti_debug.read.record import InputCheck, Line, Property, Record, Relation

_HEAD = "Constraints violated ("
_SIZE = r"(?:(?P<{0}name>[^=\s]{{1,80}}) = )?(?P<{0}source>L\[.{{1,200}}?\.size\(\)\[\d{{1,3}}\])"
_VALUES = re.compile(
    rf"Not all values of {_SIZE.format('')} in the specified range ?(?P<range>.{{0,120}}?) ?"
    r"(?:satisfy the generated guard|are valid because \S{1,200} was inferred to be) "
    r"(?P<guard>.{1,600})"
)
_RELATED = re.compile(
    rf"The values of {_SIZE.format('')} and {_SIZE.format('other')} must always be equal"
)
_CONSTANT = re.compile(
    r"You marked (?P<name>.{1,200}?) as dynamic but your code specialized it to be a constant "
    r"\((?P<value>-?\d{1,19})\)"
)
# What torch suggests, and no other expression: it is handed on as a fix.
_FIX = re.compile(
    r"^ {1,8}(?P<name>\w{1,200}) = (?P<value>[+-]?\w{1,99}(?: ?(?:\*|\+|-|//) ?\w{1,99}){0,3}"
    r"|Dim\('\w{1,99}'(?:, ?(?:min|max)=\d{1,20}){0,2}\)|Dim\.\w{1,20})$"
)
_PLACE = re.compile(r"L\['(?P<input>[^']{1,100})'\](?P<path>.{0,80})\.size\(\)\[(?P<dim>\d{1,3})\]")
_LINES = 60


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a promised dimension breaks."""

    dim: str  # the Dim's name, or the size itself
    size: str | None  # as torch writes it: L['x'].size()[1]
    guard: str  # with torch's names of the sizes
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class ConstraintsViolated(Record):
    reasons: tuple[Reason, ...]
    fixes: tuple[tuple[str, str], ...]  # torch's suggestions: a name and what it should be

    @property
    def names(self) -> dict[str, str]:
        """Return the Dim's name of each size that has one."""
        return {r.size: r.dim for r in self.reasons if r.size is not None}


class ConstraintsReader(BlockReader[ConstraintsViolated]):
    """Give one record for each block of reasons; torch prints the same block twice."""

    triggers = (_HEAD,)

    def feed(self, line: Line) -> bool:
        if self.lines:
            if line.text[:2] in ("  ", "Su") and len(self.lines) < _LINES:
                self.lines.append(line)
                return True
            self.end()
        if _HEAD in line.text:
            self.lines = [line]
        return bool(self.lines)

    def end(self) -> None:
        lines, self.lines = self.lines, []
        texts = [line.text for line in lines]
        at = next((i for i, t in enumerate(texts) if t.startswith("Suggested")), len(texts))
        reasons = [reason for text in texts[:at] if (reason := _reason(text)) is not None]
        fixes = [(f["name"], f["value"]) for t in texts[at:] if (f := _FIX.match(t))]
        if reasons:
            span = self.span(*lines)
            self.found.add(ConstraintsViolated(span, tuple(reasons), tuple(fixes)))


def _reason(text: str) -> Reason | None:
    if found := _CONSTANT.search(text):
        name = found["name"]
        return Reason(name, None, f"{name} == {found['value']}", int(found["value"]))
    found = _VALUES.search(text) or _RELATED.search(text)
    if found is None:
        return None
    size = found["source"]
    dim = found["name"] or size
    if found.re is _RELATED:
        return Reason(dim, size, f"{size} == {found['othersource']}")
    guard = found["guard"].removesuffix(".")
    if value := re.fullmatch(r"a constant \((-?\d{1,19})\)", guard):
        return Reason(dim, size, f"{size} == {value[1]}", int(value[1]))
    return Reason(dim, size, guard)


def in_words(size: str) -> str:
    """Say which dimension of which input `L['x'].size()[1]` is."""
    found = _PLACE.fullmatch(size)
    return f"dimension {found['dim']} of {found['input']}{found['path']}" if found else size


def named(guard: str, names: dict[str, str]) -> str:
    """Write a guard with the user's names of the sizes."""
    for size in sorted(names, key=len, reverse=True):
        guard = guard.replace(size, names[size])
    return re.sub(
        r"L\['([^']{1,100})'\]([^ ]{0,80}?)\.size\(\)\[(\d{1,3})\]", r"\1\2.shape[\3]", guard
    )


# Codes of c10::ScalarType and c10::DeviceType.
DTYPES = tuple(
    """
    uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool
    qint8 quint8 qint32 bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16
    float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz uint16 uint32 uint64 uint1 uint2
    uint3 uint4 uint5 uint6 uint7 int1 int2 int3 int4 int5 int6 int7 float8_e8m0fnu
    float4_e2m1fn_x2
    """.split()
)
DEVICES = tuple(
    """
    cpu cuda mkldnn opengl opencl ideep hip fpga maia xla vulkan metal xpu mps meta hpu ve lazy
    ipu mtia privateuseone
    """.split()
)

# In the wrapper's source the same words stand within quotation marks.
_INPUT = re.compile(r"(?<!\")input_handles\[(\d{1,9})\]: ([^\n\"]{1,600})$")
_WHAT = re.compile(
    r"unmatched (dtype|device) ?(?:type)?, expected: ([^,]{1,80}), but got: (\S{1,40})"
)
_NAMES = {"dtype": DTYPES, "device": DEVICES}
_RANK = re.compile(r"(?:unmatched|expected) (?:ndim|rank)\D{1,20}(\d{1,4})\D{1,20}(\d{1,4})")
_DIM = re.compile(
    r"(unmatched dim|unmatched stride|dim value is too small|dim value is too large)(?: value)? at "
    r"(\d{1,4}), expected(?: it)?(?: to be [<>]=|:) (-?\d{1,19}), but got: (-?\d{1,19})"
)
_OF_A_DIM: dict[str, tuple[Property, Relation]] = {
    "unmatched dim": ("size", "equal"),
    "dim value is too small": ("size", "min"),
    "dim value is too large": ("size", "max"),
    "unmatched stride": ("stride", "equal"),
}


class InputCheckReader(BlockReader[InputCheck]):
    """Give one record for each input and property that was found wrong."""

    triggers = ("input_handles[",)
    alike = ("input", "property", "dim", "relation", "expected", "got")

    def feed(self, line: Line) -> bool:
        if found := _INPUT.search(line.text):
            wrong = _found_wrong(found[2].strip())
            self.found.add(InputCheck(self.span(line), int(found[1]), *wrong))
        return False


def _found_wrong(text: str) -> tuple[Property, int | None, Relation, str, str]:
    """Return property, dimension and relation, what was expected and what was got."""
    if found := _WHAT.search(text):
        expected, got = (_code(one, _NAMES[found[1]]) for one in found.group(2, 3))
        return "dtype" if found[1] == "dtype" else "device", None, "equal", expected, got
    if found := _DIM.search(text):
        property_, relation = _OF_A_DIM[found[1]]
        return property_, int(found[2]), relation, found[3], found[4]
    if found := _RANK.search(text):
        return "rank", None, "equal", found[1], found[2]
    return "other", None, "equal", "", text


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
