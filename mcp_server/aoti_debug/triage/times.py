"""Measure where the time of a captured call goes, where the script complains of it."""

from __future__ import annotations

from dataclasses import replace

import anyio.to_thread

from aoti_debug.diagnose import Observations
from aoti_debug.examine.process import unwatched
from aoti_debug.examine.time import measured_by
from aoti_debug.examine.time_findings import findings
from aoti_debug.read.timing_report import TimingReport
from aoti_debug.read.typed import take
from aoti_debug.symptom import complains_of_time
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.later_steps import LaterStep
from aoti_debug.triage.replay import probed
from aoti_debug.triage.run_state import RunState

WHY = "the script complains of how long calls took: where that goes"


async def take_times(state: RunState, observations: Observations, call: Captured) -> Observations:
    """Measure the call in a process of its own."""
    if impossible := call.why_no_package or call.why_no_inputs:
        state.impossible("times", WHY, impossible)
        return observations
    ran, report, _ = await probed(state, "times", "timing", call, flags=unwatched(state))
    found = None
    if report is not None and "error" not in report:
        given = take(TimingReport, report)
        measured = await anyio.to_thread.run_sync(measured_by, given, call)
        found = findings(measured, [], None)
    said = found.summary if found is not None else "the process left no times"
    state.done(state.step("times", WHY, ran, said))
    return replace(observations, timed=found)


TIMES = LaterStep("times", 180.0, take_times, lambda seen, _: complains_of_time(seen) is not None)
