"""Run the target once more to capture the failing call, which the first run could not afford."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import compiles, failing_call
from aoti_debug.model import Step
from aoti_debug.triage.captured import Captured, captured
from aoti_debug.triage.failure import failure_of
from aoti_debug.triage.hang import stacks_into
from aoti_debug.triage.watch import watched
from aoti_debug.triage.work import Ran, Work

NAME = "capture"
MOST = 64 << 30  # bytes
SHARE = 2  # of the free disk: one half
FORM = ("the probe's time is used up", "over the budget", "another thread's call")


def wanted(work: Work, first: Observations, call: Captured) -> bool:
    """Tell whether the failing call is known and only the budget kept it from being captured."""
    ending = first.ending
    if not work.request.capture or call.call is None or call.inputs is not None:
        return False
    if call.call.ok or ending is None or ending.clean or ending.timed_out:
        return False
    return any(words in call.why_no_inputs for words in FORM)


async def recapture(work: Work, first: Observations, call: Captured) -> Captured:
    """Return the call with its inputs, if the failure came at the same call again."""
    assert call.call is not None
    number = call.call.call
    directory = work.subdirectory(NAME)
    environment = watched(work.request.target.env, directory, work.directory.id, capture=True) | {
        "AOTI_DEBUG_CAPTURE_CALL": str(number),
        "AOTI_DEBUG_CAPTURE_BYTES": str(affordable(directory)),
    }
    ran = await work.run(
        f"the script again, to capture call {number}",
        work.request.target.argv,
        environment,
        directory,
        on_timeout=stacks_into(directory, work.request.target.env),
        torch=first.torch,
    )
    if ran.observations.events is not None:
        work.recompiles += len(compiles(ran.observations.events))
    found, finding = compare(work, first, call, ran)
    work.done(
        Step(
            name=NAME,
            status="done",
            why=f"call {number} failed and was not captured ({call.why_no_inputs}): the script is "
            "run once more to capture just this call",
            finding=finding,
            exit=ran.exit.how,
            wall_s=round(ran.exit.wall_s, 2),
            artifact=directory.relative_to(work.directory.path).as_posix(),
        )
    )
    return found


def compare(work: Work, first: Observations, call: Captured, ran: Ran) -> tuple[Captured, str]:
    """Take the second run's capture only if it is one of the same failure."""
    assert call.call is not None
    again, failed = failing_call(ran.observations), failure_of(ran.observations)
    if not failed.failed:
        return call, "this time the script did not fail: nothing to repeat"
    if again is None or again.ok or again.call != call.call.call:
        where = f"in call {again.call}" if again is not None and not again.ok else "in no call"
        return call, f"this time the script failed {where} ({failed}): not the same failure"
    new = captured(ran.observations, ran.directory, work.directory.path.parent.parent)
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
    same = "in the same way" if failed.like(failure_of(first)) else f"in another way: {failed}"
    return found, f"captured; it failed there again {same}"


def affordable(directory: Path) -> int:
    return min(MOST, shutil.disk_usage(directory).free // SHARE)
