"""What looks like a fault and did no harm: broken rules, checkers' words, printed words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.diagnose.calls import uses_cuda, writes_to
from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.diagnose.observations import Observations
from aoti_debug.facts.categories import GPU_FAULTS, MEANINGS
from aoti_debug.facts.vendor_kernels import is_vendor_kernel
from aoti_debug.model import Category, Fix
from aoti_debug.read.events import Events, Phase

ROUNDING = (
    "but the package gives what the exported program gives, up to rounding: the script expects "
    "more, or something else"
)
AGREES = (
    "but the result agrees with the exported program: what reads this input takes its strides as "
    "they are"
)
# What a process that ended well may print and be healthy.
NOTICES: frozenset[Category] = frozenset({"performance", "false_alarm", "no_fault"})


def excused(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Return the candidates, those without a consequence turned into false alarms or notes."""
    found = [without_consequence(c, observations) for c in candidates]
    compared = observations.checks.compare
    if compared is None or compared.verdict != "agrees":
        return found
    found = [harmless(c) if is_read_only_stride(c, observations) else c for c in found]
    return [strict(c) if c.alone and is_wrong_result(c) else c for c in found]


def without_consequence(candidate: Candidate, observations: Observations) -> Candidate:
    """Make a note of what a memory checker said where nothing is wrong, and of what it said of a
    vendor's kernel whatever is; in a log, where nobody looked, a vendor's kernel is a lead only."""
    if not candidate.lead:
        return candidate
    kernel = candidate.diagnosis.kernel
    vendor = kernel is not None and is_vendor_kernel(kernel.name)
    if observations.ending is None:
        return doubted(candidate) if vendor else candidate
    access = candidate.diagnosis.category in GPU_FAULTS
    wrong = observations.failed or observations.checks.abnormal
    return candidate if wrong and (access or not vendor) else replace(candidate, role="note")


def doubted(candidate: Candidate) -> Candidate:
    said = candidate.diagnosis
    update = {
        "confidence": "possible",
        "summary": f"{said.summary}; it is a kernel of NVIDIA's libraries, of which healthy models "
        "show this too: it counts where a result differs",
    }
    return replace(candidate, role="symptom", diagnosis=said.model_copy(update=update))


def is_wrong_result(candidate: Candidate) -> bool:
    return candidate.diagnosis.category == "wrong_result"


def strict(candidate: Candidate) -> Candidate:
    """Doubt a script that says the result is wrong, where the package agrees with the model."""
    found = candidate.diagnosis
    update = {
        "category": "false_alarm",
        "confidence": "likely",
        "summary": f"{found.summary}; {ROUNDING}",
        "fixes": [
            Fix(what="compare with tolerances that fit the dtype (torch.testing.assert_close)")
        ],
    }
    return replace(candidate, role="symptom", diagnosis=found.model_copy(update=update))


def only_printed(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Put aside what rests on a printed text alone when the process ended well and no phase of
    AOTInductor failed in it, or when the text is the mark of our own time-out."""
    events, ending = observations.events, observations.ending
    kept = list(candidates)
    if ending is not None and ending.timed_out:
        return [c for c in kept if not (c.alone and c.diagnosis.category == "host_segfault")]
    if events is None or ending is None or not ending.clean:
        return kept
    if not all(phase.ok or recovered(events, phase) for phase in events.phases):
        return kept
    kept = [replace(c, role="note") if is_notice(c) else c for c in kept]
    if not events.calls:
        return kept
    gpu = uses_cuda(events)
    return [
        replace(c, role="printed") if c.alone and is_fault(c) and not (gpu and on_gpu(c)) else c
        for c in kept
    ]


def is_notice(candidate: Candidate) -> bool:
    """Tell whether a text says of a healthy run how it runs: it is a note, never the headline."""
    return candidate.alone and candidate.role != "clean" and candidate.diagnosis.category in NOTICES


def recovered(events: Events, failed: Phase) -> bool:
    """Tell whether a load that failed was followed by one that did not: a script may try."""
    later = (phase for phase in events.phases if phase.span.first > failed.span.first)
    return failed.phase == "load" and any(phase.phase == "load" and phase.ok for phase in later)


def is_fault(candidate: Candidate) -> bool:
    return MEANINGS[candidate.diagnosis.category].fault


def on_gpu(candidate: Candidate) -> bool:
    """Tell whether it is a fault that a call which has returned may still bring: a GPU's."""
    return candidate.diagnosis.category in GPU_FAULTS


def is_read_only_stride(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether all that differs is the stride of an input that the model only reads; what it
    writes to an input is no part of the result.

    Library calls (a matrix product, say) take an input as it is; only generated kernels have the
    strides of the export baked in. Sizes and dtypes are not excused: that they fitted by chance
    says nothing of the next call.
    """
    found = candidate.diagnosis.input
    return (
        candidate.role == "cause"
        and candidate.diagnosis.category == "contract_stride"
        and (found is None or found.property == "stride")
        and not (found is not None and writes_to(observations, found.index))
    )


def harmless(candidate: Candidate) -> Candidate:
    said = candidate.diagnosis
    update = {
        "category": "false_alarm",
        "confidence": "likely",
        "summary": f"{said.summary}, {AGREES}",
    }
    return replace(candidate, role="symptom", diagnosis=said.model_copy(update=update))
