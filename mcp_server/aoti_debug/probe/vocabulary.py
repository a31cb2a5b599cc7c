"""What crosses rooms, spelled one way from the probe's event to the answer.

The server imports it as `aoti_debug.vocabulary`. Standard library alone, Python 3.9: the probe runs
in the user's interpreter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

_FRAME = re.compile(
    r'File "([^"\n]{1,2000})", line (\d{1,9})(?:, in ([^\n]{1,500}))?[^\S\n]*'
    r'(?:\n(?![ \t]*File ")[ \t]+([^\n]{0,300}))?'
)
_TORCH = re.compile(
    r"(?:site|dist)-packages/torch/|(?:^|/)torch/(?:_\w+|nn|fx|export|autograd|utils/_\w+)(?:/|\.py$)"
)
_LIBRARY = re.compile(
    r"/(?:site|dist)-packages/|/torchinductor_|/lib/python3|aoti_debug/probe/"
    r"|/minifier_launcher\.py$|^<(?:frozen |string>|unknown>)"
)

Owner = Literal["user", "library", "torch"]
_OPERATORS = frozenset({"aten", "prims", "prim", "higher_order", "_operator", "math"})
# The checks of a captured call, in the order of their steps in the one process that all share.
Check = Literal[
    "calls",
    "guards",
    "fakes",
    "redzones",
    "contract",
    "compare",
    "repeats",
    "poison",
    "threads",
    "trials",
    "writes",
]
CHECKS = get_args(Check)


@dataclass(frozen=True)
class Place:
    """A line of a source file; `text` is the line itself, where it is known."""

    file: str
    line: int
    function: str = ""
    text: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def owner(self) -> Owner:
        return owner(self.file)


def is_torchs(operator: str) -> bool:
    """Tell torch's own operators by a namespace or a name, NAMESPACE.NAME.OVERLOAD."""
    return operator.partition(".")[0] in _OPERATORS or operator.startswith("torch")


def owner(file: str) -> Owner:
    """Return whose source file this is: torch's, another library's or generated, or the user's."""
    path = file.replace("\\", "/")
    if _TORCH.search(path):
        return "torch"
    return "library" if _LIBRARY.search(path) else "user"


def places_in(stack: str) -> list[Place]:
    """Return the places of `File "F", line N, in NAME` lines, outermost first, with the source
    line below each."""
    return [
        Place(file, int(line), function.strip(), text.strip() or None)
        for file, line, function, text in _FRAME.findall(stack)
    ]


def model_places(stack: str) -> list[Place]:
    """Return the places of a stack that are not torch's, all of them where no other is."""
    found = places_in(stack)
    return [place for place in found if place.owner != "torch"] or found


@dataclass(frozen=True)
class Leaf:
    """A leaf of a call's arguments. Fields of a tensor are None for other values, and all are None
    where they are not known.

    `index` counts tensors alone, as the runtime does; `position` counts all leaves.
    """

    index: int | None = None
    position: int | None = None
    name: str | None = None
    kind: str = "tensor"  # or int, float, bool, str, None, other
    shape: tuple[int, ...] | None = None
    stride: tuple[int, ...] | None = None
    dtype: str | None = None
    device: str | None = None
    storage_offset: int | None = None  # elements
    storage_bytes: int | None = None
    alignment: int | None = None  # bytes
    min: int | float | None = None
    max: int | float | None = None
    min_at: tuple[int, ...] | None = None
    max_at: tuple[int, ...] | None = None
    value: str | int | float | bool | None = None
    type: str | None = None
    bit: str | None = None  # negated or conjugated: a view whose values are not in its memory
    overlaps: tuple[int, ...] | None = None  # inputs that share its memory
    nan: int | None = None  # how many, where counting was cheap
    inf: int | None = None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Leaf:
        """Make a leaf of what the probe described; unknown keys are left out."""
        known: dict[str, Any] = {}
        for key in cls.__dataclass_fields__:
            value = document.get(key)
            if value is not None:
                known[key] = tuple(value) if isinstance(value, list) else value
        return cls(**known)


Confidence = Literal["proved", "likely", "possible"]
Relation = Literal["equal", "min", "max", "derived"]


@dataclass(frozen=True)
class Break:
    """What one input of a call breaks of a contract; `harmless`: only the compiled check would
    reject it."""

    index: int | None = None  # of tensors; None for a value that is no tensor
    name: str | None = None
    # nesting, count, type, value, dtype, bit, device, rank, size, stride, alignment, aliasing,
    # guard
    property: str = "value"
    expected: str = ""
    got: str = ""
    reason: str = ""
    dim: int | None = None
    confidence: Confidence = "proved"
    harmless: bool = False
    relation: Relation = "equal"  # derived: another dimension says the size
    bound: int | None = None  # of a size, where the relation is min or max
    position: int | None = None  # among all leaves
    written: bool = False  # the model writes to this input
    order: tuple[int, ...] | None = None  # of a nesting: the leaf for each place of the export


@dataclass(frozen=True)
class Element:
    """An element of an input; `computed`: the model computes the index from this input."""

    index: int
    name: str = ""
    at: tuple[int, ...] = ()
    computed: bool = False


@dataclass(frozen=True)
class Size:
    """The size of a dynamic dimension of an input."""

    index: int
    name: str
    dim: int
    size: int


@dataclass(frozen=True)
class GraphValue:
    """A value of an exported graph."""

    kind: Literal["parameter", "input", "computed", "value"]
    name: str
    op: str = ""
    node: str | None = None  # its name in the graph


@dataclass(frozen=True)
class OutOfBounds:
    """An index that an operator uses outside of `lower <= index < upper`."""

    op: str
    upper: int
    value: int
    node: str = ""
    dim: int | None = None  # of what is indexed
    lower: int = 0
    at: tuple[int, ...] = ()  # where the value stands in the index
    count: int = 1  # elements of the index that are out of bounds
    shape: tuple[int, ...] = ()  # of the index
    min: int | None = None  # of the index
    max: int | None = None
    table: GraphValue | None = None  # what is indexed
    source: GraphValue | None = None  # the index
    input: Element | None = None  # where the value stands in an input
    size: Size | None = None  # or the size that the index is computed from

    def __str__(self) -> str:
        at = ", ".join(map(str, self.at))
        return (
            f"{self.op}: index {self.value} at [{at}] is out of bounds: "
            f"{self.lower} <= index < {self.upper}"
        )


ReasonKind = Literal[
    "masked_row",
    "zero_by_zero",
    "division_by_zero",
    "infinite_operands",
    "logarithm",
    "exponential",
    "square_root",
    "reciprocal_root",
    "unit_interval",
    "domain",
    "fractional_power",
    "negative_variance",
    "one_element",
    "no_elements",
    "overflow",
    "written",
    "other",
]


@dataclass(frozen=True)
class Reason:
    """Why an operator gives a value that is not finite."""

    kind: ReasonKind
    text: str
    dtype: str | None = None  # of an overflow


@dataclass(frozen=True)
class ValueSummary:
    """A tensor's values: counts of NaN and infinities; min, max and mean of the finite ones."""

    nan: int = 0
    inf: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None

    @property
    def not_finite(self) -> str:
        counts = ((self.nan, "NaN"), (self.inf, "Inf"))
        return " and ".join(f"{count} {word}" for count, word in counts if count)


@dataclass(frozen=True)
class Fingerprint:
    """A failure without what differs between two runs of it. None: not known."""

    phase: str | None = None
    kind: str | None = None  # exception type, signal, hang, wrong result; None: no failure
    message: str | None = None  # its first line, without addresses and folders
    operators: tuple[str, ...] = ()  # of the faulty kernel, or the one that was lowered
    place: Place | None = None  # the user's line
    access: str | None = None  # read, write, assert

    @property
    def failed(self) -> bool:
        return self.kind is not None

    def same(self, other: Fingerprint) -> bool:
        """Tell whether `other` is this failure in another, maybe smaller program.

        Kernels of a smaller program fuse fewer operators: one in common is asked for. The place is
        not asked for: the nodes of a smaller program come from it by construction.
        """
        if self.kind is None or self.kind != other.kind:
            return False
        pairs = (
            (self.phase, other.phase),
            (normalised(self.message), normalised(other.message)),
            (self.access, other.access),
        )
        if any(mine and theirs and mine != theirs for mine, theirs in pairs):
            return False
        if self.operators and other.operators:
            return bool(set(self.operators) & set(other.operators))
        return True

    def like(self, other: Fingerprint) -> bool:
        """Tell whether both are the same failure, or at least of the same kind; two successes are
        alike."""
        return self.kind == other.kind

    def common(self, other: Fingerprint) -> Fingerprint:
        """Return what both runs of the same failure show; what differs is dropped."""
        theirs = vars(other)
        same = {key: value for key, value in vars(self).items() if value == theirs[key]}
        plain = normalised(self.message)
        if plain == normalised(other.message):
            same.setdefault("message", plain)
        return Fingerprint(**same)

    def __str__(self) -> str:
        if self.kind is None:
            return "no failure"
        where = f" in {self.phase}" if self.phase else ""
        at = f" of {', '.join(self.operators)}" if self.operators else ""
        return f"{self.kind}{where}{at}" + (f": {self.message}" if self.message else "")


# Names and numbers that another graph of the same fault gives otherwise.
_OF_THE_GRAPH = re.compile(
    r"\b(?:tmp|buf|arg|primals_|getitem_|s|u|ks|ps|xindex|x|r|c)_?\d+(?:_\d+)*\b|\b0x[0-9a-f]+\b"
    r"|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?L*\b"
)


def normalised(message: str | None) -> str | None:
    """Return a message without folders, and without the names and numbers of one graph."""
    if message is None:
        return None
    text = re.sub(r"/[^\s:'\"]*/", "", message)
    return " ".join(_OF_THE_GRAPH.sub("_", text).split())[:300]
