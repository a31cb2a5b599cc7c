"""Outline where the time goes; draw a call by the model's lines, with a table of its launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import PurePath

from aoti_debug.answers import StageAnswer
from aoti_debug.examine.answers import (
    CallTime,
    LaunchRow,
    SlowReason,
    TimeAgainst,
    TimeFindings,
    TimeTable,
)
from aoti_debug.examine.time_findings import duration
from aoti_debug.model import SourceLine
from aoti_debug.plain import one_line
from aoti_debug.report.html import COLOURS, WIDTH, Plot
from aoti_debug.report.text import Item, Outline, Section, Tone, section, table

LAUNCHES, PARTS, CHANGES, NOTES = 6, 5, 4, 2
KERNEL = 44  # letters of a kernel's name in a terminal
BOXES = 12


def outline_time(answer: StageAnswer, found: TimeFindings) -> Outline:
    used = f"{found.threads} of {found.processors} processors" if found.threads else ""
    tone: Tone = "doubt" if found.reasons else "fine" if found.call is not None else "plain"
    return Outline(
        found.summary,
        tone,
        tuple(filter(None, (found.device, used, answer.exit))),
        (
            section("Why", *map(_reason, found.reasons)),
            _call(found.call),
            section("Load", *_parts(found.load, "up to the end of the first call")),
            *(section("Compile", *_parts(one, "")) for one in found.compiles[:1]),
            _against(found.against),
            section(
                "Notes", *[one for one in (answer.why, found.trade, *answer.notes) if one][:NOTES]
            ),
        ),
        foot=f"run {answer.run}",
        dense=True,
    )


def _reason(reason: SlowReason) -> Item:
    gain = f", {reason.gain:.0%} less" if reason.gain is not None else ""
    where = f" at {place(reason.source)}" if reason.source is not None else ""
    how = f" ({reason.tried})" if reason.tried else " (not tried)"
    text = f"{reason.what}{where}: {duration(reason.cost_s)}, {reason.share:.0%}"
    return Item(text, f"{reason.change}{gain}{how}")


def place(source: SourceLine | None) -> str:
    return f"{PurePath(source.file).name}:{source.line}" if source is not None else ""


def _call(call: CallTime | None) -> Section:
    if call is None:
        return section("Call")
    rows: list[tuple[str, ...]] = [("", "launch", "time", "share", "of copy", "of matmul", "line")]
    rows += [_row(one) for one in call.launches[:LAUNCHES]]
    left = call.launches_count - LAUNCHES
    said = (
        f"{call.launches_count} launches {duration(call.launches_s)}, between them "
        f"{duration(call.gaps_s)}: {call.accounted:.0%} of {duration(call.seconds)}"
    )
    python = f"; in Python {duration(call.python_s)}" if call.python_s is not None else ""
    seen = f"median of {call.calls} calls; to see them adds {duration(max(0.0, call.overhead_s))}"
    more = f"{left} more launches; " if left > 0 else ""
    quote = table(rows, right=(0, 2, 3, 4, 5))
    return section("Call", Item(said + python, more + seen, quote=quote, whole=True))


def _row(one: LaunchRow) -> tuple[str, ...]:
    kernel = one.kernel if len(one.kernel) <= KERNEL else one.kernel[: KERNEL - 1] + "…"
    rates = (f"{rate:.0%}" if rate is not None else "" for rate in (one.of_copy, one.of_matmul))
    share = f"{one.share:.1%}"
    return (str(one.number), kernel, duration(one.seconds), share, *rates, place(one.source))


def _parts(found: TimeTable | None, until: str) -> Iterator[Item]:
    if found is None or not found.rows:
        return
    longest = ", ".join(
        f"{part.name} {duration(part.seconds)} ({part.share:.0%})" for part in found.rows[:PARTS]
    )
    more = f", and {len(found.rows) - PARTS} more" if len(found.rows) > PARTS else ""
    whole = f"{duration(found.seconds)} {until}".strip()
    yield Item(f"{whole}, {found.named:.0%} named: {longest}{more}")
    yield from (Item(one) for one in found.faster[:2])


def _against(found: TimeAgainst | None) -> Section:
    if found is None:
        return section("Against")
    low, high = found.spread
    said = (
        f"{found.what}: {duration(found.theirs_s)} against {duration(found.ours_s)}; {found.pairs} "
        f"pairs, {found.ratio:.2f} of our time, half of them {low:.2f} to {high:.2f}"
    )
    rows = [
        (
            one.state,
            f"{one.count} x",
            one.kernel[:KERNEL],
            duration(one.ours_s),
            duration(one.theirs_s),
        )
        for one in found.changes[:CHANGES]
    ]
    quote = table([("", "", "launch", "ours", "theirs"), *rows], right=(1, 3, 4)) if rows else ""
    return section("Against", Item(said, quote=quote, whole=True))


def time_plots(found: TimeFindings | None) -> tuple[Plot, ...]:
    """Draw a call as a bar of the model's lines, and its launches as a table to sort."""
    if found is None or found.call is None or not found.call.launches:
        return ()
    bar = Plot("A call by the lines of the model", _bar(found.call), duration(found.call.seconds))
    listed = f"the longest {len(found.call.launches)} of {found.call.launches_count}"
    return bar, Plot("Launches", _table(found.call.launches), f"{listed}; sort by a column's head")


def _bar(call: CallTime) -> str:
    lines: dict[str, float] = {}
    for one in call.launches:
        at = place(one.source) or one.kernel
        lines[at] = lines.get(at, 0.0) + one.seconds
    longest = sorted(lines.items(), key=lambda pair: -pair[1])[:BOXES]
    other = max(0.0, call.launches_s - sum(seconds for _, seconds in longest))
    parts = [*longest, ("other launches", other), ("between launches", call.gaps_s)]
    whole = sum(seconds for _, seconds in parts) or 1.0
    boxes: list[str] = []
    left = 0.0
    for number, (name, seconds) in enumerate(parts):
        width = WIDTH * seconds / whole
        grey = number >= len(longest)
        colour = "#8a94a6" if grey else COLOURS[number % len(COLOURS)]
        said = escape(one_line(f"{name}: {duration(seconds)}, {seconds / whole:.0%}"))
        boxes.append(
            f'<rect x="{left:.1f}" y="4" width="{max(0.0, width - 1):.1f}" height="34" '
            f'fill="{colour}"><title>{said}</title></rect>'
        )
        if width > 90:
            boxes.append(
                f'<text x="{left + width / 2:.1f}" y="26" text-anchor="middle" fill="#fff">'
                f"{escape(one_line(name))[: int(width / 8)]}</text>"
            )
        left += width
    return (
        f'<svg viewBox="0 0 {WIDTH} 42" font-size="13" font-family="inherit">{"".join(boxes)}</svg>'
    )


def _table(launches: Sequence[LaunchRow]) -> str:
    head = ("number", "launch", "us", "share", "MB", "MFLOP", "of copy", "of matmul", "line")
    rows = (
        (
            str(one.number),
            one.kernel,
            f"{one.seconds * 1e6:.1f}",
            f"{one.share:.4f}",
            *(f"{value / 1e6:.2f}" if value else "" for value in (one.bytes, one.flops)),
            *(f"{rate:.3f}" if rate is not None else "" for rate in (one.of_copy, one.of_matmul)),
            place(one.source),
        )
        for one in launches
    )
    titles = "".join(f"<th>{one}</th>" for one in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(one_line(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f'<table class="sorted"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'
