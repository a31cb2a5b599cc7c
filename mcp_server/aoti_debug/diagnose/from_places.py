"""A candidate from where in torch's code a log was, when nothing in it says what failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.from_exception import BY_PHASE, GUIDES
from aoti_debug.facts.categories import Tier
from aoti_debug.facts.phases import finds_a_compiler, phase_of
from aoti_debug.model import Diagnosis, Phase
from aoti_debug.read.record import CodePlace, FaultHandlerDump

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

WHERE: dict[Phase, str] = {
    "export": "in the export",
    "lower": "while Inductor lowered the graph",
    "autotune": "while kernels were tuned",
    "triton_compile": "while Triton compiled a kernel",
    "cpp_compile": "while generated code was compiled",
    "package": "while the package was written",
    "load": "while the package was loaded",
    "constants": "while constants were loaded",
}


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield one for a log whose last words are places: a traceback without end or beginning, an
    error that torch's own log names only by its module."""
    if observations.ending is not None or observations.of(FaultHandlerDump):
        return  # a process that was watched, or that a signal ended, tells its phase itself
    places = observations.of(CodePlace)
    phase = phase_of_places(places)
    if phase is None or phase not in BY_PHASE:
        return
    told = [(p.file, p.function) for p in places]
    searching = phase == "cpp_compile" and finds_a_compiler(told)
    category = "toolchain" if searching else BY_PHASE[phase]
    last = places[-1]
    yield Candidate(
        Diagnosis(
            phase=phase,
            category=category,
            confidence="possible",
            summary=f"something failed {WHERE[phase]}; the log ends before it says what",
            evidence=[evidence(last.span)],
            guide=GUIDES.get(category),
        ),
        # The type of an exception alone is a wrapper's.
        role="envelope" if all(p.told == "type" for p in places) else "symptom",
        tier=Tier.EXCEPTION,
        order=1,
    )


def phase_of_places(places: Sequence[CodePlace]) -> Phase | None:
    """Return the phase of the deepest frames; without frames, of what the log and types name."""
    frames = [p for p in places if p.told == "frame"]
    return phase_of((p.file, p.function) for p in frames or places)
