"""Later steps, which follow all replays: those that look for the cause of wrong values."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import anyio

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import failing_call
from aoti_debug.explain.nodes import read_report
from aoti_debug.explain.values import read_bisection, vanished
from aoti_debug.model import Diagnosis, Step
from aoti_debug.read.events import Call
from aoti_debug.triage import decision
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.launch import launch
from aoti_debug.triage.replay import REPORT, interpreter, limit, report_of, words
from aoti_debug.triage.run_state import Ran, RunState


@dataclass(frozen=True, slots=True)
class Context:
    """What a later step may build on: the call, the machine, and how long it may take."""

    call: Captured
    machine: decision.Machine
    budget_s: float


@dataclass(frozen=True, slots=True)
class LaterStep:
    """A named step after all replays. It returns the observations with what it adds to them, and
    records its own Step; what it raises is noted and ends only itself."""

    name: str
    budget_s: float
    take: Callable[[RunState, Observations, Context], Awaitable[Observations]]
    when: Callable[[Observations, Diagnosis], bool] = lambda *_: True


WHY_NODES = "at which operation of the exported program it begins; nothing is compiled"


def nodes_can_tell(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether a run of the exported program, node by node, can add to the answer."""
    custom = observations.events is not None and bool(observations.events.custom_ops)
    asked = ("nan_or_inf", "index_out_of_bounds", *(("wrong_result",) if custom else ()))
    return best.category in asked and best.input is None


async def take_nodes(state: RunState, observations: Observations, context: Context) -> Observations:
    call = context.call
    if impossible := call.why_no_exported or call.why_no_inputs:
        state.done(Step(name="nodes", status="impossible", why=WHY_NODES, finding=impossible))
        return observations
    directory = state.subdirectory("nodes")
    # The package itself is not run here.
    argv = (*interpreter(state, "walk.py"), *words(state, replace(call, package=None), directory))
    ran = await launch(state, "nodes", argv, directory, timeout_s=limit(state))
    report = await anyio.to_thread.run_sync(report_of, ran.directory)
    found = read_report(report, input_numbers(observations)) if report else None
    if found is not None:
        artifact = ran.directory.relative_to(state.directory.path).as_posix() + f"/{REPORT}"
        found = replace(found, artifact=artifact)
    clean = "every value is finite, every index fits" if report else "the process told nothing"
    state.done(step("nodes", WHY_NODES, found.summary if found else clean, ran, state))
    return replace(observations, walked=found)


def step(name: str, why: str, finding: str, ran: Ran, state: RunState) -> Step:
    return Step(
        name=name,
        status="done",
        why=why,
        finding=finding,
        exit=ran.exit.how,
        wall_s=round(ran.exit.wall_s, 2),
        artifact=ran.directory.relative_to(state.directory.path).as_posix(),
    )


def input_numbers(observations: Observations) -> dict[str, int]:
    """Return the numbers of the inputs by their names."""
    call = failing_call(observations) or last_call(observations)
    inputs = call.inputs if call is not None else ()
    return {i.name: i.index for i in inputs if i.name is not None and i.index is not None}


def last_call(observations: Observations) -> Call | None:
    events = observations.events
    return events.calls[-1] if events and events.calls else None


WHY_BISECT = "which value inside the model is the first that is compiled wrong"


def bisect_can_tell(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether values inside the model can add: they differ, and nothing explains it yet."""
    compared = observations.checks.compare
    differs = compared is not None and compared.verdict == "differs"
    unexplained = observations.walked is None and best.input is None
    return best.category == "wrong_result" and unexplained and differs


async def take_bisection(
    state: RunState, observations: Observations, context: Context
) -> Observations:
    call = context.call
    budget = state.request.search_s
    impossible = call.why_no_exported or call.why_no_inputs
    if impossible or budget == 0:
        why_not = impossible or "a budget of 0 s allows no compile"
        state.done(Step(name="bisect", status="impossible", why=WHY_BISECT, finding=why_not))
        return observations
    directory = state.subdirectory("bisect")
    argv = (*interpreter(state, "bisect.py"), *words(state, call, directory))
    argv = (*argv, "--settings", json.dumps(settings_of(observations)))
    argv = argv if budget else (*argv, "--compiles", "1")
    argv = (*argv, "--seconds", str(budget or state.request.timeout_s))
    longest = (budget or 0.0) + state.request.timeout_s
    ran = await launch(state, "bisect", argv, directory, timeout_s=longest)
    report = await anyio.to_thread.run_sync(report_of, ran.directory) or {}
    found = read_bisection(report)
    if found is not None:
        artifact = ran.directory.relative_to(state.directory.path).as_posix() + f"/{REPORT}"
        found = replace(found, artifact=artifact)
    said = found.summary if found else vanished(report) or "the process told nothing"
    state.done(step("bisect", WHY_BISECT, said, ran, state))
    return replace(observations, walked=found)


def settings_of(observations: Observations) -> dict[str, object]:
    """Return the settings that the model was compiled with, of the last compile that was seen."""
    events = observations.events
    lowered = [phase for phase in (events.phases if events else ()) if phase.phase == "lower"]
    found = lowered[-1].details.settings if lowered else None
    return dict(found or {})


NODES = LaterStep("nodes", 300.0, take_nodes, nodes_can_tell)
BISECT = LaterStep("bisect", 7200.0, take_bisection, bisect_can_tell)
