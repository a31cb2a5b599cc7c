"""Outline what a package's kernels read and wrote."""

from __future__ import annotations

from pathlib import PurePath

from aoti_debug.examine.values_answer import KernelValues, TensorValues, ValuesAnswer
from aoti_debug.report.diagnosis import source_item
from aoti_debug.report.text import Item, Outline, Tone, following, section, table

_ROWS = 12
_COLUMNS = ("", "kernel", "argument", "shape", "min", "max", "mean", "NaN", "Inf", "line")


def outline_values(answer: ValuesAnswer) -> Outline:
    """Outline the launches around the one in question: what each wrote, or all of one alone."""
    tone: Tone = "fault" if answer.found_fault else "fine" if answer.compared else "plain"
    every = [line for launch in answer.launches for line in _lines(launch)]
    alone = len({one.kernel for one in answer.launches}) == 1
    written = [line for line in every if alone or line[1]][: _ROWS + 1]
    shown = table([_COLUMNS, *(cells for cells, _ in written[:_ROWS])], right=range(4, 9))
    what = "read and written" if alone else "written by each launch"
    count = answer.launches_count
    more = f"{count} launches; all are in the JSON and in the report of the run"
    first = answer.first
    return Outline(
        answer.summary or answer.status,
        tone,
        tuple(filter(None, (answer.compared, answer.reference))),
        (
            section("Where", *(map(source_item, first.source) if first is not None else ())),
            section("Values", Item(what, more, shown, whole=True)),
            section("Reproduction", *answer.repro_kernel),
            following(answer.next),
            section("Notes", *answer.notes[:4]),
        ),
        foot=f"run {answer.run}",
        dense=True,
    )


def _lines(launch: KernelValues) -> list[tuple[tuple[str, ...], bool]]:
    """Return a line for each argument, and whether it was written."""
    mark = "<- " + launch.mark if launch.mark else ""
    line = mark or (_short(launch.line) if launch.line else "")
    return [
        ((str(launch.number), launch.kernel[:44], *_cells(one), line), one.written)
        for one in launch.arguments
    ]


def _short(line: str) -> str:
    return PurePath(line).name[:40]


def _cells(one: TensorValues) -> tuple[str, ...]:
    numbers = ("" if n is None else f"{n:.4g}" for n in (one.min, one.max, one.mean))
    shape = "x".join(map(str, one.shape)) or "scalar"
    name = f"{one.name[:20]}{' =' if one.written else ''}"
    return (name, shape, *numbers, str(one.nan or ""), str(one.inf or ""))
