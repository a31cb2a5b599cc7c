"""The later step that compiles a program without the trial of Inductor's that stopped its compile:
a setting is called a fix when it was seen to be one."""

from __future__ import annotations

import json
from dataclasses import replace

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.from_trial import outcome, settings_of
from aoti_debug.facts.trials import without
from aoti_debug.model import Diagnosis
from aoti_debug.read.record import DeviceAssert
from aoti_debug.read.trial_report import read_trial
from aoti_debug.triage.captured_call import Captured, with_custom_ops
from aoti_debug.triage.captured_program import program_kept
from aoti_debug.triage.later_steps import LaterStep
from aoti_debug.triage.replay import probed
from aoti_debug.triage.run_state import RunState

NAME = "without the trial"
WHY = "the compile stopped in a trial on made-up data: does it end with the trial left out"


def can_tell(_: Observations, best: Diagnosis) -> bool:
    return (best.phase, best.category) == ("autotune", "autotune_error") and bool(best.fault)


async def take(state: RunState, observations: Observations, _: Captured) -> Observations:
    """Compile the kept program in a process of its own, on the device, as the script did but for
    the trial; call the package with the export's example inputs."""
    run = observations.run
    program, why_not = None, "the exported program is not kept"
    if run.compiles:
        program, why_not = program_kept(run, (run.compiles[-1], state.directory.path))
    if program is None:
        state.impossible(NAME, WHY, why_not)
        return observations
    compiled = run.compiles[-1].details
    call = with_custom_ops(Captured(exported=program), run)
    changed = without(compiled.flags or {})
    settings = json.dumps({**(compiled.settings or {}), **changed})
    more = ("--settings", settings, *bound(observations))
    ran, document, artifact = await probed(state, NAME, "without_trial", call, *more)
    found = read_trial(document, changed, artifact)
    state.done(state.step(NAME, WHY, ran, f"{settings_of(changed)}: {outcome(found)}"))
    return replace(observations, without_trial=found)


def bound(observations: Observations) -> tuple[str, ...]:
    """Return the size that the index of the first failed check was held against."""
    check = observations.first(DeviceAssert)
    upper = check.upper if check is not None else None
    return ("--upper", upper) if upper is not None and upper.isdecimal() else ()


TRIAL = LaterStep(NAME, 900.0, take, can_tell)
