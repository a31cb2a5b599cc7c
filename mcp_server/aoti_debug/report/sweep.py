"""Outline a sweep, and draw it as one page: buckets, time by phase, memory, earlier sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aoti_debug.plain import times
from aoti_debug.report.html import Plot, bars_plot, dots_plot, html, lines_plot
from aoti_debug.report.text import Item, Outline, Tone, following, section
from aoti_debug.sweep.answer import Bucket, SweepAnswer
from aoti_debug.sweep.row import rows_of

BARS = 25
POINTS = 2_000
SHOWN = 12  # buckets in a terminal
TONES: dict[str | None, Tone] = {"good": "fine", "bad": "fault", "undecided": "doubt"}


def outline_sweep(answer: SweepAnswer) -> Outline:
    if answer.plan:
        planned = (section("Targets", *answer.plan), section("Notes", *answer.notes))
        headline = f"{answer.name}: {answer.targets:,} targets would be run"
        return Outline(headline, sections=planned)
    counts = (
        f"{answer.ok:,} good",
        f"{answer.failed:,} failed",
        f"{answer.errors:,} could not be run" if answer.errors else "",
        f"{answer.flaky_targets:,} flaky" if answer.flaky_targets else "",
    )
    left = answer.targets - answer.finished
    headline = f"{answer.name or 'sweep'}: {', '.join(filter(None, counts))}"
    if left:
        headline += f", {left:,} not run yet"
    more = len(answer.buckets) - SHOWN
    return Outline(
        headline,
        TONES.get(answer.result, "plain"),
        tuple(filter(None, (answer.result, answer.reason))),
        (
            section(
                "Buckets",
                *map(bucket_item, answer.buckets[:SHOWN]),
                Item(f"{more} more", "in buckets.jsonl") if more > 0 else None,
            ),
            section("Gone", *map(bucket_item, answer.gone[:SHOWN])),
            section("Files", *answer.files),
            following(answer.next),
            section("Notes", *answer.notes),
        ),
        foot=f"run {answer.run}",
    )


def bucket_item(bucket: Bucket) -> Item:
    """Return a bucket in two lines: how many and what, then where it is seen."""
    state = f"{bucket.state}, " if bucket.state else ""
    targets = times(bucket.targets, "target")
    text = f"{bucket.id}: {targets}, {state}{bucket.category or 'not run'}"
    known = [bucket.confidence, f"since {bucket.since}" if bucket.since else None, bucket.flaky]
    first = [f"first: {bucket.first}", bucket.run]
    smallest = [f"smallest: {bucket.smallest}", bucket.smallest_run] if bucket.smallest else []
    lines = [bucket.summary, bucket.place, ", ".join(filter(None, (*first, *smallest)))]
    detail = ", ".join(filter(None, known))
    return Item(text, detail, "\n".join(filter(None, lines)), whole=True)


def page(answer: SweepAnswer, ledger: Path, earlier: list[Path]) -> str:
    return html(outline_sweep(answer), plots=tuple(_plots(answer, ledger, earlier)))


def _plots(answer: SweepAnswer, ledger: Path, earlier: list[Path]) -> Iterator[Plot]:
    bars = [(f"{b.id} {b.category or 'not run'}", float(b.targets)) for b in answer.buckets[:BARS]]
    if bars:
        yield Plot("Failures by bucket", bars_plot("targets", bars), "targets in each bucket")
    phases: dict[str, float] = {}
    memory: list[tuple[float, float]] = []
    every = max(1, answer.finished // POINTS)
    for row in rows_of(ledger):
        for name, seconds in row.phases.items():
            phases[name] = phases.get(name, 0.0) + seconds
        used = row.gpu_memory or row.memory
        if used is not None and row.index % every == 0:
            memory.append((float(row.index), used / 2**20))
    slow = sorted(phases.items(), key=lambda pair: -pair[1])[:BARS]
    if slow:
        note = "seconds of all targets together; phases lie within the script's own time"
        yield Plot("Time by phase", bars_plot("seconds", slow), note)
    if len(memory) > 1:
        plot = dots_plot("target", "MiB", memory)
        yield Plot("Memory by target", plot, "peak of the target's processes, or of its GPUs")
    yield from _history([*earlier, ledger])


def _history(paths: list[Path]) -> Iterator[Plot]:
    sweeps = [[row.outcome == "ok" for row in rows_of(path)] for path in paths[-20:]]
    good = [(float(number), float(sum(one))) for number, one in enumerate(sweeps, 1)]
    bad = [(float(number), float(len(one) - sum(one))) for number, one in enumerate(sweeps, 1)]
    if len(good) > 1:
        plot = lines_plot("sweep", "targets", (("good", good), ("not good", bad)))
        yield Plot("Earlier sweeps", plot, "of this name on this machine; the last is this one")
