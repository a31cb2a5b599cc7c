"""What to say of a log in which nothing is known, or of a program that no probe was in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import opaque
from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.from_exception import BY_PHASE
from aoti_debug.facts.categories import Tier
from aoti_debug.facts.phases import phase_of_name
from aoti_debug.model import Diagnosis, Next
from aoti_debug.read.record import ErrorLine, Launches, SanitizerSummary

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

CONTRACT = "contract of the target"


def ended_well(observations: Observations) -> Candidate:
    checked = observations.steps.get(CONTRACT)
    passed = checked is not None and checked.ending is not None and checked.ending.clean
    more = ", also under the model's own input checks" if passed else ""
    return Candidate(
        Diagnosis(
            phase="none",
            category="no_fault",
            confidence="possible",
            summary=f"the program ended without an error{more}; there is no probe in it (it is no "
            "Python, or runs with -I, -E or -S), so nobody saw whether and how it called a model",
            next=look_at_package(observations),
        ),
        role="clean",
        tier=Tier.CLEAN,
    )


def look_at_package(observations: Observations) -> list[Next]:
    """Point to the contract where nobody could hold the inputs of the call against it."""
    if observations.package is None or not opaque(observations):
        return []
    return [
        Next(
            tool="inspect_package",
            arguments={"package": str(observations.package.path)},
            why="its table of inputs says what the program must pass: sizes, strides, device",
        )
    ]


GUIDE = "guides/debugging-tools.md#an-unknown-failure"


def last_resort(observations: Observations) -> Candidate:
    """Say that nothing is known, what is, and what would show more. A log cannot show that a
    model is right: a call outside its contract returns garbage without a word."""
    said = observations.of(ErrorLine)
    return unknown(said) if said else silent(observations)


def unknown(lines: Sequence[ErrorLine]) -> Candidate:
    """Take the first line that names a module of torch's, else the first that speaks of an error:
    the module tells the phase, and the phase what such failures mostly are."""
    told = [(line, phase_of_name(line.span.quote)) for line in lines]
    said, phase = next((one for one in told if one[1] is not None), told[0])
    return Candidate(
        Diagnosis(
            phase=phase or "none",
            category=BY_PHASE.get(phase, "user_code") if phase else "user_code",
            confidence="possible",
            summary=f"no known failure; it speaks of an error: {said.span.quote}",
            evidence=[evidence(said.span)],
            guide=GUIDE,
            next=[
                Next(
                    tool="triage",
                    why="the log does not say enough: a watched run shows the phase, the call "
                    "and its inputs",
                )
            ],
        ),
        role="symptom",
        tier=Tier.STATUS,
    )


def silent(observations: Observations) -> Candidate:
    proof = [r.span for r in observations.records if isinstance(r, Launches | SanitizerSummary)]
    return Candidate(
        Diagnosis(
            phase="none",
            category="no_fault",
            confidence="possible",
            summary=f"nothing in this log is a known sign of a failure{seen(observations)}",
            evidence=[evidence(span) for span in proof[:2]],
            guide=GUIDE,
            next=[
                Next(
                    tool="triage",
                    why="a process that a signal ends leaves no text, and a call outside the "
                    "model's contract returns garbage without a word: a watched run shows both",
                )
            ],
        ),
        role="clean",
        tier=Tier.STATUS,
    )


def seen(observations: Observations) -> str:
    """Say what the log does show."""
    if (tool := observations.first(SanitizerSummary)) is not None and not tool.errors:
        return ", and compute-sanitizer found no errors"
    if (launches := observations.first(Launches)) is not None:
        return f"; all {launches.total} printed launches came to their end"
    return ""
