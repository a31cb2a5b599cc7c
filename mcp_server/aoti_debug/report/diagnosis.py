"""Outline a diagnosis: what, where, why, how it is known, what to do, also as a command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aoti_debug.model import (
    DiagnoseAnswer,
    Diagnosis,
    Evidence,
    Fault,
    Fix,
    InputFinding,
    Kernel,
    SourceLine,
    ValueRow,
)
from aoti_debug.plain import times, window
from aoti_debug.report.text import (
    Item,
    Outline,
    Section,
    Tone,
    extended,
    following,
    section,
    table,
)

if TYPE_CHECKING:
    from aoti_debug.answers import ExplainAnswer
    from aoti_debug.examine.answers import TensorValues

_COLUMNS = ("node", "min", "max", "mean", "nan", "inf", "")
_TABLE_ROWS = 14


def slice_section(lines: Sequence[str]) -> Section:
    quote = "\n".join(lines)
    made = Item("how the index is made", quote=quote, whole=True, language="python")
    return section("Slice", made if lines else None)


def values_section(rows: Sequence[ValueRow]) -> Section:
    if not rows:
        return Section("Values", ())
    marked = next((n for n, row in enumerate(rows) if row.mark), 0)
    shown = rows[window(marked, len(rows), _TABLE_ROWS)]
    lines = table([_COLUMNS, *map(_cells, shown)], right=range(1, 6))
    more = f"{len(rows) - len(shown)} more in the JSON" if len(rows) > len(shown) else ""
    return section("Values", Item("along the model", more, lines, whole=True))


def _cells(row: ValueRow) -> tuple[str, ...]:
    return (row.node[:32], *statistics(row), f"<- {row.mark}" if row.mark else "")


def statistics(row: ValueRow | TensorValues) -> tuple[str, ...]:
    """Return the cells of min, max, mean, NaN and Inf."""
    numbers = ("" if n is None else f"{n:.4g}" for n in (row.min, row.max, row.mean))
    return (*numbers, str(row.nan or ""), str(row.inf or ""))


def where_section(found: Diagnosis | ExplainAnswer, own: Item | None) -> Section:
    ops = Item(", ".join(found.ops), "operators") if found.ops else None
    return section("Where", *map(source_item, found.source), own, _kernel_item(found.kernel), ops)


def outline_diagnosis(diagnosis: Diagnosis) -> Outline:
    return Outline(
        headline=diagnosis.summary,
        tone=tone_of(diagnosis),
        tags=tags_of(diagnosis),
        sections=(
            where_section(diagnosis, Item(diagnosis.calls, "calls") if diagnosis.calls else None),
            section("Why", input_item(diagnosis.input), _fault(diagnosis.fault), diagnosis.means),
            slice_section(diagnosis.slice),
            values_section(diagnosis.values),
            section("Because", *(f"{one.experiment}: {one.result}" for one in diagnosis.because)),
            section("Evidence", *map(_evidence, diagnosis.evidence)),
            section("Not the cause", *diagnosis.also_true, *diagnosis.misleading),
            section("Fix", *map(fix_item, diagnosis.fixes)),
            following(diagnosis.next),
            section("Guide", diagnosis.guide),
        ),
        foot=_foot(diagnosis),
    )


def outline_log(answer: DiagnoseAnswer) -> Outline:
    main = Outline(f"no known failure in these {answer.lines} lines", "doubt")
    for best in answer.diagnoses[:1]:
        main = outline_diagnosis(best)
    others = section("Also possible", *map(brief, answer.diagnoses[1:]))
    return extended(main, others, section("Notes", *answer.notes))


def brief(diagnosis: Diagnosis) -> Item:
    return Item(diagnosis.summary, " · ".join(tags_of(diagnosis)))


def tone_of(diagnosis: Diagnosis) -> Tone:
    if not diagnosis.found_fault:
        return "fine"
    return "doubt" if diagnosis.confidence == "possible" else "fault"


def tags_of(diagnosis: Diagnosis) -> tuple[str, ...]:
    phase = f"phase {diagnosis.phase.replace('_', ' ')}"
    tags = (diagnosis.category.replace("_", " "), diagnosis.confidence, phase)
    return tags if diagnosis.phase != "none" else tags[:2]


def fix_item(fix: Fix) -> Item:
    what = f"{fix.what} ({fix.where})" if fix.where else fix.what
    if fix.verdict is not None:
        what += f": {fix.verdict}"
    return Item(what, fix.why or "", fix.patch or "", whole=fix.patch is not None)


def source_item(line: SourceLine) -> Item:
    return Item(f"{line.file}:{line.line}", "your code", line.text or "")


def _kernel_item(kernel: Kernel | None) -> Item | None:
    if kernel is None:
        return None
    text = f"kernel {kernel.name}"
    if kernel.launch is not None:
        text += f", launch {kernel.launch}"
    place = f"{kernel.file}:{kernel.line}" if kernel.file and kernel.line else kernel.file or ""
    detail = ", ".join(part for part in (kernel.kind or "", place) if part)
    return Item(text, detail, kernel.text or "")


def input_item(found: InputFinding | None) -> Item | None:
    if found is None:
        return None
    name = f" {found.name}" if found.name else ""
    dim = f" of dimension {found.dim}" if found.dim is not None else ""
    text = f"input {found.index}{name}: {found.property}{dim}"
    if found.expected is not None:
        text += f" expected {found.expected}"
    if found.got is not None:
        text += f", got {found.got}" if found.expected is not None else f" is {found.got}"
    return Item(text)


def _fault(fault: Fault | None) -> Item | None:
    if fault is None:
        return None
    access = {"assert": "assertion in the kernel"}.get(fault.access or "", fault.access)
    beside = "before" if fault.side == "before" else "past"
    parts = [
        " of ".join(part for part in (access, _bytes(fault.size)) if part),
        f"at {fault.address}" if fault.address else "",
        f"{_bytes(fault.distance)} {beside} the nearest allocation" if fault.distance else "",
        f"of size {_bytes(fault.allocation)}" if fault.allocation else "",
        f"block {fault.block}" if fault.block else "",
        f"thread {fault.thread}" if fault.thread else "",
        f"ended by {fault.signal}" if fault.signal else "",
    ]
    text = ", ".join(part for part in parts if part)
    return Item(text, quote=memory_strip(fault), whole=True) if text else None


_STRIP = 60  # characters


def memory_strip(fault: Fault) -> str:
    """Draw the nearest allocation and the access, to scale where that can be seen."""
    size, begin = fault.allocation, _address(fault.allocated_at)
    at = _address(fault.address)
    if not size or begin is None or at is None:
        return ""
    first, last = min(begin, at), max(begin + size, at + (fault.size or 1))
    scale = (last - first) / _STRIP
    left, right = int((begin - first) / scale), int((begin + size - first) / scale)
    place = min(_STRIP - 1, int((at - first) / scale))
    left, right = min(left, _STRIP - 1), max(right, left + 1)
    if at >= begin + size:  # beside it, however near
        right = max(1, min(right, _STRIP - 1))
        place = max(place, right)
    elif at < begin:
        left = max(left, place + 1)
        right = max(right, left + 1)
    cells = ["#" if left <= n < right else "." for n in range(max(_STRIP, right))]
    cells[place] = "X"
    offset = at - begin
    access = f"{fault.access or 'access'} of {_bytes(fault.size) or '?'}"
    return (
        f"{''.join(cells)}\n# {size:,} bytes allocated at {fault.allocated_at}\n"
        f"X {access} at {fault.address}, offset {offset:+,}"
    )


def _address(text: str | None) -> int | None:
    try:
        return int(text, 16) if text else None
    except ValueError:
        return None


def _evidence(evidence: Evidence) -> Item:
    place = evidence.artifact
    if evidence.lines is not None:
        first, last = evidence.lines
        place += f":{first}" if first == last else f":{first}-{last}"
    return Item(place, quote=evidence.quote)


def _foot(diagnosis: Diagnosis) -> str:
    parts = [f"run {diagnosis.run}"] if diagnosis.run else []
    if (cost := diagnosis.cost) is not None:
        parts.append(times(cost.process_runs, "process", "processes"))
        parts += [times(cost.recompiles, "recompile"), f"{cost.wall_s:.1f} s"]
        parts += [f"{cost.gpu_s:.1f} s of GPU"] if cost.gpu_s is not None else []
    return " · ".join(parts)


def _bytes(number: int | None) -> str | None:
    return None if number is None else times(number, "byte")
