"""Candidates from the failure signatures that matched."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.observations import Observations
from aoti_debug.model import Diagnosis, Fix, Phase
from aoti_debug.read.record import PythonException
from aoti_debug.signatures import Match


def candidates(observations: Observations) -> Iterator[Candidate]:
    for position, record in enumerate(observations.records):
        if isinstance(record, Match):
            yield from_match(record, (position, record.span.first), phase(observations, record))


def phase(observations: Observations, match: Match) -> Phase:
    """Return the phase in which the signature's line was printed: that of the traceback around
    it when the signature is one that several phases print, else its own."""
    from aoti_debug.diagnose.where import traceback_phase

    around = [
        exception
        for exception in observations.of(PythonException)
        if exception.span.artifact == match.span.artifact
        and exception.span.first <= match.span.first <= exception.span.last
    ]
    if match.signature.phase == "run" and around:
        return traceback_phase(observations, around[0]) or match.signature.phase
    return match.signature.phase


def from_match(match: Match, position: tuple[int, int], phase: Phase) -> Candidate:
    signature = match.signature
    fixes = [
        Fix(what=fill(fix.what, match.groups), where=fix.where, why=fix.why)
        for fix in signature.fixes
    ]
    return Candidate(
        Diagnosis(
            phase=phase,
            category=signature.category,
            confidence=signature.confidence,
            summary=fill(signature.summary, match.groups),
            evidence=[evidence(match.span)],
            guide=signature.guide,
            fixes=fixes,
            signature=signature.id,
        ),
        role=signature.role,
        weight=signature.weight,
        position=position,
        signature=signature,
    )


def fill(text: str, groups: dict[str, str]) -> str:
    """Put the named groups of a match into `{name}` places; text from logs is not a template."""
    for name, value in groups.items():
        text = text.replace("{" + name + "}", value[:200])
    return text
