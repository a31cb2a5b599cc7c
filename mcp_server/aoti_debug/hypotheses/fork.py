"""The hypothesis that a forked child waits for OpenMP threads, which its parent had started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Experiment, Fix

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Call

STUCK = Kind("hang", "hang", Tier.OWN_CHECK, "guides/threads-streams-hangs.md#forked-processes")


def stuck(observations: Observations) -> Call | None:
    """Return a CPU call that did not return in a forked process, after a call of its parent."""
    run = observations.run
    started = {one.pid for one in run.processes}
    for call in run.calls:
        before = any(c.pid != call.pid and c.span.first < call.span.first for c in run.calls)
        cuda = any((leaf.device or "").startswith("cuda") for leaf in call.inputs)
        if call.ok is None and call.pid not in started and before and not cuda:
            return call
    return None


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield it where a child hangs; proved where a replay's child does, except with one thread."""
    call, ending = stuck(observations), observations.ending
    if call is None or ending is None or ending.signal is not None or ending.clean:
        return
    trials = observations.checks.trials
    child, alone = (trials.forked, trials.forked_alone) if trials is not None else (None, None)
    if child not in (None, "hangs"):
        return
    run = observations.run
    first = next(c for c in run.calls if c.pid != call.pid)
    because = []
    if child is not None:
        because = [
            Experiment(experiment="the call, then again in a forked child", result=child),
            Experiment(experiment="the same, with one thread there", result=alone or "not tried"),
        ]
    said = f"call {call.call} of forked process {call.pid} does not return: its parent ran the "
    said += "package before the fork, and OpenMP's threads do not live on in a child"
    yield STUCK.found(
        said,
        call.span,
        first.span,
        confidence="proved" if (child, alone) == ("hangs", "returns") else "likely",
        source=run.source(call, first),
        because=because,
        fixes=[
            Fix(
                what="start the workers with spawn, or before the parent first runs a model",
                why="a forked child inherits OpenMP's state without its threads",
            ),
            Fix(what="or call torch.set_num_threads(1) at the start of each child"),
        ],
    )
