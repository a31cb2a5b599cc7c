"""Put all candidates in order and finish the best ones."""

from __future__ import annotations

from collections.abc import Iterable

from aoti_debug.diagnose import (
    from_calls,
    from_device_assert,
    from_exception,
    from_gpu,
    from_input_check,
    from_package,
    from_process,
    from_replay,
    from_signature,
)
from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.diagnose.enrich import enrich
from aoti_debug.diagnose.observations import Observations
from aoti_debug.model import Category, Diagnosis

SOURCES = (
    from_replay,
    from_input_check,
    from_calls,
    from_device_assert,
    from_gpu,
    from_package,
    from_signature,
    from_exception,
    from_process,
)
GPU: frozenset[Category] = frozenset(
    {"index_out_of_bounds", "illegal_memory_access", "misaligned_address", "kernel_resources"}
)
LISTED = 5


def diagnose(observations: Observations) -> list[Diagnosis]:
    """Return the possible diagnoses, best first, at most LISTED; empty if nothing is known."""
    found = [c for source in SOURCES for c in source.candidates(observations)]
    ranked = sorted(without_repeats(demote_later_gpu_messages(found)), key=lambda c: c.key)
    if not ranked:
        return []
    best = ranked[0]
    listed = without_echoes([c for c in ranked if c is best or worth_listing(c, best)])
    return [enrich(best, ranked, observations), *(c.diagnosis for c in listed[1:LISTED])]


def without_echoes(ranked: Iterable[Candidate]) -> list[Candidate]:
    """Keep one finding about an input where several checks say the same."""
    kept: dict[object, Candidate] = {}
    for number, candidate in enumerate(ranked):
        found = candidate.diagnosis.input
        key = (found.index, found.property, found.dim, found.got) if found else number
        kept.setdefault(key, candidate)
    return list(kept.values())


def worth_listing(candidate: Candidate, best: Candidate) -> bool:
    if candidate.role in ("aftermath", "clean"):
        return False
    return candidate.role == best.role or best.role != "cause"


def demote_later_gpu_messages(candidates: Iterable[Candidate]) -> list[Candidate]:
    """After the first GPU fault the context is lost: what the GPU's libraries say later in the
    same log is its aftermath."""
    kept = list(candidates)
    faults = [
        (e.artifact, e.lines[0])
        for c in kept
        if c.role == "cause" and c.diagnosis.category in GPU
        for e in c.diagnosis.evidence[:1]
        if e.lines
    ]
    first: dict[str, int] = {}
    for artifact, line in faults:
        first[artifact] = min(line, first.get(artifact, line))
    return [
        as_aftermath(c)
        if c.role == "cause"
        and c.signature is not None
        and c.diagnosis.signature == c.signature.id
        and c.diagnosis.kernel is None
        and c.diagnosis.category in GPU | {"out_of_memory", "device_unavailable"}
        and later(c, first)
        else c
        for c in kept
    ]


def later(candidate: Candidate, first: dict[str, int]) -> bool:
    return any(
        e.lines is not None and e.artifact in first and e.lines[0] > first[e.artifact]
        for e in candidate.diagnosis.evidence[:1]
    )


def as_aftermath(candidate: Candidate) -> Candidate:
    return Candidate(
        candidate.diagnosis, "aftermath", candidate.weight, candidate.position, candidate.signature
    )


def without_repeats(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Drop a candidate made of a signature alone when a richer one rests on the same line."""
    kept = list(candidates)
    richer = {c.signature.id for c in kept if c.signature is not None and is_richer(c)}
    return [c for c in kept if c.signature is None or is_richer(c) or c.signature.id not in richer]


def is_richer(candidate: Candidate) -> bool:
    diagnosis = candidate.diagnosis
    return bool(diagnosis.kernel or diagnosis.input or diagnosis.fault or diagnosis.source)
