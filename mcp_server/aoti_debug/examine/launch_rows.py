"""The launches of a call: how long each took, what it moved and computed, whose line it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from statistics import median

from aoti_debug.examine.launches import origin_of
from aoti_debug.explain import describe
from aoti_debug.explain.code import Argument, arguments_of
from aoti_debug.explain.find import Program, Texts, code_of
from aoti_debug.explain.names import NamedTensor, read_names
from aoti_debug.model import SourceLine
from aoti_debug.package.record import CompiledModel, Launch
from aoti_debug.read.timing_report import Calls, LaunchTime
from aoti_debug.vocabulary import Leaf

_WIDTHS = re.compile(r"(\d{1,2})(?:_e\w{1,8})?$")
_MATMUL = re.compile(r"(?:mm|linear|matmul|baddbmm)\w{0,20}$")
_GATHERS = re.compile(r"embedding|index|gather")


@dataclass(frozen=True, slots=True)
class Row:
    """One launch; `gap` is what passed since the one before, `number` its place in the call."""

    number: int
    name: str
    seconds: float
    gap: float
    processors: float = 0.0
    launch: Launch | None = None
    bytes: int = 0
    flops: int = 0
    dtypes: frozenset[str] = frozenset()
    arguments: tuple[Argument, ...] = field(default=(), repr=False)
    source: tuple[SourceLine, ...] = ()

    @property
    def line(self) -> SourceLine | None:
        return self.source[0] if self.source else None

    @property
    def ops(self) -> tuple[str, ...]:
        return self.launch.ops if self.launch is not None else ()

    @property
    def kind(self) -> str | None:
        return self.launch.kind if self.launch is not None else None

    @property
    def generated(self) -> bool:
        return self.kind in ("cpp", "triton")

    @property
    def written(self) -> list[NamedTensor]:
        return [a.value for a in self.arguments if a.value and a.direction != "in"]


@dataclass(frozen=True, slots=True)
class CallTable:
    """A call: its launches, what passed after the last one, its wall time."""

    rows: tuple[Row, ...]
    after: float
    wall: float  # of calls that nothing was done to
    program: Program | None = None

    @property
    def launches(self) -> float:
        return sum(row.seconds for row in self.rows)

    @property
    def gaps(self) -> float:
        return sum(row.gap for row in self.rows) + self.after


def call_table(
    calls: Calls, model: CompiledModel | None, texts: Texts, inputs: Sequence[Leaf]
) -> CallTable:
    """Return the launches of a call with what the package says of each."""
    program = None
    if model is not None and model.wrapper is not None:
        program = Program(model, texts, read_names(model.wrapper, texts.wrapper, inputs))
    matched = _matched(calls.launches, program)
    both = zip(calls.launches, matched, strict=True)
    scale = _scale(calls)
    rows = tuple(
        _row(number, without(one, calls, scale), launch, program)
        for number, (one, launch) in enumerate(both, 1)
    )
    return CallTable(rows, calls.after * scale, calls.wall, program)


def _scale(calls: Calls) -> float:
    """Return the factor from times of watched calls to those of unwatched calls."""
    added = (calls.overhead + calls.within) * len(calls.launches)
    seen = median(calls.watched) - added if calls.watched else 0.0
    return calls.accounted * calls.wall / seen if seen > 0 and calls.accounted else 1.0


def without(one: LaunchTime, calls: Calls, scale: float) -> LaunchTime:
    gap, seconds = (one.gap - calls.overhead) * scale, (one.seconds - calls.within) * scale
    return replace(one, gap=max(0.0, gap), seconds=max(0.0, seconds))


def _matched(launches: Sequence[LaunchTime], program: Program | None) -> list[Launch | None]:
    """Return which launch of the source each one is: the next of its name, else the first one."""
    by_name: dict[str, list[Launch]] = {}
    wrapper = program.model.wrapper if program is not None else None
    for launch in wrapper.launches if wrapper is not None else ():
        by_name.setdefault(launch.kernel, []).append(launch)
    found: list[Launch | None] = []
    last = 0
    for one in launches:
        own = by_name.get(one.name, [])
        match = next((n for n in own if n.number > last), own[0] if own else None)
        last = match.number if match is not None else last
        found.append(match)
    return found


def _row(number: int, one: LaunchTime, launch: Launch | None, program: Program | None) -> Row:
    row = Row(number, one.name, one.seconds, one.gap, one.processors, launch)
    if launch is None or program is None:
        return row
    code = code_of(program, launch.kernel)
    arguments = tuple(arguments_of(program.texts.wrapper, launch, code, program.names))
    sizes = {a.value.name: _numel(a.value, program) for a in arguments if a.value is not None}
    origin = origin_of(launch, program.model)
    return replace(
        row,
        name=program.model.operator_of(launch) if launch.kind == "custom_op" else one.name,
        bytes=_bytes(launch, arguments, sizes),
        flops=_flops(launch, arguments, sizes, program),
        dtypes=frozenset(a.value.dtype for a in arguments if a.value and a.value.dtype),
        arguments=arguments,
        source=tuple(describe.lines_of(origin, None, program.names)),
    )


def _numel(value: NamedTensor, program: Program) -> int:
    """Return how many elements a tensor has in the call; 0 where that is not known."""
    numbers = [program.names.number(size) for size in value.size or ()]
    known = [number for number in numbers if number is not None]
    return prod(known) if value.size is not None and len(known) == len(numbers) else 0


def width_of(dtype: str | None) -> int:
    """Return the bytes of an element; 4 where the dtype is not known."""
    if dtype == "bool":
        return 1
    found = _WIDTHS.search(dtype or "")
    bits = int(found[1]) if found else 32
    return max(1, bits // 8 * (2 if (dtype or "").startswith("complex") and bits < 64 else 1))


def _bytes(launch: Launch, arguments: Sequence[Argument], sizes: dict[str, int]) -> int:
    """Return the bytes read and written; of an indexed table no more than is written."""
    seen: dict[tuple[str, str], int] = {}
    for argument in arguments:
        if (value := argument.value) is None:
            continue
        size = sizes[value.name] * width_of(value.dtype)
        for way in ("in", "out") if argument.direction == "in_out" else (argument.direction or "",):
            seen[value.name, way] = size
    if _GATHERS.search(launch.kernel) and launch.kind != "extern":
        written = max((s for (_, way), s in seen.items() if way == "out"), default=0)
        return sum(min(size, written) if written else size for size in seen.values())
    return sum(seen.values())


def _flops(
    launch: Launch, arguments: Sequence[Argument], sizes: dict[str, int], program: Program
) -> int:
    """Return the operations of a product of matrices, a convolution or an attention."""
    values = [a.value for a in arguments if a.value is not None and a.value.size]
    if launch.kind != "extern" or len(values) < 3:
        return 0
    if _MATMUL.search(launch.kernel.removesuffix("_out")):
        out = values[0] if launch.kernel.endswith("_out") else values[-1]
        columns = program.names.number((out.size or ("0",))[-1]) or 0
        rows = sizes[out.name] // columns if columns else 0
        # The first operand with as many rows; of addmm the bias comes before it.
        for value in (one for one in values if one is not out):
            if rows and len(value.size or ()) > 1 and sizes[value.name] % rows == 0:
                return 2 * sizes[out.name] * (sizes[value.name] // rows)
    if "attention" in launch.kernel:
        query, key = values[0], values[1]
        length = program.names.number((key.size or ("0", "0"))[-2]) or 0
        return 4 * sizes[query.name] * length
    if "convolution" in launch.kernel:
        weight = next((v for v in values if v.kind == "constant" and len(v.size or ()) > 2), None)
        out = values[-1]
        channels = program.names.number((weight.size or ("1",))[0]) if weight is not None else None
        if weight is not None and channels:
            return 2 * sizes[out.name] * sizes[weight.name] // channels
    return 0
