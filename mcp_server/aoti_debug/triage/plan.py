"""Which steps follow from what the first run showed. Pure: nothing is run here."""

from __future__ import annotations

from dataclasses import replace

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import opaque
from aoti_debug.diagnose.from_native import python_tells
from aoti_debug.facts.categories import GPU_FAULTS
from aoti_debug.model import Diagnosis, Phase
from aoti_debug.read.record import SanitizerError
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.decision import (
    CHECK,
    NO_CHECKS,
    NO_GDB,
    NO_GPU,
    NO_SANITIZER,
    OPAQUE,
    OUTSIDE,
    REPLAY,
    TARGET,
    Decision,
    Impossible,
    Machine,
    Name,
    Planned,
    Run,
    Skip,
    in_view_of_dump,
    of_target,
)
from aoti_debug.triage.fingerprint import reproduced
from aoti_debug.triage.observe import (
    checks_compiled_in,
    crashed,
    crashed_outside,
    on_gpu,
    only_values,
)

TRIALS = "which calls are wrong, and is one right without its broken property"
FORKED = "a forked child does not return from a call that its parent has made: is it the fork"
WRITES = "the model has custom operators: does one write to an input without declaring it"
COMPILE: frozenset[Phase] = frozenset(
    {"export", "lower", "autotune", "triton_compile", "cpp_compile", "package", "environment"}
)


def first_batch(
    observations: Observations, best: Diagnosis | None, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return the replays of the failing call that the first run calls for; none for a failure
    that came before any call."""
    if best is None or best.phase in COMPILE:
        return []
    if captured.forked and captured.replayable:
        return [Planned("trials", FORKED, CHECK)]
    if opaque(observations):
        return of_opaque_program(observations, best, machine)
    if not observations.run.calls:
        dark = crashed(observations, best) and best.category == "host_segfault"
        return [native(captured, machine)] if dark else []
    if best.category == "hang":
        return after_hang(best, captured, machine)
    steps = on_failing_call(observations, best, captured, machine)
    settled_or_not = (unless_settled(step, best, captured) for step in steps)
    return [in_view_of_dump(step, observations, best, captured) for step in settled_or_not]


def unless_settled(step: Planned, best: Diagnosis, captured: Captured) -> Planned:
    """Skip what could say nothing new. A contract that a call breaks is the cause only if
    something is wrong because of it: where calls can be tried, they are."""
    if not isinstance(step.decision, Run) or (captured.trials and step.name != "contract"):
        return step
    return replace(step, decision=settled(best, of_target=step.of_target) or step.decision)


def settled(best: Diagnosis, *, of_target: bool = False) -> Skip | None:
    """Say why the first run leaves nothing to ask, if so; a step must earn what it costs, and one
    that runs the target itself costs a compile more often than not."""
    if best.category == "out_of_memory":
        return Skip("the memory that was short then is not short in another process")
    if best.confidence != "proved":
        return None
    if best.category == "index_out_of_bounds" and best.input is not None and best.kernel:
        return Skip("the value, where it stands and the kernel's line are known")
    if best.category == "constants_missing":
        return Skip("the missing constants are known: every call reads null pointers")
    # A stride that differs may do no harm: that takes a comparison of the results.
    if best.category.startswith("contract_") and best.category != "contract_stride":
        return Skip("the package's own source proves it")
    line = best.kernel.line if best.kernel is not None else None
    if of_target and best.category in GPU_FAULTS and line is not None:
        return Skip(
            "kernel, file and line are known; without a capture it would take the script again"
        )
    return None


def on_failing_call(
    observations: Observations, best: Diagnosis, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return everything that may say more about a call that failed or ended well."""
    outside = crashed_outside(observations, best)
    steps = [
        contract(observations, captured, outside=outside),
        Planned(
            "guards",
            "what the model's checks leave out: integer arguments, divisibility, indices",
            with_graph(captured),
        ),
    ]
    if captured.others:
        why = "guards, declared sizes and indices of the calls that are not repeated"
        missing = "" if captured.graph is not None else captured.why_no_exported
        steps.append(Planned("calls", why, Impossible(missing) if missing else CHECK))
    if observations.run.custom_ops:
        steps.append(
            Planned(
                "fakes",
                "the model has custom operators: does each return what its fake kernel promised",
                with_program(captured),
            )
        )
    if only_values(observations, best, captured.call):
        steps += values(captured)
        if captured.threads > 1:
            steps.append(threads(captured))
        if observations.run.custom_ops:
            steps.append(Planned("writes", WRITES, with_program(captured)))
        if captured.trials or captured.pair is not None:
            decision = CHECK if captured.pair is not None else with_program(captured)
            steps.append(Planned("trials", TRIALS, decision))
    if best.category in GPU_FAULTS and on_gpu(observations):
        why = "a GPU fault: access, size and distance to the nearest allocation"
        steps.append(on_call("memcheck", why, captured, with_sanitizer(machine)))
    proved = best.confidence == "proved" and best.input is not None
    if best.category in GPU_FAULTS and not proved:
        decision = REPLAY if captured.replayable else Impossible(captured.why_not)
        steps.append(Planned("again", "is it the same failure every time", decision))
    if outside:
        steps.append(native_outside(observations, machine))
    elif crashed(observations, best):
        steps.append(native(captured, machine))
    return steps


def values(captured: Captured) -> list[Planned]:
    """Return what a call that returned can still be wrong in."""
    compared = with_program(captured)
    if isinstance(compared, Run) and captured.package is None:
        compared = Impossible(captured.why_no_package)
    repeated: Decision = CHECK if captured.replayable else Impossible(captured.why_not)
    return [
        Planned(
            "compare",
            "the call returned and the script ended: only values can be wrong",
            compared,
        ),
        Planned("repeats", "a race or a bad read seldom gives the same bits twice", repeated),
        Planned(
            "poison",
            "a result that changes with a pattern in free memory depends on uninitialized memory",
            repeated,
        ),
    ]


def threads(captured: Captured) -> Planned:
    why = f"{captured.threads} threads called it at the same time: is it right then too"
    return Planned("threads", why, CHECK if captured.replayable else Impossible(captured.why_not))


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
            of_target(
                "contract",
                f"{OPAQUE}: whether it keeps the compiled contract is checked in a run of its own",
                TARGET if checks_compiled_in(observations) else NO_CHECKS,
            )
        )
    if best.category in GPU_FAULTS or (best.category == "host_segfault" and on_gpu(observations)):
        why = "a GPU fault: access, size and distance to the nearest allocation"
        steps.append(of_target("memcheck", why, with_sanitizer(machine)))
    if crashed(observations, best):
        steps.append(native(Captured(why_no_package=OPAQUE), machine))
    return steps


def contract(observations: Observations, captured: Captured, *, outside: bool) -> Planned:
    why = "does the call fit what was compiled: the most frequent fault"
    ending = observations.ending
    if ending is not None and ending.clean and not captured.replayable:
        return Planned("contract", why, Impossible(captured.why_not))
    decision: Decision = CHECK if checks_compiled_in(observations) else NO_CHECKS
    step = on_call("contract", why, captured, decision)
    return replace(step, decision=Skip(OUTSIDE)) if outside and step.of_target else step


def native(captured: Captured, machine: Machine) -> Planned:
    why = "a host signal: the frame in the model's generated wrapper"
    return on_call("native", why, captured, REPLAY if machine.gdb is not None else NO_GDB)


def native_outside(observations: Observations, machine: Machine) -> Planned:
    """Return what a signal after the last call calls for: the target itself under the debugger,
    unless Python's own stack tells the place."""
    why = "a host signal: the native frame"
    if python_tells(observations):
        told = Skip(f"{OUTSIDE}, and Python's own stack tells the line")
        return of_target("native", why, told)
    return of_target("native", f"{why}; {OUTSIDE}", TARGET if machine.gdb is not None else NO_GDB)


def on_call(name: Name, why: str, captured: Captured, decision: Decision) -> Planned:
    """Return a step on the captured call, or where there is none on the target itself."""
    if captured.replayable:
        return Planned(name, why, decision)
    return of_target(name, f"{why}; on the target itself: {captured.why_not}", decision)


def after_hang(best: Diagnosis, captured: Captured, machine: Machine) -> list[Planned]:
    """Return what a hang calls for. A replay would hang too, so only what can say more than the
    stacks of the first run is worth its time-out."""
    if best.kernel is not None or not machine.gpu:
        return []
    why = "a kernel that does not end may wait at a barrier"
    return [Planned("synccheck", why, sanitized_replay(captured, machine))]


def second_batch(
    observations: Observations, best: Diagnosis | None, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return what is left to look at when a failure does not come in a replay; and when the values
    of a GPU call are wrong without an input, guard or operator to blame, which memory is read or
    raced for. A call whose values agree and repeat needs no memory checker."""
    if best is not None and (steps := when_not_reproduced(observations, best, machine)):
        return steps
    silent = best is not None and best.category in ("wrong_result", "concurrency")
    if not silent or not on_gpu(observations) or not observations.checks.abnormal:
        return []
    decision = sanitized_replay(captured, machine)
    return [
        Planned("memcheck", "values differ: a read past a buffer can return garbage", decision),
        Planned("initcheck", "values differ: a read of memory that nothing has written", decision),
        Planned("racecheck", "values differ: a race on shared memory", decision),
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
    checked: Decision = TARGET if checks_compiled_in(observations) else NO_CHECKS
    steps = [of_target("contract", why, checked)]
    if crashed(observations, best):
        steps.append(of_target("native", why, TARGET if machine.gdb is not None else NO_GDB))
    if on_gpu(observations):
        steps.append(of_target("deterministic", why, TARGET))
    return steps


def with_program(captured: Captured) -> Decision:
    """Return whether the exported program can be run on the inputs of the call."""
    why = captured.why_no_exported or captured.why_no_inputs
    return Impossible(why) if why else CHECK


def with_graph(captured: Captured) -> Decision:
    """Return whether the exported program's guards can be held against the inputs of the call."""
    return with_program(
        captured if captured.graph is None else replace(captured, why_no_exported="")
    )


def with_sanitizer(machine: Machine) -> Decision:
    if not machine.gpu:
        return NO_GPU
    return REPLAY if machine.sanitizer is not None else NO_SANITIZER


def sanitized_replay(captured: Captured, machine: Machine) -> Decision:
    decision = with_sanitizer(machine)
    if isinstance(decision, Run) and not captured.replayable:
        return Impossible(captured.why_not)
    return decision
