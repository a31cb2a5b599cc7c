"""Which steps follow from what the first run showed. Pure: nothing is run here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import opaque
from aoti_debug.model import Diagnosis, Phase
from aoti_debug.read.record import SanitizerError
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.symptoms import (
    GPU,
    crashed,
    crashed_outside,
    has_python_stack,
    no_checks,
    on_gpu,
    only_values,
    reached_a_call,
    reproduced,
)

Name = Literal[
    "contract", "guards", "compare", "fakes", "again", "native",
    "memcheck", "initcheck", "racecheck", "synccheck", "deterministic",
]  # fmt: skip
COMPILE: frozenset[Phase] = frozenset(
    {"export", "lower", "autotune", "triton_compile", "cpp_compile", "package", "environment"}
)
NO_GPU = "this machine has no GPU that the script can see"
OPAQUE = "the probe does not see into this program"
OUTSIDE = "the last call had returned, so the model is not where it died"


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine has for the replays; a reason instead of a tool that is missing."""

    gpu: bool
    no_sanitizer: str = ""
    no_gdb: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """A step to take, or with `impossible` one that should be taken and cannot, or with `needless`
    one that could say nothing new. `itself` runs the target itself, not its captured call."""

    name: Name
    why: str
    impossible: str = ""
    itself: bool = False
    needless: str = ""

    @property
    def key(self) -> str:
        return f"{self.name} of the target" if self.itself else self.name


def first_batch(
    observations: Observations, best: Diagnosis | None, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return the replays of the failing call that the first run calls for; none for a failure
    that came before any call."""
    if best is None or best.phase in COMPILE:
        return []
    if opaque(observations):
        return of_opaque_program(observations, best, machine)
    if not reached_a_call(observations):
        dark = crashed(observations, best) and best.category == "host_segfault"
        return [native(captured, machine)] if dark else []
    if best.category == "hang":
        return after_hang(best, captured, machine)
    return [
        replace(step, needless=step.needless or settled(best, itself=step.itself))
        for step in on_failing_call(observations, best, captured, machine)
    ]


def settled(best: Diagnosis, *, itself: bool = False) -> str:
    """Say why the first run leaves nothing to ask, if so; a step must earn what it costs, and one
    that runs the target itself costs a compile more often than not."""
    if best.category == "out_of_memory":
        return "the memory that was short then is not short in another process"
    if best.confidence != "proved":
        return ""
    if best.category == "index_out_of_bounds" and best.input is not None:
        return "the value, where it stands and the kernel's line are known"
    # A stride that differs may do no harm: that takes a comparison of the results.
    if best.category.startswith("contract_") and best.category != "contract_stride":
        return "the package's own source proves it"
    if itself and best.category in GPU and best.kernel is not None and best.kernel.line is not None:
        return "kernel, file and line are known; without a capture it would take the script again"
    return ""


def on_failing_call(
    observations: Observations, best: Diagnosis, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return everything that may say more about a call that failed or ended well."""
    outside = crashed_outside(observations, best)
    steps = [
        contract(observations, captured, outside=outside),
        Planned(
            "guards",
            "what the model's checks leave out: integer arguments, divisibility",
            guards_impossible(captured),
        ),
    ]
    if only_values(observations, best, captured.call):
        steps.append(
            Planned(
                "compare",
                "the call returned and the script ended by itself: only values can be wrong",
                guards_impossible(captured) or captured.why_no_package,
            )
        )
    if observations.events is not None and observations.events.custom_ops:
        steps.append(
            Planned(
                "fakes",
                "the model has custom operators: does each return what its fake kernel promised",
                guards_impossible(captured),
            )
        )
    if best.category in GPU and on_gpu(observations):
        steps.append(
            on_call(
                "memcheck",
                "a GPU fault: access, size and distance to the nearest allocation",
                captured,
                sanitizer_impossible(machine),
            )
        )
    if best.category in GPU:
        steps.append(
            Planned(
                "again",
                "is it the same failure every time",
                "" if captured.replayable else captured.why_not,
            )
        )
    if outside:
        steps.append(native_outside(observations, machine))
    elif crashed(observations, best):
        steps.append(native(captured, machine))
    return steps


def of_opaque_program(
    observations: Observations, best: Diagnosis, machine: Machine
) -> list[Planned]:
    """Return what a program without the probe calls for: it is run again itself, under checks that
    the model or a tool makes."""
    steps: list[Planned] = []
    ending = observations.ending
    has_model = observations.package is not None
    if best.phase in ("load", "constants") or best.category == "hang" or ending is None:
        return steps
    if has_model or crashed(observations, best):
        steps.append(
            Planned(
                "contract",
                f"{OPAQUE}: whether it keeps the compiled contract is checked in a run of its own",
                no_checks(observations),
                itself=True,
            )
        )
    if best.category in GPU or (best.category == "host_segfault" and on_gpu(observations)):
        why = "a GPU fault: access, size and distance to the nearest allocation"
        steps.append(Planned("memcheck", why, sanitizer_impossible(machine), itself=True))
    if crashed(observations, best):
        steps.append(native(Captured(why_no_package=OPAQUE), machine))
    return steps


def contract(observations: Observations, captured: Captured, *, outside: bool) -> Planned:
    why = "does the call fit what was compiled: the most frequent fault"
    ending = observations.ending
    if ending is not None and ending.clean and not captured.replayable:
        return Planned("contract", why, captured.why_not)
    step = on_call("contract", why, captured, no_checks(observations))
    return replace(step, needless=OUTSIDE) if outside and step.itself else step


def native(captured: Captured, machine: Machine) -> Planned:
    why = "a host signal: the frame in the model's generated wrapper"
    return on_call("native", why, captured, machine.no_gdb)


def native_outside(observations: Observations, machine: Machine) -> Planned:
    """Return what a signal after the last call calls for: the target itself under the debugger,
    unless Python's own stack tells the place."""
    why = "a host signal: the native frame"
    if has_python_stack(observations):
        told = f"{OUTSIDE}, and Python's own stack tells the line"
        return Planned("native", why, itself=True, needless=told)
    return Planned("native", f"{why}; {OUTSIDE}", machine.no_gdb, itself=True)


def on_call(name: Name, why: str, captured: Captured, impossible: str) -> Planned:
    """Return a step on the captured call, or where there is none on the target itself."""
    if captured.replayable:
        return Planned(name, why, impossible)
    return Planned(name, f"{why}; on the target itself: {captured.why_not}", impossible, True)


def after_hang(best: Diagnosis, captured: Captured, machine: Machine) -> list[Planned]:
    """Return what a hang calls for. A replay would hang too, so only what can say more than the
    stacks of the first run is worth its time-out."""
    if best.kernel is not None or not machine.gpu:
        return []
    return [
        Planned(
            "synccheck",
            "a kernel that does not end may wait at a barrier",
            gpu_impossible(captured, machine),
        )
    ]


def second_batch(
    observations: Observations, best: Diagnosis | None, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return what is left to look at when a GPU run ended well or gave wrong values, and no
    input, guard or operator is to blame: faults that return garbage without a word. (A NaN that
    the exported program gives too is the model's own.)"""
    if best is not None and (steps := when_not_reproduced(observations, best, machine)):
        return steps
    silent = best is not None and best.category in ("wrong_result", "no_fault")
    if not silent or not on_gpu(observations):
        return []
    impossible = gpu_impossible(captured, machine)
    return [
        Planned("memcheck", "a read past a buffer can return garbage", impossible),
        Planned("initcheck", "a read of memory that nothing has written", impossible),
        Planned("racecheck", "a race on shared memory", impossible),
    ]


def when_not_reproduced(
    observations: Observations, best: Diagnosis, machine: Machine
) -> list[Planned]:
    """Return runs of the target itself where its failure does not come in a replay of the call,
    and nothing else has explained it."""
    if best.input is not None or best.category == "custom_op_fake_kernel":
        return []
    if crashed_outside(observations, best):
        return []
    if observations.of(SanitizerError) or reproduced(observations):
        return []
    why = (
        "the failure does not come when the captured call is repeated, so the target itself is run"
    )
    steps = [Planned("contract", why, no_checks(observations), itself=True)]
    if crashed(observations, best):
        steps.append(Planned("native", why, machine.no_gdb, itself=True))
    if on_gpu(observations):
        steps.append(Planned("deterministic", why, itself=True))
    return steps


def guards_impossible(captured: Captured) -> str:
    return captured.why_no_exported or captured.why_no_inputs


def sanitizer_impossible(machine: Machine) -> str:
    return machine.no_sanitizer if machine.gpu else NO_GPU


def gpu_impossible(captured: Captured, machine: Machine) -> str:
    return sanitizer_impossible(machine) or ("" if captured.replayable else captured.why_not)
