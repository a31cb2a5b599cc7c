"""The fingerprint of a failure: of one process, and of a run with its diagnosis."""

from __future__ import annotations

import re
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import phase_at_end
from aoti_debug.model import Diagnosis
from aoti_debug.read.record import (
    DeviceAssert,
    NativeBacktrace,
    PythonException,
    RuntimeMessage,
    Terminated,
)
from aoti_debug.vocabulary import Fingerprint, Place

# The steps of a reproduction, and the phases that each of them holds.
STEPS = {
    "export": ("export",),
    "lower": ("lower", "autotune", "triton_compile", "cpp_compile", "package"),
    "load": ("load", "constants"),
    "run": ("run",),
    "output": ("output",),
}
WRONG = "wrong result"
HANG = "hang"
NOT_FINITE = "not finite"
OUT_OF_BOUNDS = "index out of bounds"
WRONG_VALUES = ("wrong_result", "nan_or_inf", "custom_op_fake_kernel")
FILE = "signature.json"  # in the directory of a triage
_ADAPTER = TypeAdapter(Fingerprint)
ENVELOPE = "API call failed at"
# Up to torch 2.12 a failed call from C++ leaves its reason on stderr alone.
_INNER = re.compile(r"Exception in aoti_torch: (?:((?:\w+\.)*\w*Error): )?(.{1,300})")
# Later ones put it into the message: what the user's operator raised, as plain Inductor shows it.
_RAISED = re.compile(r"(?:\w+\.)*(\w*(?:Error|Exception)): (.+)")
# An exception in Python, the end of the process where C++ meets it: one fault of a GPU.
_GPU = re.compile(r"\bCUDA error: ((?:an? )?[a-z][\w -]{3,80})")
_THROWN = re.compile(r"what\(\):\s+(.{1,300})")
_COMPILER = re.compile(r"\b(?:fatal )?error: (.{1,300})")
_STEP = re.compile(r"^step: (\w{1,20})$", re.MULTILINE)
_KERNEL = re.compile(r"\b((?:cpp|triton)_\w{0,20}?fused_\w{1,400})")
_TARGET = re.compile(r"\btarget: ([\w.]{1,200})")
# Differs between two runs of one failure: addresses, folders, durations.
_VOLATILE = re.compile(r"0x[0-9a-f]+|/[^\s:'\"]*/|\b\d+(\.\d+)?\s?(s|ms|seconds)\b")


def fingerprint_of(
    observations: Observations, stderr: str = "", step: str | None = None
) -> Fingerprint:
    """Return the fingerprint of one process; the first assertion of a GPU comes first. `step` is
    the last step that a reproduction printed ("" for none); for other processes it is None and the
    events give the phase."""
    ending = observations.ending
    phase = step_holding(phase_at_end(observations)) if step is None else step or None
    asserted = observations.first(DeviceAssert)
    exceptions = observations.of(PythonException)
    kind: str | None
    if asserted is not None:
        signal = ending.signal if ending is not None else None
        kind = signal if signal and not asserted.block else "device assert"
        message: str | None = asserted.condition
    elif ending is not None and ending.timed_out:
        return Fingerprint(phase, HANG)
    elif ending is not None and ending.signal and not exceptions:
        said = observations.first(Terminated)
        kind, message = ending.signal, said.message if said else _found(_THROWN, stderr)
    elif ending is not None and ending.clean:
        return Fingerprint(phase)
    elif exceptions:
        kind, message = exceptions[-1].type, exceptions[-1].message
        if step is not None and message.startswith(f"{WRONG}: "):
            return Fingerprint("output", WRONG, NOT_FINITE if "finite" in message else None)
    elif ending is not None and ending.code:
        return Fingerprint(phase, f"exit {ending.code}")
    else:
        return Fingerprint(phase)
    if message and ENVELOPE in message:
        kind, message = _reason(observations, stderr, kind, message)
    return _normal(phase, kind, message, stderr, asserted is not None)


def _reason(
    observations: Observations, stderr: str, kind: str, message: str
) -> tuple[str, str | None]:
    if inner := _INNER.search(stderr):
        return inner[1] or kind, inner[2]
    said = observations.first(RuntimeMessage)
    return kind, said.message if said is not None else message


def _normal(
    phase: str | None, kind: str, message: str | None, stderr: str, asserted: bool
) -> Fingerprint:
    """Return the fingerprint of a failure, however it came to be shown."""
    if kind == "RuntimeError" and (raised := _RAISED.match(message or "")):
        kind, message = raised[1], raised[2]
    if not asserted and (fault := _GPU.search(message or stderr)):
        kind, message = "CUDA error", fault[1]
    if message and OUT_OF_BOUNDS in message:  # with or without the kernel's file before it
        operators = operators_named(stderr, phase)
        return Fingerprint(phase, "assert", OUT_OF_BOUNDS, operators, access="assert")
    if phase == "lower" and "CppCompileError" in stderr:
        message = _found(_COMPILER, stderr) or message
    kind = kind if kind.startswith("exit ") else kind.rpartition(".")[2]
    return Fingerprint(
        phase, kind, stable(message) if message else None, operators_named(stderr, phase)
    )


def of_reproduction(observations: Observations, stdout: str, stderr: str) -> Fingerprint:
    last = next(reversed(_STEP.findall(stdout)), "")
    step = {"compare": "output", "done": "output"}.get(last, last)
    return fingerprint_of(observations, stderr, step if step in STEPS else "")


def of_run(observations: Observations, diagnosis: Diagnosis | None) -> Fingerprint:
    """Return the fingerprint of a script's own run, by which runs of many scripts are grouped."""
    found = fingerprint_of(observations)
    values = diagnosis is not None and diagnosis.category in WRONG_VALUES
    if values and (found.kind is None or found.kind.startswith("exit ")):
        found = Fingerprint("output", WRONG)
    return placed(found, diagnosis)


def document_of(found: Fingerprint) -> dict[str, object]:
    written: dict[str, object] = _ADAPTER.dump_python(found, mode="json", exclude_defaults=True)
    return written


def read_fingerprint(data: bytes) -> Fingerprint | None:
    try:
        return _ADAPTER.validate_json(data)
    except ValidationError:
        return None


def expected_of(
    observations: Observations, diagnosis: Diagnosis | None, stderr: str = ""
) -> list[Fingerprint]:
    """Return the fingerprints that a repetition may have: of the process's end, of what its failing
    phase raised, and of wrong values that the diagnosis names."""
    category = diagnosis.category if diagnosis is not None else None
    values = category in WRONG_VALUES
    ended, phase = fingerprint_of(observations, stderr), observations.run.failure
    found: list[Fingerprint] = []
    if ended.failed and (ended.phase or not (values or (ended.kind or "").startswith("exit "))):
        found.append(ended)
    if phase is not None and phase.error is not None:
        message = None if ENVELOPE in phase.error.message else phase.error.message
        step = step_holding(phase.phase)
        found.append(_normal(step, phase.error.type, message, stderr, asserted=False))
    if values:
        found.append(Fingerprint("output", WRONG, NOT_FINITE if category == "nan_or_inf" else None))
    return found


def reproduced(observations: Observations) -> bool:
    """Tell whether every replay that was to repeat the failure has done so."""
    first = fingerprint_of(observations)
    again = observations.steps.get("again")
    if again is not None and not fingerprint_of(again).like(first):
        return False
    native = observations.steps.get("native")
    return native is None or native.first(NativeBacktrace) is not None


def placed(found: Fingerprint, diagnosis: Diagnosis | None) -> Fingerprint:
    """Add what a triage found of the place of the fault."""
    if diagnosis is None:
        return found
    source = next(iter(diagnosis.source), None)
    kernel = diagnosis.kernel.name if diagnosis.kernel else ""
    return replace(
        found,
        operators=found.operators or operators_in(kernel),
        place=Place(source.file, source.line, text=source.text) if source else None,
        access=diagnosis.fault.access if diagnosis.fault else None,
    )


def step_holding(phase: str | None) -> str | None:
    return next((step for step, phases in STEPS.items() if phase in phases), None)


def operators_named(stderr: str, phase: str | None) -> tuple[str, ...]:
    """Return the operators that a failing run names: of a kernel, or of a lowering."""
    if phase == "lower":
        found = _TARGET.findall(stderr)
        return tuple(sorted({name.split(".")[1] for name in found if name.count(".")}))
    return operators_in(kernel_in(stderr) or "")


def operators_in(kernel: str) -> tuple[str, ...]:
    """Return the words of a fused kernel's name, which are those of its operators."""
    words = kernel.partition("fused_")[2].split("_")
    return tuple(sorted({word for word in words if word and not word.isdigit()}))


def kernel_in(text: str) -> str | None:
    return _found(_KERNEL, text)


def stable(message: str) -> str:
    """Return the first line of a message without what differs between two runs."""
    first = next((line for line in message.splitlines() if line.strip()), "")
    return _VOLATILE.sub("_", first.strip())[:300]


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None
