"""Outline the owners of a package's memory, and draw what a call holds along its kernels."""

from __future__ import annotations

from collections.abc import Sequence

from aoti_debug.examine.answers import MemoryAnswer, MemoryRow
from aoti_debug.report.html import Plot, Series, lines_plot
from aoti_debug.report.text import Item, Outline, Section, section, table

MIB = 1 << 20
PLOTTED = 2
BASE = ("Python and torch", "contexts and other processes")
WEIGHTS = ("weights", "library,")
MOVES = ("intermediate values of a call", "outputs", "workspaces of library calls")  # in a call


def outline_memory(answer: MemoryAnswer) -> Outline:
    """Outline the peak's owners, the blocks of a call, what is besides, what would lower it."""
    return Outline(
        answer.summary or f"nothing was measured: the run is {answer.status}",
        "fault" if answer.grows else "plain",
        tuple(filter(None, (answer.device,))),
        (
            _table("At the peak", answer.rows),
            _table("In a call", answer.blocks),
            _table("Besides", answer.others),
            section("Fits here", answer.fits),
            section("At the same time", answer.together),
            section("Growth", answer.growth),
            section("In the run", *answer.run_grows),
            section("Would lower it", *answer.lower),
            section("Guide", answer.guide),
            section("Notes", *answer.notes),
        ),
        foot=f"run {answer.run}",
    )


def _table(title: str, rows: Sequence[MemoryRow]) -> Section:
    if not rows:
        return section(title)
    cells = [
        (f"{one.bytes / MIB:,.1f}", one.owner, one.line or "", one.detail or "") for one in rows
    ]
    return section(title, Item("MiB", quote=table(cells, {0}), whole=True))


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
