"""What to say of a log in which nothing is known."""

from __future__ import annotations

from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.observations import Observations
from aoti_debug.facts.phases import phase_of
from aoti_debug.model import Diagnosis, Next
from aoti_debug.read.record import ErrorLine, Launches, SanitizerSummary

GUIDE = "guides/debugging-tools.md#an-unknown-failure"


def last_resort(observations: Observations) -> Candidate:
    """Say that nothing is known, what is, and what would show more. A log cannot show that a
    model is right: a call outside its contract returns garbage without a word."""
    said = observations.first(ErrorLine)
    return unknown(said) if said is not None else silent(observations)


def unknown(said: ErrorLine) -> Candidate:
    return Candidate(
        Diagnosis(
            phase=phase_of([(said.span.quote, "")]) or "none",
            category="user_code",
            confidence="possible",
            summary=f"no known failure; the first line that speaks of an error: {said.span.quote}",
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
        weight=1,
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
        weight=1,
    )


def seen(observations: Observations) -> str:
    """Say what the log does show."""
    if (tool := observations.first(SanitizerSummary)) is not None and not tool.errors:
        return ", and compute-sanitizer found no errors"
    if (launches := observations.first(Launches)) is not None:
        return f"; all {launches.total} printed launches came to their end"
    return ""
