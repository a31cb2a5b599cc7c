"""Candidates from Python exceptions that no signature explains."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.observations import Observations
from aoti_debug.diagnose.where import source_of, traceback_phase, users_frame
from aoti_debug.model import Category, Confidence, Diagnosis, Phase
from aoti_debug.read.record import PythonException

BY_PHASE: dict[Phase, Category] = {
    "export": "user_code",
    "lower": "lowering_error",
    "autotune": "autotune_error",
    "triton_compile": "triton_error",
    "cpp_compile": "cpp_error",
    "package": "package_corrupt",
    "load": "package_incompatible",
    "constants": "constants_mismatch",
}
GUIDES: dict[Category, str] = {
    "lowering_error": "guides/lowering-and-cpp.md",
    "cpp_error": "guides/lowering-and-cpp.md",
    "triton_error": "guides/triton-and-autotuning.md",
    "autotune_error": "guides/triton-and-autotuning.md",
    "package_corrupt": "guides/package-and-load.md",
    "package_incompatible": "guides/package-and-load.md",
    "constants_mismatch": "guides/constants.md",
}


def candidates(observations: Observations) -> Iterator[Candidate]:
    for position, exception in enumerate(observations.of(PythonException)):
        phase = traceback_phase(observations, exception)
        category, confidence = judge(exception, phase)
        headline = exception.message.strip().splitlines()
        what = f"{exception.type}: {headline[0][:200]}" if headline else exception.type
        yield Candidate(
            Diagnosis(
                phase=phase or "none",
                category=category,
                confidence=confidence,
                summary=what,
                source=source_of(users_frame(exception.frames)),
                evidence=[evidence(exception.span)],
                guide=GUIDES.get(category),
            ),
            role="cause" if phase != "run" else "symptom",
            weight=5 if exception.relation is None else 10,
            position=(position, exception.span.first),
        )


def judge(exception: PythonException, phase: Phase | None) -> tuple[Category, Confidence]:
    """Return category and confidence of an exception known only by its stack."""
    if phase is None:
        return "user_code", "likely"
    if phase == "run":
        return "host_segfault" if exception.type == "SystemError" else "user_code", "possible"
    return BY_PHASE.get(phase, "lowering_error"), "likely" if phase != "export" else "possible"
