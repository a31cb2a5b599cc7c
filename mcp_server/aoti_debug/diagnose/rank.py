"""Put all candidates in order and finish the best ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose import (
    from_calls,
    from_codes,
    from_constants,
    from_cost,
    from_device_assert,
    from_exception,
    from_export,
    from_gpu,
    from_input_check,
    from_native,
    from_operator,
    from_package,
    from_process,
    from_program,
    from_scene,
    from_signature,
    from_tables,
    from_values,
    speaker,
)
from aoti_debug.diagnose.calls import launcher_spans
from aoti_debug.diagnose.downgrade import ruled
from aoti_debug.diagnose.enrich import enrich
from aoti_debug.diagnose.from_clean import last_resort
from aoti_debug.diagnose.observations import inside
from aoti_debug.diagnose.traffic import counted
from aoti_debug.facts.categories import GPU_FAULTS
from aoti_debug.hypotheses import (
    fork,
    randomness,
    reference,
    rows,
    shared_memory,
    sorted_back,
    tolerance,
    undeclared_write,
)
from aoti_debug.model import Category, Diagnosis, Evidence
from aoti_debug.read.record import FaultHandlerDump, SaidLine
from aoti_debug.verdict import decide

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Candidate, Observations
    from aoti_debug.read.record import Span

SOURCES = (
    from_program.candidates,
    from_cost.candidates,
    from_calls.of_recorded,
    from_operator.of_fakes,
    from_native.of_redzones,
    from_values.candidates,
    undeclared_write.candidates,
    reference.candidates,
    shared_memory.candidates,
    sorted_back.candidates,
    rows.candidates,
    tolerance.candidates,
    tolerance.of_program,
    randomness.candidates,
    fork.candidates,
    from_operator.candidates,
    from_input_check.candidates,
    from_calls.candidates,
    from_constants.candidates,
    from_device_assert.candidates,
    from_gpu.candidates,
    from_package.candidates,
    from_values.of_printer,
    from_operator.raised_alike,
    from_operator.in_shims,
    from_signature.candidates,
    from_export.candidates,
    from_exception.candidates,
    from_exception.in_code,
    from_tables.candidates,
    from_process.candidates,
)
OF_LOGS = (from_scene.candidates, from_codes.candidates, speaker.candidates)
# A wrong size is a wrong stride too, and the model's check tells the first only.
LAYOUT: frozenset[Category] = frozenset({"contract_shape", "contract_stride"})
LISTED = 5
COMPARED = 40  # findings that later ones are compared with: a log can hold hundreds
EVIDENCE = 4


def diagnose(observations: Observations) -> list[Diagnosis]:
    """Return the possible diagnoses, best first, at most LISTED. Of a log there is always one, if
    only that nothing in it is known; of a process, when it has ended."""
    found = [c for source in SOURCES for c in source(observations)]
    shown = observations.scene
    if observations.ending is None:
        found = [c for c in found if not speaker.of_a_neighbour(c)]
        found += [c for source in OF_LOGS for c in source(observations)]
    if shown is not None:
        found = [from_scene.placed(c, shown) for c in found]
    decided = decide(found, observations)
    found = without_repeats(ruled(decided.candidates, observations))
    found = set_apart(found, launcher_spans(observations))
    ranked = merged(in_order(demote_later_gpu_messages(found), observations))
    if observations.ending is None and all(c.role == "note" for c in ranked):
        ranked = [last_resort(observations), *ranked]
    if not ranked:
        return []
    if shown is not None:
        ranked = from_scene.settled(ranked, shown, whole=bool(observations.of(SaidLine)))
        whole = ranked[0].role == "clean" or observations.of(FaultHandlerDump)
        if not whole and speaker.of_others(shown):
            ranked[0] = ranked[0].but(confidence="possible")
    best = ranked[0]
    listed = [c for c in ranked if c is best or worth_listing(c, best)]
    first = counted(enrich(best, ranked, observations), observations)
    because = first.because or list(decided.against)
    update = {"also_true": list(decided.also_true), "because": because}
    return [first.model_copy(update=update), *(c.diagnosis for c in listed[1:LISTED])]


def in_order(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Sort by worth, then by where the evidence stands: artifact, line, order in its source."""
    artifacts = observations.artifacts

    def key(candidate: Candidate) -> tuple[tuple[int, ...], int, int, int]:
        at = candidate.diagnosis.evidence[0] if candidate.diagnosis.evidence else None
        artifact = artifacts.get(at.artifact, len(artifacts)) if at is not None else -1
        return candidate.worth, artifact, candidate.line, candidate.order

    return sorted(candidates, key=key)


def worth_listing(candidate: Candidate, best: Candidate) -> bool:
    if candidate.role in ("aftermath", "clean", "note", "printed"):
        return False
    return candidate.role == best.role or best.role != "cause"


def without_repeats(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Drop a candidate of a signature alone where a richer one has its lines or its signature."""
    kept = list(candidates)
    richer = [c for c in kept if c.richer]
    taken = {c.signature.id for c in richer if c.signature is not None}
    lines = [proof for c in richer for proof in c.diagnosis.evidence[:1]]

    def repeats(one: Candidate) -> bool:
        if one.signature is not None and one.signature.id in taken:
            return True
        own = one.diagnosis.evidence[:1] if one.role in ("cause", "symptom") else []
        return any(inside(proof, other) for proof in own for other in lines)

    return [c for c in kept if not (c.alone and repeats(c))]


def set_apart(candidates: Iterable[Candidate], launcher: Sequence[Span]) -> list[Candidate]:
    """Make what the minifier's launcher printed an aftermath of the script's own failure."""
    places = [Evidence(artifact=s.artifact, lines=(s.first, s.last), quote="") for s in launcher]
    return [
        replace(c, role="aftermath", of="the minifier")
        if any(inside(e, place) for e in c.diagnosis.evidence[:1] for place in places)
        else c
        for c in candidates
    ]


def demote_later_gpu_messages(candidates: Iterable[Candidate]) -> list[Candidate]:
    """After the first GPU fault the context is lost: what the GPU's libraries say later in the
    same log is its aftermath, and the same fault told again says nothing more."""
    kept = list(candidates)
    faults = [c for c in kept if c.role == "cause" and c.diagnosis.category in GPU_FAULTS]
    known = sorted((c for c in faults if c.line), key=lambda one: one.line)
    first = {c.diagnosis.evidence[0].artifact: c for c in reversed(known)}
    found = []
    for candidate in kept:
        fault = first_fault(candidate, first)
        if fault is None:
            found.append(candidate)
        elif candidate.diagnosis.category != fault.diagnosis.category:
            found.append(replace(candidate, role="aftermath"))
    return found


def first_fault(candidate: Candidate, first: Mapping[str, Candidate]) -> Candidate | None:
    """Return the earlier fault of the same log that a message follows from."""
    known = candidate.diagnosis
    if candidate.role != "cause" or not candidate.alone or not known.evidence:
        return None
    if known.category not in GPU_FAULTS | {"out_of_memory", "device_unavailable"}:
        return None
    fault = first.get(known.evidence[0].artifact)
    return fault if fault is not None and candidate.line > fault.line else None


def merged(ranked: Iterable[Candidate]) -> list[Candidate]:
    """Join candidates of one finding: the best keeps its words, and gets the others' evidence."""
    kept: list[Candidate] = []
    for candidate in ranked:
        first = enumerate(kept[:COMPARED])
        at = next((i for i, better in first if same_finding(better, candidate)), None)
        if at is None:
            kept.append(candidate)
        else:
            kept[at] = with_evidence(kept[at], candidate.diagnosis)
    return kept


Key = tuple[str | int | None, ...]


def key_of(candidate: Candidate) -> Key | None:
    """Return what a finding is recognised by: two of one key, in one role, are the same."""
    known = candidate.diagnosis
    if known.input is not None:
        category = "layout" if known.category in LAYOUT else known.category
        return "input", known.input.index, category, candidate.over_bound
    return ("nan_or_inf",) if known.category == "nan_or_inf" else None


def same_finding(better: Candidate, other: Candidate) -> bool:
    if better.role != other.role:
        return False
    one, two = better.diagnosis, other.diagnosis
    broken = one.confidence == "proved" and one.category.startswith("contract_")
    if broken and two.category in ("contract_guard", "wrong_result"):
        return True  # what another input leads to
    if (key := key_of(better)) is not None and key == key_of(other):
        return True
    if one.input is not None and two.input is not None and one.input.index == two.input.index:
        return False
    if one.category == two.category == "index_out_of_bounds" and (one.input is None or other.alone):
        return True  # one index, told by the kernel's check and by the exported program
    if one.category == two.category and one.category in GPU_FAULTS and one.kernel and other.alone:
        return True  # a tool named the kernel; the log says the same without it
    return one.category == two.category and any(
        inside(b, a) for a in one.evidence for b in two.evidence
    )


def with_evidence(candidate: Candidate, other: Diagnosis) -> Candidate:
    """Add the evidence of the same finding; what an artifact proves of it is proved."""
    known = candidate.diagnosis.evidence
    places = {(e.artifact, e.lines) for e in known} | {(e.artifact, None) for e in known}
    new = [e for e in other.evidence if (e.artifact, e.lines) not in places]
    update: dict[str, object] = {"evidence": [*known, *new][:EVIDENCE]}
    if other.confidence == "proved" and other.category == candidate.diagnosis.category:
        update["confidence"] = other.confidence
    return candidate.but(**update)
