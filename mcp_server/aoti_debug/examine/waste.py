"""Reasons that the launches of a call show by themselves: work that could be less."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from aoti_debug.examine.answers import SlowReason
from aoti_debug.examine.launch_rows import CallTable, Row
from aoti_debug.explain.find import code_of
from aoti_debug.explain.names import NamedTensor
from aoti_debug.model import SourceLine
from aoti_debug.plain import times

Place = tuple[str, int]
_SLOW = 0.25  # of the bytes that a copy moves in the same time
_STRIDED = 0.4  # likewise, where the layout tells why
_DIVISION = re.compile(r"\b(?:floor_divide_integral|remainder_integral|div_floor_integer)\(")
_DIVISIONS = 2  # of each element
_LOOKUP = ({"aten.arange", "aten.eq"}, {"aten.one_hot"}, {"aten.scatter"})
_PRODUCT = re.compile(r"(?:mm|linear|matmul)(?:_out)?$")
_SELECTS = re.compile(r"index_(?:Tensor|put)|nonzero|masked_(?:select|scatter)")
_MOSTLY = 2 / 3  # of the lines of a launch
_STEPS, _SHORT_S = 64, 1e-4  # launches of one line, and each of them
_HALVES = ("float16", "bfloat16")
# What names of generated kernels show that a call need not do, and what leaves it out.
_NEEDLESS = (
    (
        re.compile(r"dropout|bernoulli"),
        "draw random numbers: a dropout is on",
        "model.eval() before the export",
    ),
    (
        re.compile(r"(?:^|_)(?:arg)?sort(?:_|$)"),
        "sort whole rows",
        "torch.topk, if only the first values are used",
    ),
    (
        re.compile(r"weight_norm"),
        "compute a normalized weight in each call",
        'torch.nn.utils.parametrize.remove_parametrizations(layer, "weight") before the export',
    ),
)


def by_launches(
    rows: Sequence[Row], table: CallTable, what: str, change: str, part: float | None = 1.0
) -> SlowReason | None:
    """Return a reason by launches, of whose time a change takes the part."""
    cost = sum(row.seconds for row in rows)
    if not rows or not table.wall:
        return None
    share = cost / table.wall
    gain = share * part if part is not None else None
    return SlowReason(
        what=what, cost_s=cost, share=share, change=change, gain=gain, source=costliest(rows)
    )


def costliest(rows: Sequence[Row]) -> SourceLine | None:
    seconds: dict[SourceLine, float] = {}
    for row in rows:
        if row.line is not None:
            seconds[row.line] = seconds.get(row.line, 0.0) + row.seconds
    return max(seconds, key=lambda line: seconds[line], default=None)


def waste(
    table: CallTable, input_free: Collection[Place], rates: Mapping[str, float]
) -> Iterator[SlowReason | None]:
    """Yield what is found, the most certain first; None for what is not."""
    yield _recomputed(table, input_free)
    yield _lookups(table)
    yield _masks(table)
    yield _divisions(table, rates.get("copy", 0.0))
    yield _strided(table, rates.get("copy", 0.0))
    yield _halves(table, rates)
    yield _unrolled(table)
    for form, what, change in _NEEDLESS:
        rows = [row for row in table.rows if form.search(row.name)]
        what = f"{len(rows)} of {len(table.rows)} launches {what}"
        yield by_launches(rows, table, what, change, None)


def _unrolled(table: CallTable) -> SlowReason | None:
    """Find the many short launches of lines that a loop repeats."""
    counts = Counter(row.line for row in table.rows if row.line is not None)
    often = {line for line, count in counts.items() if count >= _STEPS}
    rows = [row for row in table.rows if row.line in often and row.seconds < _SHORT_S]
    return by_launches(
        rows,
        table,
        f"{len(rows)} of {len(table.rows)} launches come from a loop, which the export unrolls",
        "compute all steps in one operation where they do not wait for each other",
        None,
    )


def _recomputed(table: CallTable, input_free: Collection[Place]) -> SlowReason | None:
    """Find launches of lines most of which depend on no input, or that read no tensor."""
    rows = [row for row in table.rows if _is_free(row, input_free)]
    return by_launches(
        rows,
        table,
        f"{len(rows)} of {len(table.rows)} launches compute in each call what no input changes",
        "compute it once, after the weights are loaded, and keep it in a buffer",
    )


def _is_free(row: Row, input_free: Collection[Place]) -> bool:
    free = sum((one.file, one.line) in input_free for one in row.source)
    writes = row.arguments and all(one.direction == "out" for one in row.arguments)
    return bool(writes or (free and free >= _MOSTLY * len(row.source)))


def _lookups(table: CallTable) -> SlowReason | None:
    """Find products of matrices one of which is a one-hot encoding."""
    rows = [
        row
        for row in table.rows
        if _PRODUCT.search(row.name) and any(ops <= set(row.ops) for ops in _LOOKUP)
    ]
    made = {a.value.name for row in rows for a in row.arguments if a.value and a.direction == "in"}
    makers = [
        row
        for row in table.rows
        if row not in rows and any(value.name in made for value in row.written)
    ]
    found = by_launches(
        [*rows, *makers],
        table,
        f"{len(rows)} products of matrices have a one-hot operand: they look up rows of a table",
        "torch.nn.functional.embedding(ids, weight), or weight[ids]",
    )
    # The product's line, also where it takes longer to make the operand.
    return found.model_copy(update={"source": costliest(rows)}) if rows and found else None


def _masks(table: CallTable) -> SlowReason | None:
    """Find launches that select or write by a boolean mask."""
    named = [row for row in table.rows if _SELECTS.search(row.name)]
    masked = any("bool" in row.dtypes for row in named)
    rows = [row for row in named if masked and ("bool" in row.dtypes or row.launch is None)]
    return by_launches(
        rows,
        table,
        f"{len(rows)} launches select or write by a boolean mask, and nothing is fused over them",
        "compute all elements and choose with torch.where",
        None,
    )


def _divisions(table: CallTable, copied: float) -> SlowReason | None:
    """Find slow kernels that divide integers for each element."""
    rows = [row for row in table.rows if _is_slow(row, copied) and _divides(row, table)]
    return by_launches(
        rows,
        table,
        f"{times(len(rows), 'kernel divides', 'kernels divide')} integers (// and "
        "%) for each element",
        "compute such indices once and keep them in a buffer, or divide less often",
        None,
    )


def _divides(row: Row, table: CallTable) -> bool:
    return len(_DIVISION.findall(cpp_of(row, table))) >= _DIVISIONS


def cpp_of(row: Row, table: CallTable) -> str:
    """Return the source of a generated C++ kernel; nothing of another, or where it is not known."""
    if table.program is None or row.launch is None or row.kind != "cpp":
        return ""
    code = code_of(table.program, row.launch.kernel)
    return "\n".join(code.lines) if code is not None else ""


def _is_slow(row: Row, copied: float, limit: float = _SLOW) -> bool:
    return row.generated and 0 < row.bytes < limit * copied * row.seconds


def _strided(table: CallTable, copied: float) -> SlowReason | None:
    """Find slow kernels that read a tensor whose last dimension is not the dense one."""
    rows = [row for row in table.rows if _is_slow(row, copied, _STRIDED) and _transposed(row)]
    values = [value for row in rows for value in _transposed(row)]
    called = table.program.names.called if table.program is not None else str
    names = dict.fromkeys(called(value) for value in values)
    return by_launches(
        rows,
        table,
        f"the package is compiled for a strided layout of {', '.join(names)}: the last dimension "
        "is not dense",
        "make them contiguous once, where they are made, and export with that",
        None,
    )


def _transposed(row: Row) -> list[NamedTensor]:
    """Return the inputs and constants whose last dimension has not the smallest stride."""
    found = []
    for argument in row.arguments:
        value = argument.value
        if value is None or value.kind == "buffer" or not value.stride or not value.size:
            continue
        both = zip(value.stride, value.size, strict=False)
        strides = [int(stride) for stride, size in both if stride.isdigit() and size != "1"]
        if len(strides) == len(value.size) and strides[-1] != min(strides):
            found.append(value)
    return found


def _halves(table: CallTable, rates: Mapping[str, float]) -> SlowReason | None:
    """Find products in a dtype that this machine multiplies more slowly than float32."""
    known = [dtype for dtype in rates if dtype in _HALVES and "float32" in rates]
    slow = {dtype: rates[dtype] / rates["float32"] for dtype in known}
    named = [dtype for dtype, ratio in slow.items() if ratio < 0.5]
    rows = [row for row in table.rows if row.flops and row.dtypes & set(named)]
    dtype = next((d for d in named if any(d in row.dtypes for row in rows)), "")
    return by_launches(
        rows,
        table,
        f"{len(rows)} products are computed in {dtype}, which this machine multiplies at "
        f"{slow.get(dtype, 0):.0%} of the speed of float32",
        "keep the model in float32 on this machine",
        1 - slow.get(dtype, 0),
    )
