"""The road of a triage and of a named stage: first run, what it calls for, the diagnosis."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from aoti_debug.answers import StageAnswer, TriageAnswer
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.errors import AotiDebugError
from aoti_debug.facts.stages import Stage
from aoti_debug.model import Diagnosis, Next, Step
from aoti_debug.read.checks import CheckReports
from aoti_debug.run.device import Device
from aoti_debug.run.files import write_atomically
from aoti_debug.run.machine import find_tool
from aoti_debug.run.target import script_and_args, tree_of
from aoti_debug.triage import debuggers, plan
from aoti_debug.triage.captured_call import (
    Captured,
    captured,
    guards_asked,
    with_names,
    with_sizes,
    with_trials,
)
from aoti_debug.triage.decision import CHECK, REPLAY, TARGET, Machine, Planned
from aoti_debug.triage.earlier_packages import compiled_in
from aoti_debug.triage.environment import CORE, core_dumps
from aoti_debug.triage.explanation import with_explanation, with_text
from aoti_debug.triage.findings import finding, steps_of
from aoti_debug.triage.fingerprint import FILE, document_of, of_run
from aoti_debug.triage.later_steps import BISECT, NODES, OLDER, PUT_BACK, TRIAL, UNUSED, LaterStep
from aoti_debug.triage.observe import (
    ABOUT_THE_CALL,
    CUDA_GDB,
    dump_tells,
    observe,
    takes_nan_for_missing,
)
from aoti_debug.triage.package import OpenFiles, with_package
from aoti_debug.triage.proposals import with_patch
from aoti_debug.triage.replay import check_call, replay
from aoti_debug.triage.rerun import HANDED, recapture, run_target, wanted
from aoti_debug.triage.run_state import DIAGNOSIS, Cancelled, Ran, RunState
from aoti_debug.triage.script_files import keep_sources
from aoti_debug.triage.spawn import hold_gpus, spawn, unwell
from aoti_debug.triage.stage import all_notes, run_stage
from aoti_debug.triage.times import TIMES
from aoti_debug.triage.updates import UPDATES

PATCH = "fix.patch"

LATER: list[LaterStep] = [UPDATES, TRIAL, NODES, BISECT, OLDER, UNUSED, PUT_BACK, HANDED, TIMES]


async def triage(state: RunState) -> TriageAnswer:
    """Run the target once, watched; replay its failing call as the finding asks; diagnose."""
    async with hold_gpus(state) as devices:
        with OpenFiles() as seen:
            ran = await first_run(state, devices, seen)
        observations = await with_cores(state, ran, devices)
        expects_nan = await anyio.to_thread.run_sync(takes_nan_for_missing, observations)
        observations = replace(observations, expects_nan=expects_nan)
        best = judge(state, observations)
        call = captured(observations, state.directory.path, state.home)
        known = best is not None and plan.settled(best, of_target=True) is not None
        if not known and wanted(state, observations, call):
            call = await recapture(state, observations, call)
        observations = with_names(observations, call.names)
        observations = replace(observations, to_compare=call.to_have_exported)
        observations = await with_package(state, observations, call, seen)
        call = await anyio.to_thread.run_sync(with_trials, call, observations, state.directory.path)
        folders = compiled_in(observations.run, state.directory.path)
        asked = await anyio.to_thread.run_sync(guards_asked, call, folders)
        observations = replace(observations, trials=call.trials, asked=asked)
        best = judge(state, observations)
        if best is not None and dump_tells(observations, best):
            call = await anyio.to_thread.run_sync(with_sizes, call)
        target = state.request.target
        machine = Machine(
            gpu=bool(devices),
            sanitizer=find_tool("compute-sanitizer", target.env, target.python),
            gdb=find_tool("gdb", target.env) or find_tool("cuda-gdb", target.env),
        )
        for batch in (plan.first_batch, plan.second_batch):
            planned = batch(observations, best, call, machine)
            observations = await take(state, planned, call, machine, observations)
            best = judge(state, observations)
        observations = await later(state, observations, call)
        state.notes.extend(instead(state, call))
        state.notes.extend(await unwell(devices, target.env))
    found = answer(state, observations, ran)
    if state.request.verifies:
        from aoti_debug.triage.verified import with_verdict

        found = await with_verdict(state, found, state.directory.path / PATCH)
    return found


async def later(state: RunState, observations: Observations, call: Captured) -> Observations:
    for step in LATER:
        best = state.diagnosis
        if best is None or not step.when(observations, best):
            continue
        state.say(step.name)
        try:
            with anyio.move_on_after(step.budget_s) as clock:
                observations = await step.take(state, observations, call)
            if clock.cancelled_caught:
                state.notes.append(f"{step.name} did not end within {step.budget_s:.0f} s")
        except Cancelled:
            raise
        except AotiDebugError as error:
            state.notes.append(f"{step.name}: {error}")
        judge(state, observations)
    return observations


async def first_run(state: RunState, devices: Sequence[Device], seen: OpenFiles) -> Ran:
    """Run the target as the user would, with the probe and nothing else added."""
    target, directory = state.request.target, state.directory.path
    flags: dict[str, str] = {}
    script, _ = script_and_args(target)
    if script is not None:
        tree = tree_of(target, script)
        await anyio.to_thread.run_sync(keep_sources, directory, script, tree)
    if devices:
        state.directory.subdirectory(CORE)
        flags = core_dumps(directory)
    ran = await spawn(
        state,
        "the script, watched",
        target.argv,
        directory,
        traced=True,
        flags=flags,
        capture=state.request.capture,
        recompiles=False,
        watch_for_s=state.request.watch_for_s,
        # A script for the interpreter that it was resolved with has the probe.
        on_start=None if target.argv[0] == str(target.python) else seen.start,
    )
    state.ended = ran.exit
    state.done(state.step("first run", "the script as it is, watched", ran))
    return ran


async def with_cores(state: RunState, ran: Ran, devices: Sequence[Device]) -> Observations:
    first, place = ran.observations, state.directory.path
    cores = debuggers.gpu_cores(place) if devices else []
    if not cores:
        return first
    state.say("reading the GPU core dump")
    began = time.monotonic()
    why_not = await debuggers.read_core(cores[0], place / CUDA_GDB, state.request.target.env)
    state.done(
        Step(
            name="core dump",
            status="impossible" if why_not else "done",
            why="a GPU exception left a core dump: kernel, line and instruction",
            finding=why_not or None,
            wall_s=round(time.monotonic() - began, 2),
        )
    )
    left = place, "", first.ending, first.torch, ("cuda.log", CUDA_GDB)
    return await anyio.to_thread.run_sync(observe, *left)


def instead(state: RunState, call: Captured) -> list[str]:
    """Say which other call was repeated, and with which weights, if not with its own."""
    repeated = any(step.artifact for step in state.steps)
    if call.why_no_constants and repeated:
        weights = "the replays use the package's own weights, not what load_constants was given: "
        state.notes.append(weights + call.why_no_constants)
    if call.call is None or call.instead_of is None or not repeated:
        return []
    wanted, found = call.instead_of, call.call.call
    if wanted.error is None:
        what, which = "returned", "the last that returned and is kept"
    else:
        what, which = "failed", "the first that failed in the same way"
    why = f" ({wanted.why_not})" if wanted.why_not else ""
    return [
        f"call {wanted.call} {what} and its inputs are not kept{why}: call {found}, {which}, was "
        "repeated in its place"
    ]


async def take(
    state: RunState,
    planned: Sequence[Planned],
    call: Captured,
    machine: Machine,
    first: Observations,
) -> Observations:
    """Take the planned steps and join what they say of the call: checks in one process, replays
    beside it, the target alone, since it may write files. A step that the user stops is left out,
    and the stop is raised after the others have ended."""
    first = not_taken(state, planned, first)
    reports, processes = CheckReports(), list[Ran]()
    found: dict[str, Observations] = {}
    limit = anyio.CapacityLimiter(max(1, min(4, os.cpu_count() or 1)))

    async def checks(steps: Sequence[Planned]) -> None:
        nonlocal reports, processes
        with contextlib.suppress(Cancelled):
            async with limit:
                reports, processes = await check_call(state, call, [step.name for step in steps])
            for step in steps_of(steps, reports, processes, state, call.call):
                state.done(step)

    async def alone(step: Planned) -> None:
        with contextlib.suppress(Cancelled):
            directory = state.subdirectory(step.key.replace(" ", "-"))
            async with limit:
                if step.decision == TARGET:
                    ran = await run_target(state, step, directory, first, machine)
                else:
                    ran = await replay(state, step.name, call, directory, machine)
            state.done(state.step(step.key, step.why, ran, finding(step, ran, first)))
            found[step.key] = ran.observations

    async with anyio.create_task_group() as tasks:
        if shared := [step for step in planned if step.decision == CHECK]:
            tasks.start_soon(checks, shared)
        for step in planned:
            if step.decision == REPLAY:
                tasks.start_soon(alone, step)
    for step in planned:
        if step.decision == TARGET and not state.stop.is_set():
            await alone(step)
    if state.stop.is_set():
        raise Cancelled
    ended = (*(one.observations for one in processes), *found.values())
    about = [r for one in ended for r in one.records if isinstance(r, ABOUT_THE_CALL)]
    return replace(
        first,
        records=(*first.records, *about),
        checks=first.checks.joined(reports),
        steps={**first.steps, **found},
    )


def not_taken(state: RunState, planned: Sequence[Planned], first: Observations) -> Observations:
    """Record the steps that are skipped or impossible."""
    impossible = dict(first.impossible)
    for step in planned:
        how, why_not = step.decision.how, step.decision.why
        if how in ("skipped", "impossible"):
            state.done(Step(name=step.key, status=how, why=step.why, finding=why_not))
        if how == "impossible":
            impossible[step.key] = why_not
    return replace(first, impossible=impossible)


def judge(state: RunState, observations: Observations) -> Diagnosis | None:
    """Diagnose what is known so far; waiters see it at once."""
    state.diagnosis = next(iter(diagnose(observations)), None)
    state.record()
    return state.diagnosis


def answer(state: RunState, observations: Observations, ran: Ran) -> TriageAnswer:
    found = diagnose(observations)
    best = None
    if found:
        target = state.request.target  # the user's files stand where it runs, and its script does
        scripts = [Path(word).parent for word in target.argv[:3] if word.endswith(".py")]
        users = [path.resolve() for path in (target.cwd, *scripts)]
        best = with_text(with_explanation(found[0], observations, users), observations, users)
        best = best.model_copy(update={"run": state.directory.id, "cost": state.cost()})
        best = proposed(state, best, observations)
        state.keep(DIAGNOSIS, best.document())
        state.keep(FILE, document_of(of_run(observations, best)))
    state.diagnosis = best
    return TriageAnswer(
        run=state.directory.id,
        status="done",
        diagnosis=best,
        also=found[1:],
        steps=state.steps,
        artifacts=state.artifacts(),
        notes=all_notes(state, ran),
    )


def proposed(state: RunState, best: Diagnosis, observations: Observations) -> Diagnosis:
    """Add a patch of the user's file where one is certain; it is kept as a file, for verify."""
    target = state.request.target
    script, _ = script_and_args(target)
    if script is None:
        return best
    found = with_patch(best, observations, tree_of(target, script), script)
    patch = found.fixes[0].patch if found.fixes else None
    if patch is None:
        if best.category == "no_fault":
            return best
        return best.model_copy(update={"next": [*best.next, to_verify(str(script), state)]})
    path = state.directory.path / PATCH
    try:
        write_atomically(path, patch.encode())
    except OSError as error:
        state.notes.append(f"the patch could not be written to {path.name}: {error.strerror}")
        return found
    why = "applies the first fix to a copy of your files and verifies it"
    step = to_verify(str(path), state, why)
    return found.model_copy(update={"next": [step, *found.next]})


def to_verify(what: str, state: RunState, why: str = "") -> Next:
    """Return the step that runs a fix, by default the script once it is changed."""
    arguments = {"what": what, "against": state.directory.id}
    why = why or "run this after the fix: it tests the script and held-out inputs"
    return Next(tool="verify_fix", arguments=arguments, why=why)


async def run_named_stage(state: RunState, stage: Stage) -> StageAnswer:
    """Run `stage` on the target, alone on the GPUs that the target can see."""
    async with hold_gpus(state):
        if stage.name == "minifier":
            from aoti_debug.minify.stock import dump_and_search

            return (await dump_and_search(state, stage))[0]
        return await run_stage(state, stage)
