"""Why a call is slow: what was tried in pairs, and what its launches cost."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from aoti_debug.examine.answers import SlowReason
from aoti_debug.examine.launch_rows import CallTable, Row
from aoti_debug.examine.waste import Place, by_launches, costliest, cpp_of, waste
from aoti_debug.model import source_of
from aoti_debug.plain import times
from aoti_debug.read.timing_report import Pairs, TimingReport, Wait

LEAST = 0.1  # of a call: what is less is no reason
_TINY_S, _MANY = 10e-6, 150  # launches
# Of a call: what a busy machine, or any small model, shows as well is less.
_LEAST = {"one thread": 0.25, "graph": 0.25, "rows": 0.5}
_LAUNCHES = 50  # fewer need no graph
_IDLE = 0.8  # of the threads had a processor each
_UNTRIED = 0.15  # of a call, of what was not tried: an expectation errs
MOST = 3
_NAME = re.compile(r"(?:triton_[a-z]{3}|cpp)_fused_(\w{0,300}?)_?\d{0,5}$")
_LAYOUT = re.compile(
    r"(?:_?(?:clone|transpose|permute|_unsafe_view|view|contiguous|copy|expand|t|reshape|squeeze"
    r"|unsqueeze|convolution|as_strided|unfold))+"
)
_BAKED = re.compile(r"num_threads\((\d{1,4})\)")
_TRIED = {
    "threads": (
        "the call uses {threads} of {cores} processors",
        "torch.set_num_threads({cores}), or OMP_NUM_THREADS={cores}",
    ),
    "one thread": (
        "{threads} threads are slower than one",
        "torch.set_num_threads(1), or OMP_NUM_THREADS=1",
    ),
    "denormals": (
        "values are so small that the processor needs many cycles for each (denormal numbers)",
        "torch.set_flush_denormal(True)",
    ),
    "aligned": (
        "an input begins at an address that is no multiple of 64",
        "give tensors that have memory of their own (clone the view)",
    ),
    "without variables": (
        "debugging variables are set: {variables}",
        "unset {variables}",
    ),
    "padding": (
        "{padding}",
        "pad a batch to its own longest row",
    ),
    "rows": (
        "each call is given one row",
        "collect rows, and give several to one call: 8 were tried",
    ),
    "graph": (
        "the GPU waits for launches",
        "capture the call as a CUDA graph",
    ),
}


def reasons(
    report: TimingReport,
    table: CallTable,
    variables: Sequence[str] = (),
    input_free: Collection[Place] = (),
    caller: Place | None = None,
) -> list[SlowReason]:
    """Return the most costly reasons; `caller` is the script's line that makes the call."""
    found = [*_tried(report, variables, caller), *_seen(report, table, input_free)]
    found.sort(key=lambda reason: -(reason.gain or reason.share))
    return found[:MOST]


def _tried(
    report: TimingReport, variables: Sequence[str], caller: Place | None
) -> Iterator[SlowReason]:
    """Yield what became faster by a tenth in the middle of all pairs, and faster in most."""
    words = {
        "threads": report.threads,
        "cores": report.cores,
        "variables": ", ".join(variables),
        "padding": report.padding or "",
    }
    for trial in report.trials:
        gain = 1 - trial.pairs.ratio
        few = trial.name == "graph" and len(report.call.launches) < _LAUNCHES
        busy = trial.name in ("one thread", "threads") and _is_busy(report)
        if trial.name not in _TRIED or few or busy or 1 - trial.pairs.twice < LEAST / 2:
            continue
        if gain < _LEAST.get(trial.name, LEAST) or trial.pairs.spread[1] >= 1:
            continue
        what, change = (text.format(**words) for text in _TRIED[trial.name])
        yield SlowReason(
            what=what,
            cost_s=gain * report.call.wall,
            share=gain,
            change=change,
            gain=gain,
            tried=pairs_said(trial.pairs),
            source=next(iter(source_of(caller if trial.name == "rows" else None)), None),
        )


def _is_busy(report: TimingReport) -> bool:
    """Tell whether others used the processors that threads were tried on."""
    had = (report.rates or {}).get("processors")
    return had is not None and had < _IDLE * min(report.threads or 1, report.cores or 1)


def trade(report: TimingReport) -> str | None:
    """Say what becomes faster only because it is less precise; that is no reason."""
    trial = next((one for one in report.trials if one.name == "tf32"), None)
    if trial is None or trial.pairs.ratio > 1 - LEAST or trial.pairs.spread[1] >= 1:
        return None
    change = 'torch.set_float32_matmul_precision("high"), which is less precise'
    return f"products of float32 do not use TF32: {change}, was tried in {pairs_said(trial.pairs)}"


def pairs_said(pairs: Pairs) -> str:
    low, high = pairs.spread
    count = len(pairs.ratios)
    return f"{count} pairs: {pairs.ratio:.2f} of the time, half of them {low:.2f} to {high:.2f}"


def _seen(
    report: TimingReport, table: CallTable, input_free: Collection[Place]
) -> Iterator[SlowReason]:
    for found in (
        _operators(table),
        _wide(table),
        _layouts(table),
        _chains(report, table),
        _waits(report.call.waits, table),
        _tiny(table),
        _built(table),
        _threads(report, table),
        _padding(report, table),
        *waste(table, input_free, report.rates or {}),
    ):
        if found is not None and table.wall and (found.gain or found.share) >= _UNTRIED:
            yield found


def _operators(table: CallTable) -> SlowReason | None:
    rows = [row for row in table.rows if row.kind == "custom_op"]
    names = ", ".join(dict.fromkeys(row.name for row in rows))
    return by_launches(
        rows,
        table,
        f"{times(len(rows), 'call')} of {names} through the proxy executor",
        "write it with operators of torch or as a Triton kernel, so that it is compiled",
        None,
    )


def _wide(table: CallTable) -> SlowReason | None:
    rows = [row for row in table.rows if "float64" in row.dtypes and _in_double(row, table)]
    names = dict.fromkeys(
        a.value.name
        for row in rows
        for a in row.arguments
        if a.value and a.value.dtype == "float64" and a.kind in ("constant", "input")
    )
    of = f" ({', '.join([*names][:4])})" if names else ""
    return by_launches(
        rows,
        table,
        f"{len(rows)} of {len(table.rows)} launches compute in float64{of}",
        "keep the model and its constants in float32",
        0.5,
    )


def _in_double(row: Row, table: CallTable) -> bool:
    """Tell whether more than a few numbers of a kernel are float64, where its source shows that."""
    text = cpp_of(row, table)
    return 2 * text.count("double") >= text.count("float")


def _layouts(table: CallTable) -> SlowReason | None:
    rows = [row for row in table.rows if is_layout(row.name)]
    return by_launches(
        rows,
        table,
        f"{len(rows)} launches only change a memory layout",
        "give inputs and weights in the layout that the operators want (channels_last for "
        "convolutions), and export with such inputs",
    )


def is_layout(kernel: str) -> bool:
    """Tell whether a generated kernel only moves values, by the operators in its name."""
    named = _NAME.match(kernel)
    return named is not None and _LAYOUT.fullmatch(named[1]) is not None


def _chains(report: TimingReport, table: CallTable) -> SlowReason | None:
    """Find pointwise kernels that read what the one before has just written, of the same size."""
    copied = (report.rates or {}).get("copy", 0.0)
    chained: list[Row] = []
    moved = 0
    for one, following in zip(table.rows, table.rows[1:], strict=False):
        written = {value.name for value in one.written}
        read = [a.value for a in following.arguments if a.value and a.direction in ("in", "in_out")]
        alike = is_pointwise(one) and is_pointwise(following) and _size(one) == _size(following)
        if alike and copied and any(value.name in written for value in read):
            chained.append(following)
            moved += min(one.bytes, following.bytes)
    if len(chained) < 2:
        return None
    gain = min(0.9, moved / copied / table.wall) if table.wall else 0.0
    found = by_launches(
        chained,
        table,
        f"{len(chained)} kernels read what the kernel before has just written: they are not fused",
        "take away what keeps them apart (a setting such as max_fusion_size, a custom operator, a "
        "view to another dtype between them)",
    )
    return found.model_copy(update={"gain": gain}) if found is not None else None


_REDUCES = re.compile(
    r"(?:^|_)(?:sum|mean|softmax|a?max|a?min|norm|var|std|argm\w\w|cumsum|cumprod|any|all|prod|sort|pool\w*)(?:_|$)"
)


def is_pointwise(row: Row) -> bool:
    named = _NAME.match(row.name)
    return row.generated and named is not None and _REDUCES.search(named[1]) is None


def _size(row: Row) -> tuple[str, ...] | None:
    """Return the size of what a kernel writes first."""
    return next((value.size for value in row.written), None)


def _waits(waits: Sequence[Wait], table: CallTable) -> SlowReason | None:
    if not waits or not table.wall:
        return None
    idle = sum(row.gap for row in table.rows[1:])
    cost = min(sum(wait.seconds for wait in waits), idle)
    names = ", ".join(dict.fromkeys(wait.name for wait in waits))
    return SlowReason(
        what=f"the host waits for the GPU {len(waits)} times within a call ({names})",
        cost_s=cost,
        share=cost / table.wall,
        change="take values from the GPU after the call (.item(), copies to the CPU, nonzero)",
        gain=idle / table.wall,
    )


def _tiny(table: CallTable) -> SlowReason | None:
    tiny = [row for row in table.rows if row.seconds < _TINY_S]
    cost = table.wall - sum(row.seconds for row in table.rows if row.seconds >= _TINY_S)
    if len(tiny) < _MANY or not table.wall or cost < 0.6 * table.wall:
        return None
    return SlowReason(
        what=f"{len(tiny)} of {len(table.rows)} launches take less than {_TINY_S * 1e6:.0f} us "
        "each: what surrounds them costs as much",
        cost_s=cost,
        share=min(1.0, cost / table.wall),
        change="larger batches, or fewer and larger operators",
        source=costliest(tiny),
    )


def _built(table: CallTable) -> SlowReason | None:
    program = table.program
    if program is None or program.model.wrapper is None:
        return None
    rows = [row for row in table.rows if row.kind == "cpp"]
    last = [line for line in program.texts.cpp[-12:] if line.startswith("//")]
    if any(re.search(r" -O0\b", line) for line in last):
        return by_launches(
            rows,
            table,
            "the kernels were compiled without optimization (-O0)",
            "compile again without AOT_INDUCTOR_DEBUG_COMPILE",
            None,
        )
    if program.model.wrapper.printer:
        return SlowReason(
            what="the package prints or saves the values of its tensors",
            cost_s=table.gaps,
            share=table.gaps / table.wall if table.wall else 0.0,
            change="compile again without AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER",
        )
    return None


def _padding(report: TimingReport, table: CallTable) -> SlowReason | None:
    """Return padding that could not be left out for a try: the package is compiled for one size."""
    if report.padded is None or any(trial.name == "padding" for trial in report.trials):
        return None
    return SlowReason(
        what=report.padding or "",
        cost_s=report.padded * table.wall,
        share=report.padded,
        change="export for the length that is used, or with a dynamic one, and pad no further",
    )


def _threads(report: TimingReport, table: CallTable) -> SlowReason | None:
    """Find kernels that were compiled for fewer threads than the process uses."""
    program, threads = table.program, report.threads or 1
    if program is None or report.device != "cpu" or threads < 2:
        return None
    baked = [int(n) for line in program.texts.cpp for n in _BAKED.findall(line)]
    if not baked and any("omp parallel" in line for line in program.texts.cpp):
        return None  # as many as the process has
    used = max(baked, default=1)
    if used >= threads:
        return None
    rows = [row for row in table.rows if row.kind == "cpp"]
    return by_launches(
        [row for row in rows if row.processors <= 1.2 * used * row.seconds],
        table,
        f"the kernels were compiled for {used} of the {threads} threads of this process",
        f"compile with torch.set_num_threads({threads}), or TORCHINDUCTOR_CPP_DYNAMIC_THREADS=1",
        1 - used / threads,
    )
