"""Candidates from what calls cost: the script complains of their time, or of memory that grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import at_place
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, headline
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Fix, source_of
from aoti_debug.symptom import complains_of_memory, complains_of_time

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Held
    from aoti_debug.record.run_seen import RunSeen

SLOW = Kind("performance", "run", Tier.RAISED, "guides/memory-and-time.md#slow-model")
GROWS = replace(SLOW, guide="guides/memory-and-time.md#memory-that-grows")
MIB = 1 << 20
LEAST = 4 * MIB  # of outputs that are held
FIXES = {
    "outputs": "keep what is needed of an output (a number, a row's copy), or bound the container",
    "packages": "load the package once and keep it, with num_runners for several threads",
}


def candidates(observations: Observations) -> Iterator[Candidate]:
    yield from of_time(observations)
    yield from of_memory(observations)


def of_time(observations: Observations) -> Iterator[Candidate]:
    """Yield where the time goes, if the script complains of how long calls took."""
    exception = complains_of_time(observations)
    if exception is None:
        return
    timed = observations.timed
    reasons = timed.reasons if timed is not None else []
    said = timed.summary if timed is not None else "the script complains of how long calls took"
    frame = exception.frames[-1] if exception.frames else None
    where = [reason.source for reason in reasons if reason.source is not None]
    yield SLOW.found(
        headline(said),
        exception.span,
        confidence="likely" if reasons else "possible",
        means=f"the check: {frame.text}" if frame is not None and frame.text else None,
        source=where[:1] or observations.caller,
        fixes=[Fix(what=reason.change, why=reason.tried or reason.what) for reason in reasons],
    )


def of_memory(observations: Observations) -> Iterator[Candidate]:
    """Yield what holds memory, if the script complains of how much it takes."""
    exception = complains_of_memory(observations)
    if exception is None or not (found := holding(observations.run)):
        return
    one = found[-1]
    yield GROWS.found(
        headline(holder(one)),
        one.span,
        exception.span,
        means=grown(one) or None,
        source=source_of(one.caller),
        fixes=[Fix(what=fix(one))],
    )


def also_true(observations: Observations) -> list[str]:
    """Say what holds memory, where nothing complains of it."""
    if complains_of_memory(observations) is not None:
        return []
    return [said(one) for one in holding(observations.run)]


def said(one: Held) -> str:
    return "; ".join(filter(None, (holder(one), grown(one), fix(one))))


def fix(one: Held) -> str:
    if one.kind == "Tensor":
        return "detach() it, or compute it under torch.no_grad(): its autograd graph holds them"
    return FIXES[one.what]


def holding(run: RunSeen) -> list[Held]:
    """Return the last that was seen of each kind, where it is worth a word."""
    latest = {one.what: one for one in run.held if one.what in FIXES}
    return [one for one in latest.values() if one.what != "outputs" or one.bytes >= LEAST]


def holder(one: Held) -> str:
    """Name what holds outputs or packages, and the line that fills it."""
    name = f"{one.name} ({one.kind})" if one.name else "something"
    at = at_place(one.caller)
    if one.what == "packages":
        return f"{name} keeps each package that is loaded{at}: {one.count} by then, all called"
    size = f"{one.bytes / MIB:,.1f} MiB"
    return f"{name} keeps the outputs of calls{at}: {one.count} of the first {one.of}, {size}"


def grown(one: Held) -> str:
    """Say how the process's memory grew since its first call."""
    found = []
    for name, both in (("the process", one.resident), ("the GPU's allocator", one.allocated)):
        if len(both) == 2:
            then, now = (f"{size / MIB:,.0f}" for size in both)
            found.append(f"{name} grew from {then} to {now} MiB by then")
    return ", ".join(found)
