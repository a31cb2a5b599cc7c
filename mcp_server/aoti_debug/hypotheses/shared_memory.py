"""The hypothesis that memory is shared where it should not be: an input is overwritten while a call
is under way, an output is the memory of an input that is written again, buffers are given again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoti_debug.diagnose.observations import Candidate, evidence
from aoti_debug.facts.categories import Tier
from aoti_debug.hypotheses.reference import agreeing
from aoti_debug.model import Category, Confidence, Diagnosis, Experiment, Fix, SourceLine

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.read.events import Call, Events

GUIDE = "guides/threads-streams-hangs.md"


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield the surest of the three, where the package is right when the call is repeated."""
    events, ending = observations.events, observations.ending
    if events is None or ending is None:
        return
    tried = agreeing(observations)
    if torn := [call for call in events.calls if call.overwritten]:
        yield overwritten(events, torn, tried)
    elif ending.code in (None, 0) or not tried:
        return
    elif kept := [call for call in events.calls if call.aliases and later_reused(events, call)]:
        yield aliased(events, kept, tried)
    elif again := [call for call in events.calls if call.reused]:
        yield reused(events, again, tried)


def later_reused(events: Events, call: Call) -> bool:
    """Tell whether a later call has other values in the memory that an output of this one is."""
    inputs = {pair[1] for pair in call.aliases}
    later = (c for c in events.calls if c.pid == call.pid and (c.call or 0) > (call.call or 0))
    return any(inputs & set(one.reused) for one in later)


def overwritten(events: Events, calls: Sequence[Call], tried: str) -> Candidate:
    first = calls[0]
    name = input_name(first, first.overwritten[0])
    said = f"{name} is overwritten while call {first.call} is under way ({of(calls, events)})"
    fix = f"give each call memory of its own for {name} until it has returned, or copy it first"
    return candidate(first, events, said, fix, tried, category="concurrency", confidence="likely")


def aliased(events: Events, calls: Sequence[Call], tried: str) -> Candidate:
    first = calls[0]
    output, given = first.aliases[0]
    name = input_name(first, given)
    said = f"output {output} is the memory of input {name}, which a later call overwrites "
    said += f"({of(calls, events)})"
    fix = f"copy output {output} before {name}'s memory is written again (.clone())"
    return candidate(first, events, said, fix, tried, category="user_code", confidence="likely")


def reused(events: Events, calls: Sequence[Call], tried: str) -> Candidate:
    first = calls[0]
    name = input_name(first, first.reused[0])
    said = f"memory of {name} is given again with other values ({of(calls, events)}): it may be "
    said += "written before a call has read it"
    fix = f"write {name}'s memory again only after the call that reads it has returned"
    return candidate(first, events, said, fix, tried, category="concurrency", confidence="possible")


def of(calls: Sequence[Call], events: Events) -> str:
    return f"{len(calls)} of {len(events.calls)} recorded calls"


def input_name(call: Call, index: int) -> str:
    given = call.input(index)
    return given.name if given is not None and given.name else f"input {index}"


def candidate(
    call: Call,
    events: Events,
    said: str,
    fix: str,
    tried: str,
    *,
    category: Category,
    confidence: Confidence,
) -> Candidate:
    callers = {(phase.pid, phase.id): phase.details.caller for phase in events.phases}
    place = callers.get((call.pid, call.id))
    right = [Experiment(experiment=tried, result="agree: the package is right")] if tried else []
    return Candidate(
        Diagnosis(
            phase="run",
            category=category,
            confidence=confidence,
            summary=said,
            source=[SourceLine(file=place[0], line=place[1])] if place else [],
            evidence=[evidence(call.span)],
            because=right,
            guide=GUIDE,
            fixes=[Fix(what=fix)],
        ),
        role="cause",
        tier=Tier.RAISED,
    )
