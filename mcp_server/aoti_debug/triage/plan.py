"""Which steps follow from what the first run showed. Pure: nothing is run here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import uses_cuda
from aoti_debug.model import Category, Diagnosis, Phase
from aoti_debug.triage.captured import Captured

Name = Literal[
    "contract", "guards", "compare", "fakes", "again", "native",
    "memcheck", "initcheck", "racecheck", "synccheck",
]  # fmt: skip
COMPILE: frozenset[Phase] = frozenset(
    {"export", "lower", "autotune", "triton_compile", "cpp_compile", "package", "environment"}
)
GPU: frozenset[Category] = frozenset(
    {"index_out_of_bounds", "illegal_memory_access", "misaligned_address", "kernel_resources"}
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine has for the replays; a reason instead of a tool that is missing."""

    gpu: bool
    no_sanitizer: str = ""
    no_gdb: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """A step to take, or with `impossible` one that should be taken and cannot."""

    name: Name
    why: str
    impossible: str = ""


def first_batch(
    observations: Observations, best: Diagnosis | None, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return the replays of the failing call that the first run calls for; none for a failure
    that came before any call."""
    if best is None or best.phase in COMPILE or not reached_a_call(observations):
        return []
    if best.category == "hang":
        return after_hang(best, captured, machine)
    steps = [
        Planned(
            "contract",
            "an input outside the compiled contract is the most frequent fault and the cheapest "
            "to find",
            "" if captured.replayable else captured.why_not,
        ),
        Planned(
            "guards",
            "the exported program's own guards cover what the model's checks do not (integer "
            "arguments, divisibility)",
            guards_impossible(captured),
        ),
    ]
    ending = observations.ending
    if ending is not None and ending.clean:
        steps.append(
            Planned(
                "compare",
                "the script ended well, so only the values can be wrong",
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
            Planned(
                "memcheck",
                "a GPU fault: access, size and distance to the nearest allocation",
                gpu_impossible(captured, machine),
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
    if crashed(observations):
        steps.append(
            Planned(
                "native",
                "a host signal: the frame in the model's generated wrapper",
                machine.no_gdb or ("" if captured.replayable else captured.why_not),
            )
        )
    return steps


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
    silent = best is not None and best.category in ("wrong_result", "no_fault")
    if not silent or not on_gpu(observations):
        return []
    impossible = gpu_impossible(captured, machine)
    return [
        Planned("memcheck", "a read past a buffer can return garbage", impossible),
        Planned("initcheck", "a read of memory that nothing has written", impossible),
        Planned("racecheck", "a race on shared memory", impossible),
    ]


def reached_a_call(observations: Observations) -> bool:
    events = observations.events
    return events is not None and bool(events.calls)


def on_gpu(observations: Observations) -> bool:
    return observations.events is not None and uses_cuda(observations.events)


def crashed(observations: Observations) -> bool:
    ending = observations.ending
    return ending is not None and ending.signal in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")


def guards_impossible(captured: Captured) -> str:
    return captured.why_no_exported or captured.why_no_inputs


def gpu_impossible(captured: Captured, machine: Machine) -> str:
    if not machine.gpu:
        return "this machine has no GPU that the script can see"
    return machine.no_sanitizer or ("" if captured.replayable else captured.why_not)
