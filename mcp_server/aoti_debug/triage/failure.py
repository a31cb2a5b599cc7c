"""What makes two failures the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import phase_at_end
from aoti_debug.model import Phase
from aoti_debug.read.record import DeviceAssert, PythonException, RuntimeMessage, Terminated

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
        if "API call failed at" in message and (said_why := observations.first(RuntimeMessage)):
            message = said_why.message
        return FailureSignature(phase, last.type, stable(message))
    if ending is not None and ending.code:
        return FailureSignature(phase, f"exit {ending.code}", None)
    return FailureSignature(phase, None, None)


def stable(message: str) -> str:
    first = next((line for line in message.splitlines() if line.strip()), "")
    return VOLATILE.sub("_", first.strip())[:300]
