"""What makes two failures the same: a signature, and how two of them are held together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from aoti_debug.diagnose import Observations
from aoti_debug.model import Diagnosis
from aoti_debug.read.record import DeviceAssert, FaultHandlerDump
from aoti_debug.triage.observe import ENVELOPE, failure_of

# The steps of a reproduction, and the phases that each of them holds.
STEPS = {
    "export": ("export",),
    "lower": ("lower", "autotune", "triton_compile", "cpp_compile", "package"),
    "load": ("load", "constants"),
    "run": ("run", "none"),
    "output": ("output",),
}
SIGNATURE = "signature.json"  # in the directory of a triage
WRONG = "wrong result"
HANG = "hang"
WRONG_VALUES = ("wrong_result", "nan_or_inf", "custom_op_fake_kernel")
OUT_OF_BOUNDS = "index out of bounds"
# Up to torch 2.12 a failed call from C++ leaves its reason on stderr alone.
_INNER = re.compile(r"Exception in aoti_torch: (?:((?:\w+\.)*\w*Error): )?(.{1,300})")
# Later ones put it into the message: what the user's operator raised, as plain Inductor shows it.
_RAISED = re.compile(r"(?:\w+\.)*(\w*(?:Error|Exception)): (.+)")
# An exception in Python, the end of the process where C++ meets it: one fault of a GPU.
_GPU = re.compile(r"\bCUDA error: ((?:an? )?[a-z][\w -]{3,80})")
_STEP = re.compile(r"^step: (\w{1,20})$", re.MULTILINE)
_KERNEL = re.compile(r"\b((?:cpp|triton)_\w{0,20}?fused_\w{1,400})")
_COMPILER = re.compile(r"\b(?:fatal )?error: (.{1,300})")
_TARGET = re.compile(r"\btarget: ([\w.]{1,200})")
# Names and numbers that another graph of the same fault gives otherwise.
_VOLATILE = re.compile(
    r"\b(?:tmp|buf|arg|primals_|getitem_|s|u|ks|ps|xindex|x|r|c)_?\d+(?:_\d+)*\b|\b0x[0-9a-f]+\b"
    r"|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?L*\b"
)


@dataclass(frozen=True, slots=True)
class Signature:
    """A failure without what another run of it would tell otherwise. None: nothing is known."""

    phase: str | None = None  # one of STEPS
    kind: str | None = None  # the exception's type, a signal, "hang", "wrong result", "exit N"
    message: str | None = None  # of an exception, normalised
    operators: tuple[str, ...] = ()  # of the faulty kernel, or the one that was lowered
    source: str | None = None  # FILE:LINE of the user's
    access: str | None = None  # read, write, assert, ...

    @property
    def failed(self) -> bool:
        return self.kind is not None

    def same(self, other: Signature) -> bool:
        """Tell whether `other` is this failure in another, maybe smaller program.

        Kernels of a smaller program fuse fewer operators: one in common is asked for. The line
        of the source is told, not asked for: a candidate's nodes come from it by construction.
        """
        if self.kind is None or self.kind != other.kind:
            return False
        pairs = (
            (self.phase, other.phase),
            (self.message, other.message),
            (self.access, other.access),
        )
        if any(mine and theirs and mine != theirs for mine, theirs in pairs):
            return False
        if self.operators and other.operators:
            return bool(set(self.operators) & set(other.operators))
        return True

    def common(self, other: Signature) -> Signature:
        """Return what both runs of the same failure told; what differs is dropped."""

        def both(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            return mine if mine == theirs else (() if name == "operators" else None)

        return Signature(**{name: both(name) for name in asdict(self)})

    def with_place(self, diagnosis: Diagnosis | None) -> Signature:
        """Add what a triage found of the place of the fault."""
        if diagnosis is None:
            return self
        source = next((f"{s.file.rpartition('/')[2]}:{s.line}" for s in diagnosis.source), None)
        access = diagnosis.fault.access if diagnosis.fault else None
        kernel = diagnosis.kernel.name if diagnosis.kernel else ""
        operators = self.operators or operators_in(kernel)
        return Signature(self.phase, self.kind, self.message, operators, source, access)

    def document(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value not in (None, ())}

    def __str__(self) -> str:
        if self.kind is None:
            return "no failure"
        where = f" in {self.phase}" if self.phase else ""
        at = f" of {', '.join(self.operators)}" if self.operators else ""
        return f"{self.kind}{where}{at}" + (f": {self.message}" if self.message else "")


def signature_of(observations: Observations, stdout: str, stderr: str) -> Signature:
    """Return the signature of one run of a reproduction, of which the texts are given."""
    failure = failure_of(observations)
    ending = observations.ending
    phase = step_of(stdout)
    if ending is None or ending.clean:
        return Signature(phase, None)
    kind, message = failure.kind, failure.message
    if ending.timed_out:
        return Signature(phase, HANG)
    asserted = observations.first(DeviceAssert)
    if ending.signal is not None:
        message = asserted.condition if asserted else _thrown(stderr)
        kind = "device assert" if asserted and asserted.block else ending.signal
    elif message and message.startswith("wrong result: "):
        return Signature("output", WRONG, "not finite" if "finite" in message else None)
    if message and ENVELOPE in message and (inner := _INNER.findall(stderr)):
        kind, message = inner[0][0] or kind, inner[0][1]  # what comes after it is its aftermath
    if kind == "RuntimeError" and (raised := _RAISED.match(message or "")):
        kind, message = raised[1], raised[2]
    if not asserted and (fault := _GPU.search((stderr if ending.signal else message) or "")):
        kind, message = "CUDA error", fault[1]
    if message and OUT_OF_BOUNDS in message:  # with or without the kernel's file before it
        kind, message = "assert", OUT_OF_BOUNDS
    said = (_compiler_error(stderr) if phase == "lower" else None) or message
    kind = (kind or f"exit {ending.code}").rpartition(".")[2]
    return Signature(
        phase,
        kind,
        normalised(said) if said else None,
        operators_of(stderr, phase),
        access="assert" if message == OUT_OF_BOUNDS else None,
    )


def step_of(stdout: str) -> str | None:
    """Return the phase that the last step of a reproduction belongs to."""
    steps = _STEP.findall(stdout)
    if not steps:
        return None
    last = {"compare": "output", "done": "output"}.get(steps[-1], steps[-1])
    return last if last in STEPS else None


def phase_of(phase: str) -> str | None:
    """Return the step that holds a phase of a triage."""
    return next((step for step, phases in STEPS.items() if phase in phases), None)


def normalised(message: str) -> str:
    """Return a message without the names and numbers that other graphs give otherwise."""
    text = re.sub(r"/[^\s:'\"]*/", "", message)
    return " ".join(_VOLATILE.sub("_", text).split())[:300]


def operators_of(stderr: str, phase: str | None) -> tuple[str, ...]:
    """Return the operators that a failing run names: of a kernel, or of a lowering."""
    if phase == "lower":
        found = _TARGET.findall(stderr)
        return tuple(sorted({name.split(".")[1] for name in found if name.count(".")}))
    kernel = _KERNEL.search(stderr)
    return operators_in(kernel[1]) if kernel else ()


def operators_in(kernel: str) -> tuple[str, ...]:
    """Return the words of a fused kernel's name, which are those of its operators."""
    if "fused_" not in kernel:
        return ()
    words = kernel.partition("fused_")[2].strip("_").split("_")
    return tuple(sorted({word for word in words if word and not word.isdigit()}))


def kernel_in(text: str) -> str | None:
    """Return the first generated kernel that a text names."""
    found = _KERNEL.search(text)
    return found[1] if found else None


def _compiler_error(stderr: str) -> str | None:
    found = _COMPILER.search(stderr)
    return found[1] if found and "CppCompileError" in stderr else None


def _thrown(stderr: str) -> str | None:
    found = re.search(r"what\(\):\s+(.{1,300})", stderr)
    return found[1] if found else None


def frames_of(observations: Observations) -> tuple[str, ...]:
    """Return the innermost Python functions of a process that a signal or a time-out ended."""
    dump = observations.first(FaultHandlerDump)
    return tuple(frame.function for frame in dump.frames[:3]) if dump else ()


def repeats(failed: int, runs: int) -> int:
    """Return how often a flaky candidate must be run to be told from a good one, at 19 in 20.

    The original failed `failed` times of `runs`.
    """
    left, count = 1.0, 0
    rate = failed / runs if runs else 1.0
    while left > 0.05 and count < 12 and rate > 0:
        left *= 1 - rate
        count += 1
    return max(1, count)


def joined(signatures: Sequence[Signature] | Iterable[Signature]) -> Signature:
    """Return what all of them have in common; they are of one failure."""
    first, *others = signatures
    for other in others:
        first = first.common(other)
    return first


def signature_of_run(observations: Observations, diagnosis: Diagnosis | None) -> Signature:
    """Return the signature of a script's own run, by which runs of many scripts can be grouped."""
    failure = failure_of(observations)
    ending = observations.ending
    phase = phase_of(failure.phase) if failure.phase else None
    if ending is not None and ending.timed_out:
        return Signature(phase, HANG).with_place(diagnosis)
    kind, message = failure.kind, failure.message
    if kind is None or kind.startswith("exit "):
        if diagnosis is not None and diagnosis.category in WRONG_VALUES:
            return Signature("output", WRONG).with_place(diagnosis)
        return Signature(phase, kind).with_place(diagnosis)
    if message and OUT_OF_BOUNDS in message:
        kind, message = "assert", OUT_OF_BOUNDS
    said = normalised(message) if message else None
    return Signature(phase, kind.rpartition(".")[2], said).with_place(diagnosis)
