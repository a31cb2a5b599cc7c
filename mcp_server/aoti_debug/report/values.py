"""Outline what a package's kernels read and wrote."""

from __future__ import annotations

from pathlib import PurePath

from aoti_debug.examine.answers import FirstWrong, KernelValues, TensorValues, ValuesAnswer
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
            section("Where", *_where(first)),
            section("Values", Item(what, more, shown, whole=True)),
            section("Reproduction", *answer.kernel_scripts),
            following(answer.next),
            section("Notes", *answer.notes[:4]),
        ),
        foot=f"run {answer.run}",
        dense=True,
    )


def _where(first: FirstWrong | None) -> list[Item]:
    if first is None:
        return []
    nearest = f"{first.node} ({first.op})" if first.op else first.node or ""
    items = [Item(nearest, "the value of the reference that is nearest")] if nearest else []
    numbers = ", ".join(map(str, first.then))
    items += [Item(f"launch {numbers}", "reads it, and may be wrong instead")] if numbers else []
    return [*map(source_item, first.source), *items]


def _lines(launch: KernelValues) -> list[tuple[tuple[str, ...], bool]]:
    """Return a line for each argument, and whether it was written."""
    mark = "<- " + launch.mark if launch.mark else ""
    line = _short(launch.line) if launch.line else ""
    return [
        (
            (str(launch.number), launch.kernel[:44], *_cells(one), (one.written and mark) or line),
            one.written,
        )
        for one in launch.arguments
    ]


def _short(line: str) -> str:
    return PurePath(line).name[:40]


def _cells(one: TensorValues) -> tuple[str, ...]:
    numbers = ("" if n is None else f"{n:.4g}" for n in (one.min, one.max, one.mean))
    shape = "x".join(map(str, one.shape)) or "scalar"
    name = f"{one.name[:20]}{' =' if one.written else ''}"
    return (name, shape, *numbers, str(one.nan or ""), str(one.inf or ""))
