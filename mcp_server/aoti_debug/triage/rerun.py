"""Run a target once more: to capture its failing call, or under a tool where a replay cannot be."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.facts.stages import Setting, stage_named
from aoti_debug.model import Diagnosis
from aoti_debug.read.event_records import Handed
from aoti_debug.run.machine import find_tool
from aoti_debug.symptom import agreeing, printed_in_threads, rejects
from aoti_debug.triage.captured_call import Captured, captured
from aoti_debug.triage.decision import Machine, Planned
from aoti_debug.triage.fingerprint import fingerprint_of
from aoti_debug.triage.later_steps import LaterStep
from aoti_debug.triage.replay import under
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.triage.spawn import spawn
from aoti_debug.triage.stage import torch_version

NAME = "capture"
MOST = 64 << 30  # bytes
SHARE = 2  # of the free disk: one half


def wanted(state: RunState, first: Observations, call: Captured) -> bool:
    """Tell whether the failing call was not captured, so that a second run captures it alone."""
    ending = first.ending
    if not state.request.capture or call.call is None or call.inputs is not None:
        return False
    if call.call.ok or ending is None or ending.clean or ending.timed_out:
        return False
    return call.call.captured is None


async def recapture(state: RunState, first: Observations, call: Captured) -> Captured:
    """Return the call with its inputs, if the failure came at the same call again."""
    assert call.call is not None
    number = call.call.call
    directory = state.subdirectory(NAME)
    ran = await spawn(
        state,
        f"the script again, to capture call {number}",
        state.request.target.argv,
        directory,
        traced=True,
        capture=True,
        flags={
            "AOTI_DEBUG_CAPTURE_CALL": str(number),
            "AOTI_DEBUG_CAPTURE_BYTES": str(min(MOST, shutil.disk_usage(directory).free // SHARE)),
        },
    )
    found, finding = compare(state, first, call, ran)
    why = f"call {number} failed and was not captured ({call.why_no_inputs}): the script is "
    state.done(state.step(NAME, why + "run once more to capture just this call", ran, finding))
    return found


def compare(state: RunState, first: Observations, call: Captured, ran: Ran) -> tuple[Captured, str]:
    """Take the second run's capture only if it is one of the same failure."""
    assert call.call is not None
    bad, failed = ran.observations.run.call, fingerprint_of(ran.observations)
    if not failed.failed:
        return call, "this time the script did not fail: nothing to repeat"
    if bad is None or bad.ok or bad.call != call.call.call:
        where = f"in call {bad.call}" if bad is not None and not bad.ok else "in no call"
        return call, f"this time the script failed {where} ({failed}): not the same failure"
    new = captured(ran.observations, ran.directory, state.home)
    if new.inputs is None:
        why = new.why_no_inputs
        return replace(call, why_no_inputs=why), f"it failed there again, not captured: {why}"
    found = replace(
        call,
        package=call.package or new.package,
        inputs=new.inputs,
        exported=call.exported or new.exported,
        why_no_inputs="",
    )
    same = "in the same way" if failed.like(fingerprint_of(first)) else f"in another way: {failed}"
    return found, f"captured; it failed there again {same}"


HANDED_OVER = "handed-over"  # in the names of steps' directories
WHY_HANDED = "the package is right: checks whether memory is overwritten before it is read"


def handed_can_tell(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether the script rejects results of a package that is right, and no reason is sure;
    or prints that they differ, and calls it in threads."""
    seen, threads = observations.run.references, printed_in_threads(observations)
    unsure = best.confidence != "proved" or any(o.written and o.lazy is None for o in seen)
    mine = ("user_code", "concurrency", "false_alarm", *(("no_fault",) if threads else ()))
    asked = best.category in mine and unsure and (threads or rejects(observations))
    return bool(asked and (agreeing(observations) or not compared_with_program(observations)))


def compared_with_program(observations: Observations) -> bool:
    """Tell whether a call of the package was held against its exported program."""
    checks = observations.checks
    return checks.compare is not None or bool(checks.trials and checks.trials.trials)


async def again(state: RunState, folder: str, flags: Mapping[str, str] | None = None) -> Ran:
    """Run the script once more, in a step's directory of this name."""
    name, argv = folder.replace("-", " "), state.request.target.argv
    return await spawn(state, name, argv, state.subdirectory(folder), traced=True, flags=flags)


def shows(observations: Observations) -> bool:
    """Tell whether a script fails, or prints that results differ."""
    return observations.failed or bool(printed_in_threads(observations))


async def take_handed(state: RunState, observations: Observations, _: Captured) -> Observations:
    """Run the script once more, with each thread given what it was handed, as it was then."""
    if time.time() - state.began > HANDED.budget_s:
        state.impossible(HANDED.name, WHY_HANDED, "the script takes too long to run it again")
        return observations
    ran = await again(state, HANDED_OVER, {"AOTI_DEBUG_HANDED": "1"})
    seen = ran.observations.run.handed
    count = sum(one.count for one in seen if one.late or one.after)
    said = f"{count} reads of overwritten memory; with the original values the script "
    said += "fails too" if shows(ran.observations) else "ends well"
    state.done(state.step(HANDED.name, WHY_HANDED, ran, said))
    if shows(ran.observations) and any(one.lost or one.same_tensor for one in seen):
        return await take_applied(state, observations, ran)
    alone = all(one.same for one in seen if one.late or one.after)
    if not shows(ran.observations) and not alone and not await fails_again(state):
        return observations
    return replace(observations, handed=ran.observations)


async def fails_again(state: RunState) -> bool:
    """Run the script as it is once more, and tell whether it fails again."""
    ran = await again(state, "as-it-is")
    fails = shows(ran.observations)
    said = "fails again" if fails else "ends well now: the outcome varies"
    state.done(state.step("as it is", "checks whether the outcome varies", ran, said))
    return fails


@dataclass(frozen=True, slots=True)
class Applied:
    """An experiment on what is taken for the original, or for a copy, and is not."""

    folder: str
    flag: str
    of: Callable[[Handed], bool]
    what: str
    done: str
    why: str


LOST_WRITES = Applied(
    "lost-writes",
    "lost",
    lambda one: one.lost,
    "writes to a copy that nothing reads",
    "with them applied",
    "a write to a copy that nothing reads changes nothing: applies it to what was copied",
)
NOT_COPIED = Applied(
    "real-copies",
    "copies",
    lambda one: one.same_tensor,
    "calls such as .to() returned the tensor itself",
    "with real copies",
    ".to() and .contiguous() can return the tensor itself: makes them copy",
)


async def take_applied(state: RunState, observations: Observations, handed: Ran) -> Observations:
    """Run the script once more for each experiment that the first one calls for, until it ends
    well."""
    threads = any(one.details.thread for one in observations.run.of("run"))
    for each in (LOST_WRITES, NOT_COPIED):
        count = sum(one.count for one in handed.observations.run.handed if each.of(one))
        if not count:
            continue
        ran = await again(state, each.folder, {"AOTI_DEBUG_HANDED": each.flag})
        said = f"{count} {each.what}; {each.done}, the script "
        said += "fails too" if shows(ran.observations) else "ends well"
        name = each.folder.replace("-", " ")
        state.done(state.step(name, each.why, ran, said))
        if not shows(ran.observations) and (not threads or await fails_again(state)):
            return replace(observations, handed=ran.observations)
    return replace(observations, handed=handed.observations)


HANDED = LaterStep("handed over", 600.0, take_handed, handed_can_tell)

SCRIPT = b"#!"
STAGES = ("contract", "deterministic")


async def run_target(
    state: RunState, planned: Planned, directory: Path, first: Observations, machine: Machine
) -> Ran:
    """Run the target as it is under one tool or under the flags of one stage."""
    target, flags = state.request.target, {}
    watch = planned.name != "native"  # gdb has a Python of its own, where the probe would start
    if planned.name in STAGES:
        setting = Setting(torch_version(state), directory)
        flags = dict(stage_named(planned.name).environment(setting))
    argv = target.argv if watch else executed(target.argv, target.env)
    argv = (*under(planned.name, machine, directory), *argv)
    ran = await spawn(
        state,
        f"the target itself: {planned.name}",
        argv,
        directory,
        flags=flags,
        watch=watch,
        traced=watch,
        recompiles=watch,
    )
    if not watch:
        state.recompiles += len(first.run.compiles)
    return ran


def executed(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the system executes for a `#!` file, which a debugger does not resolve."""
    file = find_tool(argv[0], env) or Path(argv[0])
    try:
        with file.open("rb") as stream:
            first = stream.readline(4096)
    except OSError:
        return argv
    if not first.startswith(SCRIPT):
        return argv
    return (*first[2:].decode(errors="replace").strip().split(None, 1), str(file), *argv[1:])
