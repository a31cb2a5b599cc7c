"""Candidates from recorded calls that were held against the exported program by what is known of
their inputs: sizes, values of other arguments, the extremes of indices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.from_program import BOUND, from_difference, from_guard, from_index
from aoti_debug.diagnose.observations import Candidate, Observations, evidence
from aoti_debug.facts.categories import Tier
from aoti_debug.model import InputFinding, SourceLine
from aoti_debug.read.traffic import made

if TYPE_CHECKING:
    from aoti_debug.read.check_report import CallsReport, RecordedCall
    from aoti_debug.read.events import Call, Events


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield each break once, of the first call that has it; `counted` says how many have."""
    events, report = observations.events, observations.checks.calls
    if events is None or report is None:
        return
    told = set[object]()
    for one in report.calls:
        call = recorded(events, one)
        for candidate in of_call(one, report) if call is not None else ():
            found = candidate.diagnosis.input
            key = (found.index, found.property, found.dim) if found else candidate.diagnosis.summary
            if call is not None and key not in told:
                told.add(key)
                yield at_call(candidate, call, events)


def recorded(events: Events, one: RecordedCall) -> Call | None:
    return next((c for c in events.calls if (c.pid, c.call) == (one.pid, one.call)), None)


def of_call(one: RecordedCall, report: CallsReport) -> Iterator[Candidate]:
    """Yield what a call breaks; bounds that export alone makes (a size of 1) count for nothing
    where no result was compared."""
    from aoti_debug.read.check_report import GuardsReport  # of many types: only where one was read

    told = set[tuple[str | None, int | None]]()
    for order, difference in enumerate(one.differences):
        candidate = from_difference(difference, report.artifact, order)
        told.add((difference.name, difference.dim))
        if candidate.role == "cause":
            yield candidate
    held = GuardsReport(inputs=report.inputs, node=one.node, artifact=report.artifact)
    for order, text in enumerate(one.broken):
        bound = BOUND.fullmatch(text)
        if bound is not None and (bound[1], int(bound[2])) in told:
            continue
        candidate = from_guard(text[:300], held, order)
        if candidate.diagnosis.confidence == "proved":
            yield candidate
    if one.index is not None:
        yield from_index(held, one.index)


def at_call(candidate: Candidate, call: Call, events: Events) -> Candidate:
    """Name the call and where it was made."""
    found = candidate.diagnosis
    index = found.category == "index_out_of_bounds"
    tier = max(candidate.tier, Tier.GUARD, key=lambda one: one.place)  # the call did return
    before = f"call {call.call} of {made(events)}: " if index or found.input is None else ""
    update = {
        "summary": before + found.summary,
        "source": found.source or caller(call, events),
        "evidence": [evidence(call.span), *found.evidence],
    }
    return replace(candidate, diagnosis=found.model_copy(update=update), tier=tier, order=90)


def caller(call: Call, events: Events) -> list[SourceLine]:
    for phase in events.phases:
        line = phase.details.get("caller") if (phase.pid, phase.id) == (call.pid, call.id) else None
        if isinstance(line, list) and len(line) == 2:
            return [SourceLine(file=str(line[0]), line=int(line[1]))]
    return []


def findings(observations: Observations, call: Call) -> list[InputFinding]:
    """Return the guards and values that a recorded call breaks, as findings of its inputs."""
    report = observations.checks.calls
    own = [
        one
        for one in (report.calls if report is not None else ())
        if (one.pid, one.call) == (call.pid, call.call)
    ]
    assert report is not None or not own
    found = [c.diagnosis.input for one in own if report for c in of_call(one, report)]
    return [one for one in found if one is not None and one.property in ("guard", "value", "type")]
