"""What looks like a fault and proves none: rules broken without harm, tools' and printed words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import writes_to
from aoti_debug.facts.categories import GPU_FAULTS, MEANINGS
from aoti_debug.model import Category, Evidence, Fix
from aoti_debug.plain import one_line
from aoti_debug.read.record import GpuException, PythonException

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Candidate, Observations

# Parts of the names under which cuDNN, cuBLAS, CUTLASS, cuFFT and the like launch their kernels.
_PARTS = (
    r"cu(?:dnn|blas|tlass|fft|rand|sparse|solver)",
    r"\bcub::",
    r"^nvjet_",
    r"^cask",
    r"xmma",
    r"^(?:void )?gemv",
    r"splitK",
    r"(?:nhwc|nchw)To(?:nhwc|nchw)",
    r"^(?:volta|turing|ampere|hopper|blackwell|maxwell|sm\d{2,3})_",
    r"flash_(?:fwd|bwd)",
    r"fmha",
    r"implicit_convolve",
    r"winograd",
    r"regular_fft|vector_fft",
    r"\bDeviceReduce",
    r"thrust::",
    r"RNN_|LSTM_elementWise|persistRNN",
    r"bn_fw|bn_bw|batch_norm_(?:fw|bw)",
)
_VENDOR = re.compile("|".join(_PARTS), re.IGNORECASE)


def is_vendor_kernel(name: str | None) -> bool:
    """Tell whether a kernel is of a library of NVIDIA's, by its name."""
    return name is not None and _VENDOR.search(name[:500]) is not None


# What the process itself writes; the driver's log too is a file that the process could write.
PRINTED = frozenset({"stderr.log", "stdout.log", "cuda.log"})
GPU_ERROR = re.compile(r"CUDA (?:driver )?error|device-side assert|HIP error")


def weighed(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Return the candidates; those that nothing but a text tells are at most likely, and where
    the process ended by another exception, or well after calls, they are printed words."""
    kept = list(candidates)
    known = any(explains(candidate, observations) for candidate in kept)
    return [
        contradicted(unproved(candidate), observations, known=known)
        if rests_on_text(candidate, observations) and not agreed(candidate, observations)
        else candidate
        for candidate in kept
    ]


def rests_on_text(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether all of its evidence was printed. In a log, everything was."""
    evidence = candidate.diagnosis.evidence
    if observations.ending is None and not observations.run.probed:
        return True
    return bool(evidence) and all(map(is_printed, evidence))


def is_printed(evidence: Evidence) -> bool:
    """Tell whether the target itself printed it: also where it is run again."""
    step, _, name = evidence.artifact.rpartition("/")
    return name in PRINTED and (not step or step.endswith("-of-the-target"))


def agreed(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether what the text's author could not write says the same: the exit, or the error
    that the probe saw end the failing phase. That a phase failed says nothing of why."""
    found, ending = candidate.diagnosis, observations.ending
    if ending is None:
        return False
    if ending.timed_out and found.phase == "hang":
        return True
    if ending.signal is not None and found.category == "host_segfault":
        return True
    return recorded(candidate, observations)


def explains(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether it is in the words of the recorded error why the phase failed: of an error that
    only wraps another, a text elsewhere may tell the reason."""
    wraps = candidate.role != "cause" and candidate.diagnosis.category != "lowering_error"
    return not wraps and is_fault(candidate) and recorded(candidate, observations)


def recorded(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether its words are in the error that the probe saw end the failing phase."""
    error = observations.run.error
    found = candidate.diagnosis
    lines = [line for one in found.evidence[:1] for line in one.quote.splitlines() if line.strip()]
    if found.category in GPU_FAULTS and (GPU_ERROR.search(error) or dumped(observations)):
        return True  # its kernels print, its runtime raises, its driver dumps
    return bool(error and lines) and all(one_line(line) in error for line in lines)


def dumped(observations: Observations) -> bool:
    """Tell whether the driver's dump holds an exception of the GPU."""
    return any(e.span.artifact not in PRINTED for e in observations.of(GpuException))


def unproved(candidate: Candidate) -> Candidate:
    if candidate.diagnosis.confidence != "proved":
        return candidate
    likely = candidate.diagnosis.model_copy(update={"confidence": "likely"})
    return replace(candidate, diagnosis=likely)


def contradicted(candidate: Candidate, observations: Observations, *, known: bool) -> Candidate:
    """Put words aside that the end of the process speaks against; `known`: the recorded error says
    why it failed."""
    run, ending = observations.run, observations.ending
    if not run.probed or ending is None or candidate.role not in ("cause", "symptom"):
        return candidate
    error, ends = observations.run.error, observations.of(PythonException)
    raised = ending.code == 1 and bool(ends) and not is_of(candidate, ends[-1])
    caught = bool(error) and not any(one_line(end.message)[:200] in error for end in ends)
    well = ending.clean and bool(run.calls) and is_fault(candidate)
    quiet = observations.run.failure is None
    against = known or (quiet and well) or (raised and (quiet or caught))
    return replace(candidate, role="printed") if against else candidate


def is_of(candidate: Candidate, exception: PythonException) -> bool:
    """Tell whether the words are those of this exception."""
    span, found = exception.span, candidate.diagnosis.evidence[0]
    return (
        found.artifact == span.artifact
        and found.lines is not None
        and span.first <= found.lines[0] <= span.last
    )


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


def downgraded(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Return the candidates, those without a consequence turned into false alarms or notes."""
    found = [without_consequence(c, observations) for c in candidates]
    compared, guards = observations.checks.compare, observations.checks.guards
    if guards is None or not (guards.differences or guards.broken or guards.exception):
        found = [replace(c, role="note") if is_unneeded(c, observations) else c for c in found]
    if any(c.role == "cause" and c.diagnosis.category == "out_of_memory" for c in found):
        found = [replace(c, role="symptom") if c.over_bound else c for c in found]  # its reason
    if compared is None or compared.verdict != "agrees":
        return found
    if compared.near:
        found = [harmless(c) if is_read_only_stride(c, observations) else c for c in found]
    return [strict(c) if c.alone and is_wrong_result(c) else c for c in found]


def without_consequence(candidate: Candidate, observations: Observations) -> Candidate:
    """Make a note of what a memory checker said where nothing is wrong, and of what it said of a
    vendor's kernel whatever is; in a log, where nobody looked, a vendor's kernel is a lead only."""
    if not candidate.advisory:
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
        "means": "healthy models show this too in kernels of NVIDIA's libraries: it matters only "
        "if a result differs",
    }
    return replace(candidate, role="symptom", diagnosis=said.model_copy(update=update))


def is_unneeded(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether only a check that nobody turned on would refuse a call that ended well."""
    found, ending = candidate.diagnosis, observations.ending
    asked = ending is None or not ending.clean or any(map(is_printed, found.evidence))
    return found.category == "false_alarm" and found.input is not None and not asked


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
    run, ending = observations.run, observations.ending
    kept = list(candidates)
    if ending is not None and ending.timed_out:
        return [c for c in kept if not (c.alone and c.diagnosis.category == "host_segfault")]
    if ending is not None and not ending.clean:  # what is no fault explains no failure
        return [
            replace(c, role="note") if is_notice(c) and c.diagnosis.category == "no_fault" else c
            for c in kept
        ]
    if not run.probed or ending is None:
        return kept
    if not all(phase.ok or run.recovered(phase) for phase in run.phases):
        return kept
    kept = [replace(c, role="note") if is_notice(c) else c for c in kept]
    if not run.calls:
        return kept
    gpu = run.uses_cuda
    return [
        replace(c, role="printed") if c.alone and is_fault(c) and not (gpu and on_gpu(c)) else c
        for c in kept
    ]


def is_notice(candidate: Candidate) -> bool:
    """Tell whether a text says of a healthy run how it runs: it is a note, never the headline."""
    return candidate.alone and candidate.role != "clean" and candidate.diagnosis.category in NOTICES


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
