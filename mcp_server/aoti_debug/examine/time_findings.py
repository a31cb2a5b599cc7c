"""Put what was measured into an answer: the tables, the reasons, the comparison, the headline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from aoti_debug.examine.answers import (
    CallTime,
    LaunchChange,
    LaunchRow,
    LaunchState,
    SlowReason,
    TimeAgainst,
    TimeFindings,
    TimeTable,
)
from aoti_debug.examine.compile_time import table_of
from aoti_debug.examine.launch_rows import CallTable, Row, call_table
from aoti_debug.examine.reasons import MOST, reasons, trade
from aoti_debug.examine.waste import Place
from aoti_debug.explain.find import Texts
from aoti_debug.package.record import CompiledModel
from aoti_debug.read.timing_report import First, LaunchTime, Load, TimingReport

LISTED = 40  # launches of an answer
CHANGES = 20
_NUMBER = re.compile(r"_\d{1,5}$")
_BEFORE = ("import of torch", "start of CUDA", "torch's modules for packages")
_PARTS = {
    "unzip": "files out of the archive",
    "instruction set": "test of the CPU's vector instructions",
    "dlopen": "library opened (dlopen)",
    "constants": "model made: constants copied or mapped",
    "folding": "constants folded",
}
_FASTER = {
    "instruction set": "TORCHINDUCTOR_CACHE_DIR kept, or TORCHINDUCTOR_VEC_ISA_OK=1",
    "unzip": "TMPDIR on a fast disk, or weights in a file of their own "
    "(aot_inductor.package_constants_on_disk)",
    "constants": "share one loaded package, or give it weights that are on the device already "
    "(load_constants with user_managed=True)",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one process measured, and the packages that it was about."""

    report: TimingReport
    model: CompiledModel | None
    texts: Texts
    slowing: tuple[str, ...] = ()  # variables that are set
    other: tuple[CompiledModel | None, Texts] | None = None
    input_free: frozenset[Place] = frozenset()  # lines of the model
    of_settings: SlowReason | None = None  # that the compile was given
    caller: Place | None = None  # the script's line that makes the call


def findings(
    measured: Measured | None,
    compiles: Sequence[TimeTable],
    against: str | None,
    of_script: Sequence[SlowReason] = (),
) -> TimeFindings:
    """Return where the time goes, with the reasons that a call is slow, or what repeats it."""
    if measured is None:
        said = of_script[0].what if of_script else _of_compiles(compiles)
        return TimeFindings(summary=said, reasons=list(of_script), compiles=list(compiles))
    report = measured.report
    table = call_table(report.call, measured.model, measured.texts, report.inputs)
    settings = [measured.of_settings] if measured.of_settings is not None else []
    seen = reasons(report, table, measured.slowing, measured.input_free, measured.caller)
    found = [*of_script, *settings, *seen][:MOST]
    rates = report.rates or {}
    compared = _against(measured, table, against) if against is not None else None
    return TimeFindings(
        summary=_summary(table, found[0].what if found else None, compared),
        device=report.device_name,
        threads=report.threads,
        processors=report.cores,
        reasons=found,
        trade=trade(report),
        call=_call(report, table),
        load=load_table(report.load, report.first, report.call.launches, table.wall),
        compiles=list(compiles),
        against=compared,
        copy_bytes_s=rates.get("copy"),
        matmul_flops_s=rates.get("float32"),
    )


def _of_compiles(compiles: Sequence[TimeTable]) -> str:
    if not compiles:
        return "nothing was compiled, and no call was captured"
    longest = max(compiles, key=lambda one: one.seconds)
    first = f", of which {longest.rows[0].name} takes {longest.rows[0].share:.0%}"
    return f"a compile takes {longest.seconds:.1f} s{first if longest.rows else ''}"


def _summary(table: CallTable, reason: str | None, against: TimeAgainst | None) -> str:
    takes = f"a call takes {duration(table.wall)}"
    if against is not None:
        low, high = against.spread
        even = low <= 1 <= high or abs(against.ratio - 1) < 0.02
        words = "as long as" if even else f"{1 / against.ratio:.2f} times as long as"
        takes = f"{takes}, {words} {against.what}"
    return f"{takes}: {reason or 'nothing stands out'}"


def duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.2g} us"


def _call(report: TimingReport, table: CallTable) -> CallTime:
    rates = report.rates or {}
    longest = sorted(table.rows, key=lambda row: -row.seconds)[:LISTED]
    around = report.call.around  # among the gaps
    return CallTime(
        seconds=table.wall,
        launches_s=table.launches,
        gaps_s=table.gaps,
        python_s=min(around, table.gaps) if around is not None else None,
        accounted=report.call.accounted,
        overhead_s=median(report.call.watched or [0.0]) - table.wall + report.call.added,
        calls=len(report.call.plain) + len(report.call.watched),
        launches=[_launch(row, table, rates) for row in longest],
        launches_count=len(table.rows),
    )


def _launch(row: Row, table: CallTable, rates: Mapping[str, float]) -> LaunchRow:
    copy = rates.get("copy")
    dtype = next((d for d in ("float64", "bfloat16", "float16") if d in row.dtypes), "float32")
    matmul = rates.get(dtype)
    took = row.seconds or 1e-9
    return LaunchRow(
        number=row.number,
        kernel=row.name,
        seconds=short(row.seconds),
        share=short(row.seconds / table.wall) if table.wall else 0.0,
        bytes=row.bytes or None,
        flops=row.flops or None,
        of_copy=short(row.bytes / took / copy) if row.bytes and copy else None,
        of_matmul=short(row.flops / took / matmul) if row.flops and matmul else None,
        dtypes=sorted(row.dtypes),
        source=row.line,
    )


def short(value: float) -> float:
    """Return four digits of a number: more are noise, and cost a reader."""
    return float(f"{value:.4g}")


def load_table(load: Load, first: First, steady: Sequence[LaunchTime], call_s: float) -> TimeTable:
    """Return what a process spends up to the end of its first call."""
    before = sum(part.seconds for part in load.parts if part.name in _BEFORE)
    extra = max(0.0, first.seconds - call_s)
    whole = before + load.seconds + extra
    parts = [(_PARTS.get(one.name, one.name), one.seconds, _size(one.bytes)) for one in load.parts]
    parts += [(name, took, None) for name, took in _first_work(first, steady, extra)]
    faster = [
        f"{_FASTER[name]}: {_PARTS[name]} takes {duration(part.seconds)}"
        for name in _FASTER
        for part in load.parts
        if part.name == name and part.seconds >= max(0.2 * whole, 0.5)
    ]
    return table_of(whole, parts).model_copy(update={"faster": faster})


def _size(size: int) -> str | None:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else None


def _first_work(
    first: First, steady: Sequence[LaunchTime], extra: float
) -> Iterator[tuple[str, float]]:
    """Yield what the first call does once: by its launches that later ones do faster."""
    later: dict[str, float] = {}
    for one in steady:
        later[one.name] = min(one.seconds, later.get(one.name, one.seconds))
    once: dict[str, float] = {}
    for one in first.launches:
        more = one.seconds - later.get(one.name, 0.0)
        once[one.name] = once.get(one.name, 0.0) + max(0.0, more)
    left = extra
    for name, took in sorted(once.items(), key=lambda pair: -pair[1])[:4]:
        if took > 0.05 * extra:
            left -= took
            yield f"first call: {name}", min(took, extra)
    yield "first call: the rest of what it does once", max(0.0, left)


def _against(measured: Measured, table: CallTable, against: str) -> TimeAgainst | None:
    pairs = measured.report.against
    if pairs is None or not pairs.ours:
        return None
    changes: list[LaunchChange] = []
    if measured.other is not None and measured.report.other is not None:
        theirs = call_table(measured.report.other, *measured.other, measured.report.inputs)
        changes = changed(table, theirs)
    words = {"eager": "the program run eagerly", "compile": "torch.compile of the program"}
    return TimeAgainst(
        what=words.get(against, "the other package"),
        ratio=pairs.ratio,
        spread=pairs.spread,
        pairs=len(pairs.ratios),
        ours_s=median(pairs.ours),
        theirs_s=median(pairs.theirs),
        changes=changes[:CHANGES],
    )


def changed(ours: CallTable, theirs: CallTable) -> list[LaunchChange]:
    """Return how the launches of two packages differ; the differences add up to the calls'."""
    one, other = _by_name(ours), _by_name(theirs)
    rows: list[tuple[LaunchState, str, int, float, float]] = []
    for name in dict.fromkeys([*one, *other]):
        here, there = one.get(name, []), other.get(name, [])
        state: LaunchState = "same" if here and there else "only here" if here else "only there"
        rows.append((state, name, max(len(here), len(there)), sum(here), sum(there)))
    gaps = ours.wall - ours.launches, theirs.wall - theirs.launches
    rows.append(("gaps", "between the launches", len(ours.rows), *gaps))
    rows.sort(key=lambda row: -abs(row[3] - row[4]))
    return [
        LaunchChange(state=state, kernel=name, count=count, ours_s=mine, theirs_s=others)
        for state, name, count, mine, others in rows
    ]


def _by_name(table: CallTable) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in table.rows:
        found.setdefault(_NUMBER.sub("", row.name), []).append(row.seconds)
    return found
