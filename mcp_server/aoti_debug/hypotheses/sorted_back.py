"""The hypothesis that results are put back into order by the index that sorted the inputs."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.calls import path_and_line
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Experiment, Fix
from aoti_debug.symptom import printed, rejects, verdict

GUIDE = "guides/wrong-results.md#compare-with-eager"
WRONG_ORDER = Kind("user_code", "output", Tier.RAISED, GUIDE)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield it where the script rejects results of a right package, or prints that they differ."""
    found, agrees = observations.put_back, observations.agrees
    if found is None or agrees is None:
        return
    if not (rejects(observations) or printed(observations) or verdict(observations)):
        return
    name, instead = found.name[:60], found.instead[:60]
    said = f"results are indexed by {name}, which sorted the inputs, not by its inverse"
    what = f"write each result to its place: found[{name}] = results"
    why = f"{name} is right only where it equals its inverse"
    if instead:
        said = f"results of {instead}, which is sorted, are paired with {name}, which is not"
        what, why = f"pair them with {instead}", "results have the order of what was given"
    call = observations.run.call
    number = f"call {call.call}, " if call is not None and call.call else ""
    tried = f"{number}package against exported program"
    yield WRONG_ORDER.found(
        said,
        agrees.artifact,
        source=[found.line],
        because=[Experiment(experiment=tried, result="agrees: the package is right")],
        fixes=[Fix(what=what, why=why, where=path_and_line(found.line))],
    )
