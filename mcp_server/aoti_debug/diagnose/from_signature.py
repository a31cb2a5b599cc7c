"""Candidates from the failure signatures that matched."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aoti_debug.diagnose.calls import phase_at_end, phase_of_frames, traceback_phase
from aoti_debug.diagnose.from_exception import judge, phase_of_places
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, headline
from aoti_debug.facts.categories import GPU_FAULTS
from aoti_debug.facts.phases import phase_of_native, phase_of_program
from aoti_debug.model import Fix, Next, Phase
from aoti_debug.read.record import CodePlace, CppThrow, FaultHandlerDump, PythonException
from aoti_debug.signatures import Match, Signature

# What a signature may name as the next tool; a triage is no step on from a triage.
NEXT = ("check_environment", "inspect_package", "minify", "run_stage", "triage")
NEAR = 40  # lines
AROUND = range(-NEAR, NEAR + 1)
BESIDE = 3  # lines
TUNES = re.compile(r"(?i)\b(?:while|during) (?:compil(?:ing|ation)|(?:auto)?tuning)\b")
WITHIN_A_COMPILE = ("autotune", "triton_compile", "cpp_compile")
TRITONS = ("triton/runtime/build", "triton/backends/", "cuda_combined_scheduling", "windows_utils")
BEFORE_A_CALL = (*WITHIN_A_COMPILE, "lower", "package", "load", "constants")


def candidates(observations: Observations) -> Iterator[Candidate]:
    for position, record in enumerate(observations.records):
        if isinstance(record, Match):
            found = from_match(record, position, phase(observations, record))
            if record.signature.role == "symptom" and record.signature.category == "lowering_error":
                found = as_the_stack_tells(observations, record, found)
            if observations.ending is None:  # a log: nobody has run anything yet
                found = with_next(found, record.signature)
            yield found


def phase(observations: Observations, match: Match) -> Phase:
    """Return the phase in which the signature's line was printed. One that several phases print
    says `run`; then the traceback around it tells, or the stack that a fatal signal left, or the
    run of the probe."""
    own = match.signature.phase
    if own == "cpp_compile" and of_triton(observations, match):
        return "triton_compile"
    if own not in ("run", "environment"):
        return own
    for exception in observations.of(PythonException):
        if exception.span.holds(match.span):
            one_by_one = (phase_of_frames([frame]) for frame in exception.frames)
            if own == "environment" and "load" in one_by_one:
                return own
            return traceback_phase(observations, exception) or own
    if own != "run":
        around = phase_around(observations, match)
        return around if around in (*WITHIN_A_COMPILE, "lower") else own
    for dump in observations.of(FaultHandlerDump):
        if dump.span.artifact == match.span.artifact and dump.span.last >= match.span.first:
            return phase_of_frames(reversed(dump.frames)) or own
    for throw in observations.near(CppThrow, match.span, AROUND):
        return phase_of_native(throw.functions) or own
    if (around := phase_around(observations, match)) is not None:
        told = phase_of_program(match.span.quote)
        return told if around == "lower" and told == "triton_compile" else around
    if while_tuning(observations, match):
        return "autotune"
    if (
        match.signature.category == "host_segfault"
        and observations.ending is None
        and phase_of_program(match.span.quote) == "triton_compile"
    ):
        return "triton_compile"  # the line names the compiler's files beside the signal
    if (below := phase_below(observations, match)) is not None:
        return below
    at_end = phase_at_end(observations)
    return at_end if at_end in BEFORE_A_CALL else own


def of_triton(observations: Observations, match: Match) -> bool:
    """Tell whether Triton ran the compiler: ptxas for kernels, a C compiler for its launcher."""
    if re.search(r"ptxas|\b(?:cuda_utils|hip_utils|__triton_launcher)\.c", match.span.quote):
        return True
    places = observations.near(CodePlace, match.span, AROUND)
    return any(part in place.file.replace("\\", "/") for place in places for part in TRITONS)


def phase_around(observations: Observations, match: Match) -> Phase | None:
    """Return the phase of the frames just above a line of a log that no traceback holds."""
    span = match.span
    above = observations.near(CodePlace, span, range(-NEAR, 1))
    if observations.ending is not None:
        return None
    if above:
        return phase_of_places(above)
    frames = [p for p in observations.of(CodePlace) if p.told == "frame"]
    below = phase_of_places([p for p in frames if p.span.first - span.first <= NEAR])
    return below if below == "autotune" else None


def while_tuning(observations: Observations, match: Match) -> bool:
    """Tell whether the line of a fault of the GPU, or one just above, says that it was tuned."""
    if match.signature.category not in GPU_FAULTS | {"out_of_memory"}:
        return False
    if match.signature.category in GPU_FAULTS and TUNES.search(match.span.quote):
        return True
    above = observations.near(Match, match.span, range(-BESIDE, 1))
    return any(other.signature.phase == "autotune" for other in above)


def phase_below(observations: Observations, match: Match) -> Phase | None:
    """Return the phase of the traceback just below what the model's runtime printed as `Error:`,
    where it was loading: there it says why, and Python's exception only that."""
    if observations.ending is not None or not match.span.quote.startswith("Error: "):
        return None
    phase = phase_of_places(observations.near(CodePlace, match.span, range(1, NEAR + 1)))
    return phase if phase in ("load", "constants") else None


def as_the_stack_tells(observations: Observations, match: Match, candidate: Candidate) -> Candidate:
    """Correct what a wrapper of any exception says of it, where the stack within tells more."""
    for exception in observations.of(PythonException):
        phase = traceback_phase(observations, exception)
        if phase in WITHIN_A_COMPILE and exception.span.holds(match.span):
            category, confidence = judge(exception, phase)
            return candidate.but(phase=phase, category=category, confidence=confidence)
    return candidate


def from_match(match: Match, position: int, phase: Phase) -> Candidate:
    signature = match.signature
    return Kind(
        signature.category, phase, signature.tier, signature.guide, role=signature.role
    ).found(
        headline(fill(signature.summary, match.groups)),
        match.span,
        confidence=signature.confidence,
        signature=signature,
        fixes=[Fix(what=fill(fix, match.groups)) for fix in signature.fixes],
        order=position,
    )


def with_next(candidate: Candidate, signature: Signature) -> Candidate:
    """Add the tool that looks further, with the cheapest check that tells the failure apart."""
    tool = signature.next_tool if signature.next_tool in NEXT else "triage"
    step = Next(tool=tool, why=signature.check or "it finds what a log alone does not show")
    return candidate.but(next=[step])


def fill(text: str, groups: dict[str, str]) -> str:
    """Put the named groups of a match into `{name}` places; text from logs is not a template."""
    for name, value in groups.items():
        text = text.replace("{" + name + "}", value[:200])
    return text
