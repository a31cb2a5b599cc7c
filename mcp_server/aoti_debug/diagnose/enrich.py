"""Finish the best diagnosis with what the other candidates and the package know."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from aoti_debug.diagnose.calls import (
    at_line,
    is_users,
    phase_at_end,
    raised_at,
    users_frame,
)
from aoti_debug.diagnose.downgrade import is_vendor_kernel
from aoti_debug.diagnose.from_export import with_node
from aoti_debug.diagnose.from_gpu import core_of, fault_of, kernel_of
from aoti_debug.diagnose.from_native import native_kernel
from aoti_debug.diagnose.from_package import launch_named, model_lines
from aoti_debug.diagnose.observations import Candidate, Observations
from aoti_debug.model import Diagnosis, Fault, Fix, Kernel, SourceLine, source_of
from aoti_debug.read.record import (
    FaultHandlerDump,
    GpuException,
    Launches,
    PythonException,
    SanitizerError,
)
from aoti_debug.signatures import Signature

MISLEADING = 4
KINDS = {
    "aftermath": "is an effect",
    "envelope": "gives no reason",
    "note": "also appears in healthy runs",
    "printed": "was printed, but no call failed and the script ended well",
}
WITHOUT_CONSEQUENCE = "compute-sanitizer alone says so; nothing is wrong because of it"
BEFORE, EXCERPT = 30, 120  # characters of a quoted message
OPERATORS = "torch/_library/"  # what torch calls an operator of Python's through


def enrich(best: Candidate, ranked: Sequence[Candidate], observations: Observations) -> Diagnosis:
    """Return the best diagnosis with the kernel, the fault, the model's line and what misleads."""
    diagnosis, phase = best.diagnosis, best.diagnosis.phase
    if phase in ("run", "autotune", "output") and best.role != "clean":
        diagnosis = with_kernel(diagnosis, observations)
        diagnosis = with_fault(diagnosis, observations)
    diagnosis = with_origin(diagnosis, observations)
    if diagnosis.category.startswith("contract_") and diagnosis.source and phase == "run":
        diagnosis = with_caller(diagnosis, observations)
    if not diagnosis.source and best.role != "clean" and not best.setting:
        diagnosis = diagnosis.model_copy(update={"source": source(diagnosis, observations)})
    if diagnosis.category == "user_code" and diagnosis.phase == "run":
        diagnosis = with_operator(diagnosis, observations)
    tried = diagnosis.category == "autotune_error" and diagnosis.fault is not None
    if best.role in ("cause", "symptom") and not tried:  # trials come when all code is generated
        diagnosis = with_node(diagnosis, observations)
    update: dict[str, object] = {"misleading": misleading(best, ranked)}
    if best.alone and best.signature is not None:
        update["means"] = best.signature.means
    return diagnosis.model_copy(update=update)


def with_kernel(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Add the kernel that faulted: from the core dump, the memory checker, or the printer."""
    known, found = diagnosis.kernel, kernel_from(observations)
    if found is not None and known is not None:
        if not (known.file and known.file.endswith(known.name)):
            return diagnosis  # else only the file's name was known
        found = known.model_copy(update=found.model_dump(include={"name", "kind", "launch"}))
    return diagnosis.model_copy(update={"kernel": found}) if found is not None else diagnosis


def kernel_from(observations: Observations) -> Kernel | None:
    if (core := core_of(observations)) is not None and core.kernel is not None:
        return kernel_of(core)
    for error in telling_errors(observations):
        if error.kernel is not None and not error.kernel.startswith("__assert"):
            return Kernel(name=error.kernel, file=error.file, line=error.line)
    if (crashed := native_kernel(observations)) is not None:
        return crashed
    for launches in observations.of(Launches):
        if launches.unfinished is not None:
            return Kernel(name=launches.unfinished, launch=launches.unfinished_launch)
    return None


def telling_errors(observations: Observations) -> list[SanitizerError]:
    """Return a memory checker's errors without those that healthy vendor kernels show too."""
    return [
        error
        for error in observations.of(SanitizerError)
        if error.tool == "memcheck" or not is_vendor_kernel(error.kernel)
    ]


def with_origin(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Add the ops of the kernel and the lines of the model that it was made of."""
    kernel = diagnosis.kernel
    if kernel is None:
        return diagnosis
    update: dict[str, object] = {}
    launch = launch_named(observations, kernel.name)
    if launch is not None:
        update["kernel"] = kernel.model_copy(
            update={"launch": kernel.launch or launch.number, "kind": launch.kind}
        )
        if not diagnosis.ops:
            update["ops"] = list(launch.ops)
    if lines := model_lines(observations, kernel.name):
        failed = line_failed(observations)
        first = sorted(lines, key=lambda one: f'File "{one.file}", line {one.line},' not in failed)
        update["source"] = source_of(*first[:3])
    return diagnosis.model_copy(update=update)


def with_caller(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Put the line of the call first: what is wrong came with it. Of a kernel's lines those stay
    that use the input, and not only its device or dtype."""
    name = diagnosis.input.name if diagnosis.input is not None else None
    uses = re.compile(rf"\b{re.escape(name)}\b(?!\.(?:device|dtype)\b)") if name else None
    lines = [one for one in diagnosis.source if uses and one.text and uses.search(one.text)]
    return diagnosis.model_copy(update={"source": [*observations.caller, *lines]})


def with_operator(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Add what a custom operator of the user's raised, and where: AOTInductor hands its exception
    on as text, with the stack of Python below `At:`, innermost first."""
    for exception in observations.of(PythonException):
        said, places = raised_at(exception.message)
        inside = list(itertools.takewhile(lambda place: OPERATORS not in place.file, places))
        own = users_frame(reversed(inside))
        if own is None or len(inside) == len(places):
            continue
        others = [one for one in diagnosis.source if (one.file, one.line) != (own.file, own.line)]
        raised = said.partition("\n")[0][:EXCERPT]
        what = f"fix {own.function}{at_line(own.file, own.line)}, or what the call gave it"
        return diagnosis.model_copy(
            update={
                "summary": f"{diagnosis.summary}: {raised}",
                "source": [*source_of(own), *others],
                "fixes": [Fix(what=what)],
            }
        )
    return diagnosis


def line_failed(observations: Observations) -> str:
    """Return the Python stack of the node at which the exported program fails on these inputs."""
    guards = observations.checks.guards
    return guards.node.stack if guards is not None and guards.node is not None else ""


def with_fault(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    known = diagnosis.fault.model_dump(exclude_none=True) if diagnosis.fault else {}
    fault = Fault()
    if errors := [e for e in telling_errors(observations) if e.access != "assert"]:
        fault = fault_of(errors[0])
    elif cores := [core for core in observations.of(GpuException) if core.block is not None]:
        fault = Fault(block=cores[0].block, thread=cores[0].thread)
    found = fault.model_dump(exclude_none=True)
    signal = observations.ending.signal if observations.ending is not None else None
    if signal is not None and diagnosis.phase == phase_at_end(observations):
        found["signal"] = signal
    if not found and not known:
        return diagnosis
    return diagnosis.model_copy(update={"fault": Fault.model_validate({**found, **known})})


def source(diagnosis: Diagnosis, observations: Observations) -> list[SourceLine]:
    """Return the line of the user's own files at which the process failed: of the traceback
    around the evidence or after it, else of the last one."""
    exceptions = observations.of(PythonException)
    at = diagnosis.evidence[0] if diagnosis.evidence else None
    if at is not None and at.lines is not None:
        begin = at.lines[0]
        after = [e for e in exceptions if e.span.artifact == at.artifact and e.span.last >= begin]
        exceptions = [*after, *reversed(exceptions)]
    else:
        exceptions = exceptions[::-1]
    for exception in exceptions:
        if (frame := users_frame(exception.frames)) is not None:
            return source_of(frame)
    frames = (frame for dump in observations.of(FaultHandlerDump) for frame in dump.frames)
    if (own := next((frame for frame in frames if is_users(frame.file)), None)) is not None:
        return source_of(own)
    return observations.caller if diagnosis.category != "user_code" else []


def misleading(best: Candidate, ranked: Sequence[Candidate]) -> list[str]:
    """Say which other messages of the log only follow from the fault, or name no reason; of a
    process without one, which look like a fault and are none."""
    if best.role not in ("cause", "symptom", "clean"):
        return []
    roles = ("printed", "note") if best.role == "clean" else ("envelope", "aftermath", "note")
    found: list[str] = []
    for candidate in ranked:
        if candidate is best or candidate.role not in roles:
            continue
        if candidate.advisory and candidate.role == "note":
            found.append(f"{candidate.diagnosis.summary}: {WITHOUT_CONSEQUENCE}")
            continue
        if candidate.signature is None or not candidate.diagnosis.evidence:
            continue
        kind = KINDS[candidate.role]
        if candidate.of:
            kind = f"is {candidate.of}'s own failure, after the script's"
        quote = excerpt(candidate.diagnosis.evidence[0].quote, candidate.signature)
        means = first_sentence(candidate.signature.means)
        tells = candidate.role not in ("printed", "note") and "envelope" not in means
        found.append(f"{quote!r} {kind}" + (f": {means}" if tells else "."))
    return found[:MISLEADING]


def excerpt(quote: str, signature: Signature) -> str:
    """Return the part of a line for which the signature matched, with some of its surroundings."""
    found = (re.search(pattern, quote) for pattern in signature.patterns)
    at = min((match.start() for match in found if match is not None), default=0)
    begin = at - BEFORE if at > BEFORE else 0
    cut = quote[begin : begin + EXCERPT]
    return ("…" if begin else "") + cut + ("…" if begin + EXCERPT < len(quote) else "")


def first_sentence(text: str) -> str:
    sentence = text.removeprefix("Only an envelope. ").partition(". ")[0]
    return sentence if sentence.endswith(".") else f"{sentence}."
