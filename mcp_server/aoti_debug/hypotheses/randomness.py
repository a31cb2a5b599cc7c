"""The hypothesis that operators of the model draw random numbers, by design or by training mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Experiment, Fix
from aoti_debug.symptom import rejects

if TYPE_CHECKING:
    from aoti_debug.read.check_report import CompareReport, Draw

FIX = Fix(
    what="compare means over many calls, or with drawing off; where it is not meant, pass "
    "training=self.training there and compile again",
    why="what the line itself turns on, eval() does not turn off",
)
TRAINING_FIX = Fix(
    what="call model.eval() before torch.export.export, and compile again; eval() does not reach "
    "modules in a plain list or dict: keep them in nn.ModuleList or nn.ModuleDict",
    why="the mode is baked into the exported program; eval() on the loaded package changes nothing",
)
GUIDE = "guides/wrong-results.md"
IN_TRAINING = Kind("wrong_result", "output", Tier.DIFFERENT_VALUES, GUIDE)
MODE = f"{GUIDE}#random-and-training-mode"
BY_DESIGN = Kind("false_alarm", "output", Tier.DIFFERENT_VALUES, MODE)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield what training mode left active, else the operator that moves the results most."""
    compared, trials = observations.checks.compare, observations.checks.trials
    if compared is None or compared.verdict != "random":
        return
    draws = sorted(trials.draws if trials is not None else (), key=lambda one: -one.apart)
    moving = [one for one in draws if one.apart > 0]
    if left_in_training(compared):
        ops = [op for op in compared.random if "dropout" in op]
        own = [one for one in draws if one.op in ops]
        if not own or any(one in moving for one in own):
            said = "the model was exported in training mode: each call gives a different result "
            said += f"because of {', '.join(ops)[:200]}"
            place = moving[0].stack if moving and moving[0] in own else compared.drawn
            yield found(IN_TRAINING, compared, said, ops, place, own, TRAINING_FIX)
            return
    if not rejects(observations) or (draws and not moving):
        return
    ops = [*(dict.fromkeys(one.op for one in moving) or compared.random)]
    said = f"each call draws other numbers by design ({', '.join(ops[:3])[:200]}), in any mode of "
    said += "the model: two results cannot be equal"
    place = moving[0].stack if moving else compared.drawn
    yield found(BY_DESIGN, compared, said, ops, place, draws, FIX)


def found(
    kind: Kind,
    compared: CompareReport,
    said: str,
    ops: Sequence[str],
    place: str,
    draws: Sequence[Draw],
    fix: Fix,
) -> Candidate:
    return kind.found(
        said,
        compared.artifact,
        ops=[op[:200] for op in ops],
        source=last_line_of(place),
        because=[
            Experiment(
                experiment=f"another seed for {one.op} only, in the exported program",
                result=f"results are {one.apart:.3g} apart",
            )
            for one in draws[:3]
        ],
        fixes=[fix],
    )


def left_in_training(compared: CompareReport) -> bool:
    """Tell whether the random operator follows the model's mode, so that eval() turns it off."""
    if not any("dropout" in op for op in compared.random):
        return False
    line = next((one.text or "" for one in last_line_of(compared.drawn)), "")
    own = "dropout" in line.lower() and ".training" not in line
    return compared.layer.startswith("torch.nn.") or not own
