"""Broken rules that did no harm: the result of this very call is right all the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.diagnose.calls import declared
from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.diagnose.observations import Observations

AGREES = (
    "but the result agrees with the exported program: what reads this input takes its strides as "
    "they are"
)


def excused(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Make a false alarm of a stride that differs where the result does not.

    Library calls (a matrix product, say) take an input as it is; only generated kernels have the
    strides of the export baked in. Sizes and dtypes are not excused: that they fitted by chance
    says nothing of the next call.
    """
    compared = observations.steps.get("compare")
    report = compared.report if compared is not None else None
    if report is None or report.get("verdict") != "agrees":
        return list(candidates)
    return [harmless(c) if is_read_only_stride(c, observations) else c for c in candidates]


def is_read_only_stride(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether all that differs is the stride of an input that the model only reads; what it
    writes to an input is no part of the result."""
    found = candidate.diagnosis.input
    return (
        candidate.role == "cause"
        and candidate.diagnosis.category == "contract_stride"
        and (found is None or found.property == "stride")
        and not (found is not None and declared(observations, found.index).get("written"))
    )


def harmless(candidate: Candidate) -> Candidate:
    said = candidate.diagnosis
    update = {
        "category": "false_alarm",
        "confidence": "likely",
        "summary": f"{said.summary}, {AGREES}",
    }
    return replace(candidate, role="symptom", diagnosis=said.model_copy(update=update))
