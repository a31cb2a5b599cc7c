"""Outline what the examinations of a package found; draw what a call holds along its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from pathlib import PurePath

from aoti_debug.examine.answers import (
    ExamineAnswer,
    FirstWrong,
    GraphsAnswer,
    KernelValues,
    MemoryAnswer,
    MemoryRow,
    TensorValues,
    ValuesAnswer,
    WeightsAnswer,
    WeightStep,
)
from aoti_debug.plain import few
from aoti_debug.report.diagnosis import source_item, statistics
from aoti_debug.report.html import Plot, Series, lines_plot
from aoti_debug.report.text import Item, Outline, Section, Tone, following, section, table

Own = tuple[Tone, tuple[str | None, ...], tuple[Section, ...]]  # tone, words, sections
TONES: dict[str | None, Tone] = {
    **dict.fromkeys(("fit", "right"), "fine"),
    **dict.fromkeys(("not fit", "wrong"), "fault"),
    **dict.fromkeys(("depends", "undecided"), "doubt"),
}
NOTES = 4  # of an outline that is dense
ROWS = 12
COLUMNS = ("", "kernel", "argument", "shape", "min", "max", "mean", "NaN", "Inf", "line")
MIB = 1 << 20
PLOTTED = 2
BASE = ("Python and torch", "contexts and other processes")
WEIGHTS = ("weights", "library,")
MOVES = ("intermediate values of a call", "outputs", "workspaces of library calls")  # in a call


def outline_examined(answer: ExamineAnswer) -> Outline:
    """Outline what is an answer's own, then what all of them have."""
    tone, words, sections = _own(answer)
    dense = isinstance(answer, ValuesAnswer)
    return Outline(
        answer.summary or f"no verdict: the run is {answer.status}",
        tone,
        tuple(filter(None, words)),
        (
            *sections,
            section("Guide", answer.guide),
            following(answer.next),
            section("Notes", *answer.notes[: NOTES if dense else None]),
        ),
        foot=f"run {answer.run}",
        dense=dense,
    )


@singledispatch
def _own(answer: ExamineAnswer) -> Own:
    raise NotImplementedError(type(answer))


@_own.register
def _(answer: GraphsAnswer) -> Own:
    count = answer.captures
    sections = (
        section("Tried here", answer.tried),
        section("Against it", *answer.blockers),
        section("Captures", f"{count}, one for each of the sizes seen" if count else None),
        section("To keep to", *answer.rules),
    )
    return TONES.get(answer.graphs, "plain"), (answer.graphs,), sections


@_own.register
def _(answer: WeightsAnswer) -> Own:
    more = answer.findings_count - len(answer.findings)
    safe = Item("this sequence", quote=answer.safe or "", whole=True, language="python")
    listed = [
        Item(
            f"{one.constant or 'outputs'}: {one.reason}",
            "; ".join(filter(None, (f"since {one.since}", one.fix))),
        )
        for one in answer.findings
    ]
    sections = (
        section("Constants", *listed, f"{more} more" if more > 0 else None),
        section("Steps", *map(_step, answer.sequence)),
        section("Compared with", answer.truth),
        section("Under calls", answer.under_calls),
        section("Tried, right", safe if answer.safe else None),
    )
    return TONES.get(answer.update, "plain"), (answer.update,), sections


def _step(one: WeightStep) -> Item:
    outputs = f": outputs {one.outputs}" if one.outputs else ""
    wrong = f"not new: {few(one.wrong, 4)}" if one.wrong else ""
    detail = "; ".join(filter(None, (wrong, one.said)))
    return Item(f"{one.number}. {one.step}{outputs}", detail)


@_own.register
def _(answer: ValuesAnswer) -> Own:
    """Return the launches around the one in question: what each wrote, or all of one alone."""
    every = [line for launch in answer.launches for line in _lines(launch)]
    alone = len({one.kernel for one in answer.launches}) == 1
    written = [cells for cells, wrote in every if alone or wrote]
    shown = table([COLUMNS, *written[:ROWS]], right=range(4, 9))
    what = "read and written" if alone else "written by each launch"
    more = f"{answer.launches_count} launches; all are in the JSON and in the report of the run"
    sections = (
        section("Where", *_where(answer.first)),
        section("Values", Item(what, more, shown, whole=True)),
        section("Reproduction", *answer.kernel_scripts),
    )
    tone: Tone = "fault" if answer.found_fault else "fine" if answer.compared else "plain"
    return tone, (answer.compared, answer.reference), sections


def _where(first: FirstWrong | None) -> list[Item]:
    if first is None:
        return []
    nearest = f"{first.node} ({first.op})" if first.op else first.node or ""
    items = [Item(nearest, "the value of the reference that is nearest")] if nearest else []
    items += [Item(first.inside)] if first.inside else []
    numbers = ", ".join(map(str, first.then))
    items += [Item(f"launch {numbers}", "beside it, may be wrong instead")] if numbers else []
    return [*map(source_item, first.source), *items]


def _lines(launch: KernelValues) -> list[tuple[tuple[str, ...], bool]]:
    """Return a line for each argument, and whether it was written."""
    mark = "<- " + launch.mark if launch.mark else ""
    line = PurePath(launch.line).name[:40] if launch.line else ""
    head = str(launch.number), launch.kernel[:44]
    return [
        ((*head, *_cells(one), (one.written and mark) or line), one.written)
        for one in launch.arguments
    ]


def _cells(one: TensorValues) -> tuple[str, ...]:
    shape = "x".join(map(str, one.shape)) or "scalar"
    return (f"{one.name[:20]}{' =' if one.written else ''}", shape, *statistics(one))


@_own.register
def _(answer: MemoryAnswer) -> Own:
    sections = (
        _table("At the peak", answer.rows),
        _table("In a call", answer.blocks),
        _table("Besides", answer.others),
        section("Fits here", answer.fits),
        section("At the same time", answer.together),
        section("Growth", answer.growth),
        section("In the run", *answer.run_grows),
        section("Would lower it", *answer.lower),
    )
    return "fault" if answer.grows else "plain", (answer.device,), sections


def _table(title: str, rows: Sequence[MemoryRow]) -> Section:
    cells = [
        (f"{one.bytes / MIB:,.1f}", one.owner, one.line or "", one.detail or "") for one in rows
    ]
    return section(title, Item("MiB", quote=table(cells, {0}), whole=True) if rows else None)


def memory_plots(answer: object) -> tuple[Plot, ...]:
    """Plot what is held along the kernels of a call, each line on top of the one below."""
    if not isinstance(answer, MemoryAnswer) or len(answer.curve) < PLOTTED:
        return ()
    stays = [one for one in answer.rows if one.owner not in MOVES]
    floor, lines = 0.0, list[tuple[str, Series]]()
    for name, words in (("torch", BASE), ("and weights", WEIGHTS), ("and what else stays", ("",))):
        own = [one for one in stays if any(word in one.owner for word in words)]
        stays = [one for one in stays if one not in own]
        floor += sum(one.bytes for one in own) / MIB
        lines.append((name, [(at, floor) for at in range(len(answer.curve))]))
    top = [(at, floor + held / MIB) for at, held in enumerate(answer.curve)]
    svg = lines_plot("kernel", "MiB", [*lines, ("and the call", top)])
    return (Plot("Memory along a call", svg, answer.summary or ""),)
