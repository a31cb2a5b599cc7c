"""What a run shows, where a plan turns on it, and what makes two failures the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import failing_call, phase_at_end, uses_cuda
from aoti_debug.diagnose.observations import FAULTS
from aoti_debug.facts.categories import GPU_FAULTS
from aoti_debug.model import Diagnosis, Phase
from aoti_debug.read.events import Call
from aoti_debug.read.record import (
    DeviceAssert,
    FaultHandlerDump,
    NativeBacktrace,
    PythonException,
    RuntimeMessage,
    Terminated,
)

ENVELOPE = "API call failed at"
UNRECORDED = "record every call"  # a note of the probe: not each call has its event


def reproduced(observations: Observations) -> bool:
    """Tell whether every replay that was to repeat the failure has done so."""
    first = failure_of(observations)
    again = observations.steps.get("again")
    if again is not None and not failure_of(again).like(first):
        return False
    native = observations.steps.get("native")
    return native is None or native.first(NativeBacktrace) is not None


def checks_compiled_in(observations: Observations) -> bool:
    """Tell whether the model can check its inputs, unless its package says that it cannot."""
    call = failing_call(observations)
    name = call.model if call is not None else None
    model = observations.package.model(name) if observations.package else None
    return model is None or model.wrapper is None or model.wrapper.checks != "none"


def reached_a_call(observations: Observations) -> bool:
    events = observations.events
    return events is not None and bool(events.calls)


def on_gpu(observations: Observations) -> bool:
    if observations.events is not None and uses_cuda(observations.events):
        return True
    models = observations.package.models if observations.package else ()
    return any((model.device or "").startswith("cuda") for model in models)


def crashed(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether a signal of the host ended the process and its own words do not explain it."""
    ending = observations.ending
    if ending is None or ending.timed_out:
        return False
    return ending.signal in FAULTS or (
        ending.signal == "SIGABRT" and best.category == "host_segfault"
    )


def crashed_outside(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether a signal of the host came when the last call had returned and no phase of
    AOTInductor was open."""
    events = observations.events
    if events is None or events.last_call is None or not crashed(observations, best):
        return False
    unrecorded = any(note.what == UNRECORDED for note in events.notes)
    return events.last_call.ok is True and events.unfinished is None and not unrecorded


def has_python_stack(observations: Observations) -> bool:
    return any(dump.frames for dump in observations.of(FaultHandlerDump))


def only_values(observations: Observations, best: Diagnosis, call: Call | None) -> bool:
    """Tell whether the call returned and the process ended by itself, with whatever status, and
    nothing but the call's values can be to blame."""
    ending = observations.ending
    if ending is None or ending.code is None or ending.timed_out or call is None or not call.ok:
        return False
    outside_the_call = best.category in GPU_FAULTS or best.phase in ("load", "constants")
    return ending.clean or not outside_the_call


# What differs between two runs of the same failure.
VOLATILE = re.compile(r"0x[0-9a-f]+|/[^\s:'\"]*/|\b\d+(\.\d+)?\s?(s|ms|seconds)\b")


@dataclass(frozen=True, slots=True)
class FailureSignature:
    """The phase, the kind of exception or signal, and what it says without its volatile parts."""

    phase: Phase | None
    kind: str | None
    message: str | None

    @property
    def failed(self) -> bool:
        return self.kind is not None

    def same(self, other: FailureSignature) -> bool:
        """Compare kind and message; the phase only when both know it."""
        phases = {self.phase, other.phase} - {None, "none"}
        return self.kind == other.kind and self.message == other.message and len(phases) < 2

    def like(self, other: FailureSignature) -> bool:
        """Tell whether both are the same failure, or at least of the same kind."""
        return self.same(other) or (self.failed and self.kind == other.kind)

    def __str__(self) -> str:
        if not self.failed:
            return "no failure"
        return f"{self.kind}: {self.message}" if self.message else str(self.kind)


def failure_of(observations: Observations) -> FailureSignature:
    """Return the failure signature of one process; its first GPU assertion counts before all."""
    phase = phase_at_end(observations)
    ending = observations.ending
    if asserted := observations.first(DeviceAssert):
        return FailureSignature(phase, "device assert", asserted.condition)
    if ending is not None and ending.timed_out:
        return FailureSignature(phase, "hang", None)
    exceptions = observations.of(PythonException)
    if ending is not None and ending.signal and not exceptions:
        said = observations.first(Terminated)
        return FailureSignature(phase, ending.signal, stable(said.message) if said else None)
    if ending is not None and ending.clean:
        return FailureSignature(phase, None, None)
    if exceptions:
        last = exceptions[-1]
        message = last.message
        if ENVELOPE in message and (said_why := observations.first(RuntimeMessage)):
            message = said_why.message
        return FailureSignature(phase, last.type, stable(message))
    if ending is not None and ending.code:
        return FailureSignature(phase, f"exit {ending.code}", None)
    return FailureSignature(phase, None, None)


def stable(message: str) -> str:
    first = next((line for line in message.splitlines() if line.strip()), "")
    return VOLATILE.sub("_", first.strip())[:300]
