"""The hypothesis that operators of the model draw random numbers, so that no two calls agree. What
training mode leaves active is told apart from what the model means to draw."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.diagnose.from_values import left_in_training
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Evidence, Experiment, Fix
from aoti_debug.symptom import rejects

FIX = Fix(
    what="compare means over many calls, or with drawing off; where it is not meant, pass "
    "training=self.training there and compile again",
    why="what the line itself turns on, eval() does not turn off",
)


BY_DESIGN = Kind(
    "false_alarm",
    "output",
    Tier.DIFFERENT_VALUES,
    "guides/wrong-results.md#random-and-training-mode",
)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield the operator that moves the results most, where the script complains of them."""
    compared, trials = observations.checks.compare, observations.checks.trials
    if compared is None or compared.verdict != "random" or not rejects(observations):
        return
    draws = sorted(trials.draws if trials is not None else (), key=lambda one: -one.apart)
    moving = [one for one in draws if one.apart > 0]
    if left_in_training(compared) or (draws and not moving):
        return
    ops = list(dict.fromkeys(one.op for one in moving)) or list(compared.random)
    said = f"each call draws other numbers by design ({', '.join(ops[:3])[:200]}), in any mode of "
    said += "the model: two results cannot be equal"
    because = [
        Experiment(
            experiment=f"{one.op} alone with another seed, in the exported program",
            result=f"results are {one.apart:.3g} apart",
        )
        for one in draws[:3]
    ]
    stack = moving[0].stack if moving else compared.drawn
    yield BY_DESIGN.found(
        said,
        Evidence(artifact=compared.artifact, quote=said),
        ops=[op[:200] for op in ops],
        source=last_line_of(stack),
        because=because,
        fixes=[FIX],
    )
