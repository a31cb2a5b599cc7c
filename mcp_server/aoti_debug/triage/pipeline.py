"""The road of a triage and of a named stage: first run, what it calls for, the diagnosis."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import anyio

from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.facts.stages import Stage
from aoti_debug.model import Diagnosis, StageAnswer, Step, TriageAnswer
from aoti_debug.read.record import Record
from aoti_debug.run.device import Device
from aoti_debug.run.machine import find_tool
from aoti_debug.triage import debuggers, plan
from aoti_debug.triage.captured_call import Captured, captured, with_names
from aoti_debug.triage.gpus import hold_gpus, unwell
from aoti_debug.triage.hang import stacks_into
from aoti_debug.triage.launch import CORE, core_dumps, tracing, watched
from aoti_debug.triage.observe import ABOUT_THE_CALL, CUDA_GDB, observe
from aoti_debug.triage.package import OpenFiles, is_python, with_package
from aoti_debug.triage.replay import REPLAYS, replay, step_of
from aoti_debug.triage.rerun import recapture, run_itself, wanted
from aoti_debug.triage.run_state import DIAGNOSIS, Cancelled, Ran, RunState
from aoti_debug.triage.source import with_text
from aoti_debug.triage.stage import installed, run_stage, stray_note
from aoti_debug.triage.torch_minifier import run_minifier


async def triage(work: RunState) -> TriageAnswer:
    """Run the target once, watched; replay its failing call as the finding asks; diagnose."""
    async with hold_gpus(work) as devices:
        with OpenFiles() as seen:
            ran = await first_run(work, devices, seen)
        observations = await with_cores(work, ran, devices)
        best = judge(work, observations)
        home = work.directory.path.parent.parent
        again = captured(observations, work.directory.path, home)
        if not (best and plan.settled(best, itself=True)) and wanted(work, observations, again):
            again = await recapture(work, observations, again)
        observations = with_names(observations, again.names)
        observations = await with_package(work, observations, again, seen)
        best = judge(work, observations)
        machine = machine_of(work, devices)
        for batch in (plan.first_batch, plan.second_batch):
            planned = batch(observations, best, again, machine)
            observations = await replays(work, planned, again, observations)
            best = judge(work, observations)
        work.notes.extend(instead(work, again))
        work.notes.extend(await unwell(devices, work.request.target.env))
    return answer(work, observations, ran)


async def first_run(work: RunState, devices: Sequence[Device], seen: OpenFiles) -> Ran:
    """Run the target as the user would; on is only what watches."""
    request, directory = work.request, work.directory.path
    environment = watched(
        {**tracing(directory), **request.target.env},
        directory,
        work.directory.id,
        capture=request.capture,
    )
    if devices:
        work.directory.subdirectory(CORE)
        environment = {**environment, **core_dumps(directory)}
    versions = installed(work)
    ran = await work.run(
        "the script, watched",
        request.target.argv,
        environment,
        directory,
        on_timeout=stacks_into(directory, request.target.env),
        on_start=seen.start if not is_python(work.request.target) else None,
        torch=versions.torch if versions else None,
    )
    work.exit = ran.exit.how
    work.done(
        Step(
            name="first run",
            status="done",
            why="the script as it is, watched",
            exit=ran.exit.how,
            wall_s=round(ran.exit.wall_s, 2),
        )
    )
    return ran


async def with_cores(work: RunState, ran: Ran, devices: Sequence[Device]) -> Observations:
    """Read the GPU core dump of the first fault, if there is one."""
    cores = debuggers.gpu_cores(work.directory.path) if devices else []
    if not cores:
        return ran.observations
    work.say("reading the GPU core dump")
    text = work.directory.path / CUDA_GDB
    why_not = await debuggers.read_core(cores[0], text, work.request.target.env)
    work.done(
        Step(
            name="core dump",
            status="impossible" if why_not else "done",
            why="a GPU exception left a core dump: kernel, line and instruction",
            finding=why_not or None,
        )
    )
    first = ran.observations
    return await anyio.to_thread.run_sync(
        lambda: observe(
            work.directory.path, "", first.ending, first.torch, ours=("cuda.log", CUDA_GDB)
        )
    )


def instead(work: RunState, call: Captured) -> list[str]:
    """Say which call was repeated in place of the one in question, if so."""
    repeated = any(step.status == "done" and step.name in REPLAYS for step in work.steps)
    if call.call is None or call.instead_of is None or not repeated:
        return []
    wanted, found = call.instead_of.call, call.call.call
    return [
        f"call {wanted} failed and its inputs are not kept: call {found}, the first that failed "
        "in the same way, was repeated in its place"
    ]


def machine_of(work: RunState, devices: Sequence[Device]) -> plan.Machine:
    target = work.request.target
    sanitizer = find_tool("compute-sanitizer", target.env, target.python)
    gdb = find_tool("gdb", target.env) or find_tool("cuda-gdb", target.env)
    return plan.Machine(
        gpu=bool(devices),
        no_sanitizer=""
        if sanitizer
        else "compute-sanitizer is not on this machine (it comes with the CUDA toolkit, or with "
        "pip install nvidia-cuda-sanitizer-api)",
        no_gdb="" if gdb else "gdb is not on this machine",
    )


async def replays(
    work: RunState, planned: Sequence[plan.Planned], call: Captured, first: Observations
) -> Observations:
    """Run independent replays side by side and join what they say of the failing call."""
    found: dict[str, Observations] = {}
    limit = anyio.CapacityLimiter(max(1, min(4, os.cpu_count() or 1)))

    async def one(step: plan.Planned, directory: Path) -> None:
        try:
            async with limit:
                run = run_itself(work, step, directory, first) if step.itself else None
                ran = await (run or replay(work, step, call, directory))
        except Cancelled:  # told after the group: in it, the siblings end by the same stop
            return
        work.done(step_of(step, ran, work, first))
        found[step.key] = ran.observations

    # The target itself may write files: it runs alone, one step after the other.
    alone: list[tuple[plan.Planned, Path]] = []
    async with anyio.create_task_group() as tasks:
        for number, step in enumerate(planned, len(work.steps) + 1):
            if why_not := step.impossible or step.needless:
                status: Literal["impossible", "skipped"] = (
                    "impossible" if step.impossible else "skipped"
                )
                work.done(Step(name=step.key, status=status, why=step.why, finding=why_not))
                continue
            name = f"steps/{number:02d}-{step.key.replace(' ', '-')}"
            directory = work.directory.subdirectory(name, new=True)
            if step.itself:
                alone.append((step, directory))
            else:
                tasks.start_soon(one, step, directory)
    for step, directory in alone:
        if not work.stop.is_set():
            await one(step, directory)
    if work.stop.is_set():
        raise Cancelled
    about: list[Record] = [
        record
        for observations in found.values()
        for record in observations.records
        if isinstance(record, ABOUT_THE_CALL)
    ]
    return replace(first, records=(*first.records, *about), steps={**first.steps, **found})


def judge(work: RunState, observations: Observations) -> Diagnosis | None:
    """Diagnose what is known so far; waiters see it at once."""
    found = diagnose(observations)
    work.diagnosis = found[0] if found else None
    work.record()
    return work.diagnosis


def users_directories(work: RunState) -> list[Path]:
    """Return where the user's own files stand: the target's directory, and that of its script."""
    target = work.request.target
    scripts = [Path(word).parent for word in target.argv[:3] if word.endswith(".py")]
    return [path.resolve() for path in (target.cwd, *scripts)]


def answer(work: RunState, observations: Observations, ran: Ran) -> TriageAnswer:
    found = diagnose(observations)
    update = {"run": work.directory.id, "cost": work.cost()}
    best = (
        with_text(found[0], observations, users_directories(work)).model_copy(update=update)
        if found
        else None
    )
    work.diagnosis = best
    if best is not None:
        work.keep(DIAGNOSIS, best.document())
    return TriageAnswer(
        run=work.directory.id,
        status="done",
        diagnosis=best,
        also=found[1:],
        steps=work.steps,
        artifacts=work.artifacts(),
        notes=[*work.notes, *stray_note(ran)],
    )


async def run_named_stage(work: RunState, stage: Stage) -> StageAnswer:
    """Run `stage` on the target, alone on the GPUs that the target can see."""
    async with hold_gpus(work):
        if stage.name == "minifier":
            return await run_minifier(work, stage)
        return await run_stage(work, stage)
