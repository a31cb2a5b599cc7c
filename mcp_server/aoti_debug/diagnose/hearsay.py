"""What rests on printed text alone is not proved: whoever printed it could write anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.diagnose.calls import last_failure, uses_cuda
from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.diagnose.excuse import is_fault, recovered
from aoti_debug.diagnose.observations import Observations
from aoti_debug.facts.categories import GPU_FAULTS
from aoti_debug.model import Phase
from aoti_debug.read.record import PythonException

# What the process itself writes; the driver's log too is a file that the process could write.
PRINTED = frozenset({"stderr.log", "stdout.log", "cuda.log"})
BUILD: frozenset[Phase] = frozenset(
    {"export", "lower", "autotune", "triton_compile", "cpp_compile", "package"}
)
LOAD: frozenset[Phase] = frozenset({"load", "constants"})
CALL: frozenset[Phase] = frozenset({"run", "output"})


def weighed(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Return the candidates; those that nothing but a text tells are at most likely, and where
    the process ended by an exception of its own, or well after calls, they are printed words."""
    return [
        contradicted(unproved(candidate), observations)
        if rests_on_text(candidate, observations) and not agreed(candidate, observations)
        else candidate
        for candidate in candidates
    ]


def rests_on_text(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether all of its evidence was printed. In a log, everything was."""
    evidence = candidate.diagnosis.evidence
    if observations.ending is None and observations.events is None:
        return True
    return bool(evidence) and all(one.artifact in PRINTED for one in evidence)


def agreed(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether the probe's events or the exit say the same: that this phase failed, that
    calls on a GPU came before a bad end, that no probe was there and the end was bad."""
    found, events, ending = candidate.diagnosis, observations.events, observations.ending
    if not is_fault(candidate) or found.category == "user_code":
        return ending is not None
    if ending is not None and ending.timed_out and found.phase == "hang":
        return True
    if events is None or not events.processes:
        return observations.failed
    failed = last_failure(observations)
    if failed is not None and not recovered(events, failed):
        return found.phase == "none" or same_part(found.phase, failed.phase)
    if not observations.failed:
        return False
    gpu = found.category in GPU_FAULTS and uses_cuda(events)
    return gpu or (ending is not None and ending.signal is not None)


def same_part(one: str, other: str) -> bool:
    return one == other or any(one in part and other in part for part in (BUILD, LOAD, CALL))


def unproved(candidate: Candidate) -> Candidate:
    if candidate.diagnosis.confidence != "proved":
        return candidate
    likely = candidate.diagnosis.model_copy(update={"confidence": "likely"})
    return replace(candidate, diagnosis=likely)


def contradicted(candidate: Candidate, observations: Observations) -> Candidate:
    """Put words aside that the end of the process speaks against."""
    events, ending = observations.events, observations.ending
    claims = candidate.role in ("cause", "symptom") and is_fault(candidate)
    if events is None or ending is None or not claims:
        return candidate
    ends = observations.of(PythonException)
    raised = ending.code == 1 and bool(ends) and not is_of(candidate, ends[-1])
    well = ending.clean and bool(events.calls)
    quiet = last_failure(observations) is None
    return replace(candidate, role="printed") if quiet and (raised or well) else candidate


def is_of(candidate: Candidate, exception: PythonException) -> bool:
    """Tell whether the words are those of this exception."""
    span, found = exception.span, candidate.diagnosis.evidence[0]
    return (
        found.artifact == span.artifact
        and found.lines is not None
        and span.first <= found.lines[0] <= span.last
    )
