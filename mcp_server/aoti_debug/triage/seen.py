"""What the first run shows, where a plan turns on it."""

from __future__ import annotations

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import failing_call, uses_cuda
from aoti_debug.model import Category, Diagnosis
from aoti_debug.read.events import Call
from aoti_debug.read.record import FaultHandlerDump, NativeBacktrace
from aoti_debug.triage.failure import failure_of

GPU: frozenset[Category] = frozenset(
    {"index_out_of_bounds", "illegal_memory_access", "misaligned_address", "kernel_resources"}
)
CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")
UNRECORDED = "record every call"  # a note of the probe: not each call has its event


def reproduced(observations: Observations) -> bool:
    """Tell whether every replay that was to repeat the failure has done so."""
    first = failure_of(observations)
    again = observations.steps.get("again")
    if again is not None and not failure_of(again).like(first):
        return False
    native = observations.steps.get("native")
    return native is None or native.first(NativeBacktrace) is not None


def no_checks(observations: Observations) -> str:
    """Say why the model cannot check its inputs, if its package tells so."""
    call = failing_call(observations)
    name = call.model if call is not None else None
    model = observations.package.model(name) if observations.package else None
    if model is None or model.wrapper is None or model.wrapper.checks != "none":
        return ""
    return "the package was compiled without input checks"


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
    return ending.signal in CRASHES or (
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
    return ending.clean or (best.category not in GPU and best.phase not in ("load", "constants"))
