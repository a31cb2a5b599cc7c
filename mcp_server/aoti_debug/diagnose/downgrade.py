"""What looks like a fault and proves none: rules broken without harm, tools' and printed words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from aoti_debug.diagnose.calls import writes_to
from aoti_debug.diagnose.observations import Candidate, Observations, Role, evidence, inside
from aoti_debug.facts.categories import GPU_FAULTS, MEANINGS
from aoti_debug.model import Category, Evidence, Fix
from aoti_debug.plain import one_line
from aoti_debug.read.record import GpuException, PythonException
from aoti_debug.symptom import rejects

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


def is_printed(evidence: Evidence) -> bool:
    """Tell whether the target itself printed it: also where it is run again."""
    step, _, name = evidence.artifact.rpartition("/")
    return name in PRINTED and (not step or step.endswith("-of-the-target"))


def agreed(candidate: Candidate, observations: Observations) -> bool:
    """Tell whether the exit, or the error that the probe saw end the failing phase, says the same:
    no text can fake these. That a phase failed says nothing of why."""
    found, ending = candidate.diagnosis, observations.ending
    if ending is None:
        return False
    hung = ending.timed_out and found.phase == "hang"
    crashed = ending.signal is not None and found.category == "host_segfault"
    return hung or crashed or recorded(candidate, observations)


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


@dataclass(frozen=True)
class Case:
    """The candidates as they are when a ruling comes to them."""

    found: Sequence[Candidate]
    observations: Observations

    @cached_property
    def told(self) -> bool:
        """Tell whether the recorded error says why the process failed."""
        return any(explains(candidate, self.observations) for candidate in self.found)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a candidate becomes where something speaks against it."""

    applies: Callable[[Candidate, Case], object]
    role: Role | None = None
    changes: Mapping[str, object] = field(default_factory=dict)  # of its diagnosis
    says: str = ""  # after its summary

    def on(self, candidate: Candidate) -> Candidate:
        summary = candidate.diagnosis.summary + self.says
        found = candidate.but(**self.changes, summary=summary)
        return replace(found, role=self.role or found.role)


def ruled(candidates: Iterable[Candidate], observations: Observations) -> list[Candidate]:
    """Return the candidates as the rulings leave them, one ruling after the other."""
    found = list(candidates)
    for ruling in RULINGS:
        case = Case(found, observations)
        found = [ruling.on(c) if ruling.applies(c, case) else c for c in found]
    return found


def is_of_kind(candidate: Candidate, category: Category) -> bool:
    return candidate.diagnosis.category == category


def is_fault(candidate: Candidate) -> bool:
    return MEANINGS[candidate.diagnosis.category].fault


def on_gpu(candidate: Candidate) -> bool:
    """Tell whether it is a fault that a call which has returned may still bring: a GPU's."""
    return candidate.diagnosis.category in GPU_FAULTS


def of_a_vendor(candidate: Candidate) -> bool:
    return (known := candidate.diagnosis.kernel) is not None and is_vendor_kernel(known.name)


def without_consequence(candidate: Candidate, case: Case) -> bool:
    """Tell whether a memory checker alone says so and nothing is wrong, or it says so of a vendor's
    kernel, of which it says that whatever is."""
    seen = case.observations
    if not candidate.advisory or seen.ending is None:
        return False
    wrong = seen.failed or seen.checks.abnormal
    return not (wrong and (on_gpu(candidate) or not of_a_vendor(candidate)))


def unlooked(candidate: Candidate, case: Case) -> bool:
    """Tell whether a log alone says so of a vendor's kernel: nobody looked for a consequence."""
    return candidate.advisory and case.observations.ending is None and of_a_vendor(candidate)


def unneeded(candidate: Candidate, case: Case) -> bool:
    """Tell whether only a check that nobody turned on would refuse a call that ended well."""
    found, ending = candidate.diagnosis, case.observations.ending
    guards = case.observations.checks.guards
    if guards is not None and (guards.differences or guards.broken or guards.exception):
        return False
    asked = ending is None or not ending.clean or any(map(is_printed, found.evidence))
    return found.category == "false_alarm" and found.input is not None and not asked


def read_only_stride(candidate: Candidate, case: Case) -> bool:
    """Tell whether all that differs, where results agree, is the stride of an input that the model
    only reads: library calls (a matrix product, say) take it as it is, generated kernels do not.
    Sizes and dtypes are not excused: that they fitted says nothing of the next call."""
    found = candidate.diagnosis.input
    return (
        case.observations.agrees is not None
        and case.observations.agrees.near
        and candidate.role == "cause"
        and is_of_kind(candidate, "contract_stride")
        and (found is None or found.property == "stride")
        and not (found is not None and writes_to(case.observations, found.index))
    )


def strict(candidate: Candidate, case: Case) -> bool:
    """Tell whether a script alone says that the result is wrong, and it is the model's."""
    rounding = case.observations.agrees is not None and candidate.alone
    return rounding and is_of_kind(candidate, "wrong_result")


def our_time_out(candidate: Candidate, case: Case) -> bool:
    ending = case.observations.ending
    timed_out = ending is not None and ending.timed_out
    return timed_out and candidate.alone and is_of_kind(candidate, "host_segfault")


def notice(candidate: Candidate, case: Case) -> bool:
    """Tell whether a text only says how a healthy run runs, or is no fault in one that failed."""
    category, ending = candidate.diagnosis.category, case.observations.ending
    if not candidate.alone or candidate.role == "clean" or ending is None or ending.timed_out:
        return False
    if not ending.clean:
        return category == "no_fault"
    return category in NOTICES and all_well(case.observations)


def all_well(observations: Observations) -> bool:
    """Tell whether a process ended well and no phase of AOTInductor failed in it."""
    run, ending = observations.run, observations.ending
    well = ending is not None and ending.clean and run.probed
    again = (run.recovered(one) or run.made_again(one) for one in run.phases if not one.ok)
    return well and all(again)


def only_printed(candidate: Candidate, case: Case) -> bool:
    """Tell whether a fault rests on a text alone where calls were made and all went well."""
    run = case.observations.run
    if not (run.calls and candidate.alone and is_fault(candidate)):
        return False
    return all_well(case.observations) and not (run.uses_cuda and on_gpu(candidate))


def hearsay(candidate: Candidate, case: Case) -> bool:
    """Tell whether nothing but a printed text says so. In a log, everything was printed."""
    seen, proofs = case.observations, candidate.diagnosis.evidence
    only_log = seen.ending is None and not seen.run.probed
    printed = only_log or (bool(proofs) and all(map(is_printed, proofs)))
    return printed and not agreed(candidate, seen)


def unproved(candidate: Candidate, case: Case) -> bool:
    return candidate.diagnosis.confidence == "proved" and hearsay(candidate, case)


def contradicted(candidate: Candidate, case: Case) -> bool:
    """Tell whether the end of the process speaks against printed words."""
    seen = case.observations
    run, ending = seen.run, seen.ending
    told = run.probed and candidate.role in ("cause", "symptom", "envelope")
    if ending is None or not told or not hearsay(candidate, case):
        return False
    ends = seen.of(PythonException)
    words = candidate.diagnosis.evidence[0]
    raised = ending.code == 1 and bool(ends) and not inside(words, evidence(ends[-1].span))
    caught = bool(run.error) and not any(one_line(e.message)[:200] in run.error for e in ends)
    past = candidate.diagnosis.phase in ("package", "load") and rejects(seen)  # calls returned
    well = (ending.clean or past) and bool(run.calls) and is_fault(candidate)
    quiet = run.failure is None
    return case.told or (quiet and well) or (raised and (quiet or caught))


def its_reason(candidate: Candidate, case: Case) -> bool:
    """Tell whether a size over the bound is why memory was short."""
    short = any(c.role == "cause" and is_of_kind(c, "out_of_memory") for c in case.found)
    return candidate.over_bound and short


ROUNDING = (
    "; but the package gives what the exported program gives, up to rounding: the script expects "
    "more, or something else"
)
AGREES = (
    ", but the result agrees with the exported program: what reads this input takes its strides as "
    "they are"
)
VENDOR = (
    "healthy models show this too in kernels of NVIDIA's libraries: it matters only if a result "
    "differs"
)
TOLERANCES = Fix(what="compare with tolerances that fit the dtype (torch.testing.assert_close)")
# What a process that ended well may print and be healthy.
NOTICES: frozenset[Category] = frozenset({"performance", "false_alarm", "no_fault"})
NO_HARM = {"category": "false_alarm", "confidence": "likely"}
RULINGS = (
    Ruling(without_consequence, "note"),
    Ruling(unlooked, "symptom", {"confidence": "possible", "means": VENDOR}),
    Ruling(unneeded, "note"),
    Ruling(its_reason, "symptom"),
    Ruling(read_only_stride, "symptom", NO_HARM, AGREES),
    Ruling(strict, "symptom", {**NO_HARM, "fixes": [TOLERANCES]}, ROUNDING),
    Ruling(our_time_out, "printed"),
    Ruling(notice, "note"),
    Ruling(only_printed, "printed"),
    Ruling(unproved, changes={"confidence": "likely"}),
    Ruling(contradicted, "printed"),
)
