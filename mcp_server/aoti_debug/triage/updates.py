"""Play what a script did to the weights of its packages, where it did not just give them all."""

from __future__ import annotations

from dataclasses import replace

import anyio.to_thread

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.observations import UpdatePlayed
from aoti_debug.errors import UnreadableInput
from aoti_debug.examine.seen_updates import Changes, changes, played
from aoti_debug.examine.weights import update_words
from aoti_debug.examine.weights_words import headline
from aoti_debug.model import Diagnosis
from aoti_debug.read.examine_reports import WeightsReport
from aoti_debug.read.typed import take
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.later_steps import LaterStep
from aoti_debug.triage.replay import limit, probed
from aoti_debug.triage.run_state import RunState

WHY = "plays how the script updates the weights, and reads back what a call then uses"
MOST = 3  # loaded packages of which that is played


def can_tell(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether an update was more than one load of all weights, and its fault is not known."""
    known = best.confidence == "proved" and best.phase == "constants"
    return not known and any(one.suspicious for one in changes(observations.run))


async def take_updates(state: RunState, observations: Observations, call: Captured) -> Observations:
    """Play the updates of the package that was repeated, of each loaded one until one is wrong."""
    wanted = [one for one in changes(observations.run) if one.suspicious]
    for seen in wanted[-MOST:]:
        found = await play(state, call, seen)
        if found is not None:
            observations = replace(observations, updates=(*observations.updates, found))
            if found.wrong:
                break
    return observations


async def play(state: RunState, call: Captured, seen: Changes) -> UpdatePlayed | None:
    """Play one update; None where that cannot be, or left no report."""
    first, why_not = seen.phases[0].details, call.why_no_package
    name = f"update {first.instance or 1}"
    if call.call is not None and call.call.package != first.package:
        why_not = "it is not the package whose call was repeated"
    if call.package is None or why_not:
        state.impossible(name, WHY, why_not)
        return None
    try:
        update = played(seen, state.directory.path)
    except UnreadableInput as error:
        state.impossible(name, WHY, str(error))
        return None
    directory = state.subdirectory(name.replace(" ", "-"))
    words = update_words(directory, update.steps, update.files)
    plain = replace(call, constants=())  # the steps give them
    ran, document, artifact = await probed(
        state, name, "weights", plain, *words, timeout_s=limit(state)
    )
    failed = (document or {}).get("error")
    if document is None or failed:
        said = f"not played: {failed.get('message')}" if isinstance(failed, dict) else "no report"
        state.done(state.step(name, WHY, ran, said[:300]))
        return None
    report = await anyio.to_thread.run_sync(take, WeightsReport, document)
    found = UpdatePlayed(report, update.phases, artifact, ran.exit.signal)
    said = headline(report.findings) if report.findings else "all constants are the new ones"
    state.done(state.step(name, WHY, ran, said))
    return found


UPDATES = LaterStep("updates", 300.0, take_updates, can_tell)
