"""Which steps follow from what the first run showed. Pure: nothing is run here."""

from __future__ import annotations

from collections.abc import Mapping
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
    Machine,
    Name,
    Planned,
    in_view_of_dump,
    of_target,
    skip,
    unless,
)
from aoti_debug.triage.fingerprint import reproduced
from aoti_debug.triage.observe import (
    checks_compiled_in,
    crashed,
    crashed_outside,
    on_gpu,
    only_values,
)

WHY: Mapping[Name, str] = {
    "contract": "checks the inputs against what was compiled, the most frequent fault",
    "guards": "checks integer arguments, divisibility and indices, which the model does not check",
    "calls": "checks guards, declared sizes and indices of the calls that are not repeated",
    "fakes": "checks whether each custom operator returns what its fake kernel promised",
    "redzones": "finds the kernel that writes outside a buffer of the host",
    "compare": "the call returned and the script ended, so only values can be wrong",
    "repeats": "a race or a bad read rarely gives the same bits twice",
    "poison": "a result that changes with a pattern in free memory depends on uninitialized memory",
    "writes": "checks whether a custom operator writes to an input without declaring it",
    "trials": "finds the calls that are wrong, and whether one is right with its input corrected",
    "memcheck": "a GPU fault: access, size and distance to the nearest allocation",
    "again": "checks whether the failure is the same every time",
    "native": "finds the frame of the model's generated wrapper that received the signal",
    "synccheck": "a kernel that does not end may wait at a barrier",
}
FORKED = "checks whether the fork keeps the call of the child from returning"
NOT_REPEATED = "the captured call does not fail when it is repeated, so the target itself is run"
COMPILE: frozenset[Phase] = frozenset(
    {"export", "lower", "autotune", "triton_compile", "cpp_compile", "package", "environment"}
)


def planned(name: Name, decision: Decision) -> Planned:
    return Planned(name, WHY[name], decision)


def on_call(name: Name, captured: Captured, decision: Decision) -> Planned:
    if captured.replayable:
        return planned(name, decision)
    return of_target(name, f"{WHY[name]}; on the target itself: {captured.why_not}", decision)


def first_batch(
    observations: Observations, best: Diagnosis | None, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return the replays that the first run calls for; none for a failure before any call."""
    if best is None or best.phase in COMPILE:
        return []
    if captured.forked and captured.replayable:
        return [Planned("trials", FORKED, CHECK)]
    if opaque(observations):
        return of_opaque_program(observations, best, machine)
    if not observations.run.calls:
        dark = crashed(observations, best) and best.category == "host_segfault"
        return [on_call("native", captured, with_gdb(machine))] if dark else []
    if best.category == "hang":
        # A replay would hang too, so only what can say more than the stacks of the first run is
        # worth its time-out.
        known = best.kernel is not None or not machine.gpu
        return [] if known else [planned("synccheck", sanitized_replay(captured, machine))]
    steps = on_failing_call(observations, best, captured, machine)
    open_ = (unless_settled(step, best, captured) for step in steps)
    return [in_view_of_dump(step, observations, best, captured) for step in open_]


def unless_settled(step: Planned, best: Diagnosis, captured: Captured) -> Planned:
    """Skip what could add nothing. A broken contract is the cause only if something is wrong
    because of it, so calls are tried where they can be."""
    if not step.decision.runs or (captured.trials and step.name != "contract"):
        return step
    return replace(step, decision=settled(best, of_target=step.of_target) or step.decision)


def settled(best: Diagnosis, *, of_target: bool = False) -> Decision | None:
    """Say why the first run leaves nothing to check; running the target mostly costs a compile."""
    if best.category == "out_of_memory":
        return skip("another process would not run out of the same memory")
    if best.confidence != "proved":
        return None
    if best.category == "index_out_of_bounds" and best.input is not None and best.kernel:
        return skip("the value, its place and the kernel's line are known")
    if best.category == "constants_missing":
        return skip("the missing constants are known: every call reads null pointers")
    # A stride that differs may do no harm: that takes a comparison of the results.
    if best.category.startswith("contract_") and best.category != "contract_stride":
        return skip("the package's own source proves it")
    line = best.kernel.line if best.kernel is not None else None
    if of_target and best.category in GPU_FAULTS and line is not None:
        return skip(
            "kernel, file and line are known; without a capture the script would have to run again"
        )
    return None


def on_failing_call(
    observations: Observations, best: Diagnosis, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return everything that may say more about a call that failed or ended well."""
    outside = crashed_outside(observations, best)
    # Guards and sizes are held against the graph, which may be kept where the weights are not.
    no_graph = "" if captured.graph is not None else captured.why_no_exported
    no_program = captured.why_no_exported or captured.why_no_inputs
    steps = [
        contract(observations, captured, outside=outside),
        planned("guards", unless(no_graph or captured.why_no_inputs)),
    ]
    if captured.others:
        steps.append(planned("calls", unless(no_graph)))
    if observations.run.custom_ops:
        steps.append(planned("fakes", unless(no_program)))
    if best.category == "host_segfault" and not outside and not on_gpu(observations):
        steps.append(planned("redzones", unless(captured.why_not)))
    if only_values(observations, best, captured.call):
        no_package = captured.why_no_package if captured.package is None else ""
        steps.append(planned("compare", unless(no_program or no_package)))
        repeated = unless(captured.why_not)
        steps += [planned("repeats", repeated), planned("poison", repeated)]
        if captured.threads > 1:
            why = f"{captured.threads} threads called it at once: checks whether it is right then"
            steps.append(Planned("threads", why, repeated))
        if observations.run.custom_ops:
            steps.append(planned("writes", unless(no_program)))
        if captured.trials or captured.pair is not None:
            steps.append(planned("trials", unless("" if captured.pair else no_program)))
    if best.category in GPU_FAULTS and on_gpu(observations):
        steps.append(on_call("memcheck", captured, with_sanitizer(machine)))
    if best.category in GPU_FAULTS and (best.confidence != "proved" or best.input is None):
        steps.append(planned("again", unless(captured.why_not, REPLAY)))
    if outside:
        steps.append(native_outside(observations, machine))
    elif crashed(observations, best):
        steps.append(on_call("native", captured, with_gdb(machine)))
    return steps


def of_opaque_program(
    observations: Observations, best: Diagnosis, machine: Machine
) -> list[Planned]:
    """Return the steps for a program without the probe, which is run again under checks."""
    if best.phase in ("load", "constants") or best.category == "hang":
        return []
    steps, died = list[Planned](), crashed(observations, best)
    if observations.package is not None or died:
        why = f"{OPAQUE}: another run checks whether they fit what was compiled"
        steps.append(of_target("contract", why, with_input_checks(observations)))
    if best.category in GPU_FAULTS or (best.category == "host_segfault" and on_gpu(observations)):
        steps.append(of_target("memcheck", WHY["memcheck"], with_sanitizer(machine)))
    if died:
        steps.append(on_call("native", Captured(why_no_package=OPAQUE), with_gdb(machine)))
    return steps


def contract(observations: Observations, captured: Captured, *, outside: bool) -> Planned:
    ending = observations.ending
    if ending is not None and ending.clean and not captured.replayable:
        return planned("contract", unless(captured.why_not))
    step = on_call("contract", captured, with_input_checks(observations))
    return replace(step, decision=skip(OUTSIDE)) if outside and step.of_target else step


def native_outside(observations: Observations, machine: Machine) -> Planned:
    """Return the debugger's step for a signal after the last call, unless Python's stack is
    enough."""
    why = "a host signal: the native frame"
    if python_tells(observations):
        told = skip(f"{OUTSIDE}, and Python's own stack names the line")
        return of_target("native", why, told)
    return of_target("native", f"{why}; {OUTSIDE}", with_gdb(machine))


def second_batch(
    observations: Observations, best: Diagnosis | None, captured: Captured, machine: Machine
) -> list[Planned]:
    """Return the steps for a failure that no replay shows, and the memory checkers for wrong values
    of a GPU call that no input, guard or operator explains."""
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
    """Return runs of the target where no replay fails and nothing else explains the failure."""
    explained = best.input is not None or best.category == "custom_op_fake_kernel"
    if explained or crashed_outside(observations, best):
        return []
    if observations.of(SanitizerError) or reproduced(observations):
        return []
    steps = [of_target("contract", NOT_REPEATED, with_input_checks(observations))]
    if crashed(observations, best):
        steps.append(of_target("native", NOT_REPEATED, with_gdb(machine)))
    if on_gpu(observations):
        steps.append(of_target("deterministic", NOT_REPEATED, TARGET))
    return steps


def with_input_checks(observations: Observations) -> Decision:
    return unless("" if checks_compiled_in(observations) else NO_CHECKS)


def with_gdb(machine: Machine) -> Decision:
    return unless("" if machine.gdb is not None else NO_GDB, REPLAY)


def with_sanitizer(machine: Machine) -> Decision:
    missing = "" if machine.sanitizer is not None else NO_SANITIZER
    return unless(missing if machine.gpu else NO_GPU, REPLAY)


def sanitized_replay(captured: Captured, machine: Machine) -> Decision:
    decision = with_sanitizer(machine)
    return unless(captured.why_not, decision) if decision.runs else decision
