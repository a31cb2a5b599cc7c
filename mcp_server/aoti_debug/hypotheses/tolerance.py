"""The hypothesis that the script's tolerance is smaller than rounding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Experiment, Fix, source_of
from aoti_debug.read.record import PrintedDifference
from aoti_debug.symptom import (
    ROUNDING,
    SHOWN,
    agreeing,
    compared,
    far,
    of_its_own,
    rejects,
    unpaired,
)

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Reference

GUIDE = "guides/wrong-results.md#compare-with-eager"
SHORT = ("float16", "bfloat16")
KEPT = 4.0  # times as far from float64
BEYOND = 10.0  # times as far as what was compared: another comparison
EACH_STEP = Fix(
    what="where the rounding of each step is meant, compile with emulate_precision_casts=True "
    "(inductor_configs)",
    why="eager rounds after each operator",
)

TOO_STRICT = Kind("false_alarm", "output", Tier.DIFFERENT_VALUES, GUIDE)
ELSEWHERE = Kind("user_code", "output", Tier.DIFFERENT_VALUES, GUIDE)
JUMPS = Kind("wrong_result", "output", Tier.DIFFERENT_VALUES, GUIDE)


def of_program(observations: Observations) -> Iterator[Candidate]:
    """Yield it where the script rejects what it holds against no module, and the exported program
    gives other results that float64 gives as little as the package's."""
    found = observations.checks.compare
    if found is None or found.verdict != "agrees" or found.near:
        return
    if compared(observations) or not rejects(observations):
        return
    off = max(one.max_abs_apart or 0.0 for one in found.outputs)
    said = f"results and the exported program's are up to {off:.2g} apart; float64 is no nearer to "
    said += "the program's"
    yield JUMPS.found(said, found.artifact)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield it where all compared pairs are within rounding and not all are equal."""
    pairs, checks = compared(observations), observations.checks
    tried = agreeing(observations)
    if not rejects(observations) or not tried or not pairs or far(observations):
        return
    if of_its_own(observations):
        return
    outputs = checks.compare.outputs if checks.compare is not None else ()
    if any(one.package.nan or one.lost for one in outputs):
        return  # no tolerance takes NaN
    run, seen = observations.run, {one.caller for one in pairs}
    last = run.last_call is not None and all(one.call != run.last_call.call for one in pairs)
    if last or unpaired(observations) or any(o.rows and o.caller in seen for o in run.references):
        return  # not all that was compared was paired
    worst = max(pairs, key=lambda one: one.apart or 0.0)
    rounding = checks.trials.rounding if checks.trials is not None else None
    if not worst.apart or (rounding and not worst.far and worst.apart > ROUNDING * max(rounding)):
        return
    shown = max((one.number for one in observations.of(PrintedDifference)), default=0.0)
    if shown > max(SHOWN, BEYOND * worst.apart):
        said = f"package and module are at most {worst.apart:.2g} apart, and the script prints "
        said += f"differences of up to {shown:.2g}: they are in the model or its inputs"
        fix = Fix(
            what="compare the model's inputs, and the steps before and after it, in both paths"
        )
        yield ELSEWHERE.found(said, worst.span, source=source_of(worst.caller), fixes=[fix])
        return
    dtype = next((one.dtype for one in outputs if one.dtype), "the dtype")
    if jumps(worst):
        said = f"results are {worst.apart:.2g} apart where values reach {worst.largest:.2g}: an "
        said += "operator makes a difference of rounding large"
        yield JUMPS.found(said, worst.span, source=source_of(worst.caller))
        return
    said = f"package and reference are at most {worst.apart:.2g} apart, which is rounding in "
    said += f"{dtype}: the script allows less"
    # What Inductor fuses stays in float32, which is nearer to float64 than rounding at each step.
    fused = rounding is not None and len(rounding) == 2 and rounding[0] > KEPT * rounding[1]
    fused = fused and dtype in SHORT
    if fused:
        said = f"the package rounds to {dtype} less often than eager, at most {worst.apart:.2g} "
        said += "apart: fused operators keep float32 in between"
    because = [Experiment(experiment=tried, result="agree")]
    if rounding:
        result = f"{rounding[0]:.2g} from it; the package {rounding[1]:.2g}"
        because.append(Experiment(experiment="the exported program against float64", result=result))
    yield TOO_STRICT.found(
        said,
        worst.span,
        source=source_of(worst.caller),
        because=because,
        fixes=[
            *([EACH_STEP] if fused else []),
            Fix(
                what="compare with tolerances that fit the dtype (torch.testing.assert_close)",
                why=f"values reach {worst.largest:.3g}; another order of sums changes digits",
            ),
        ],
    )


def jumps(pair: Reference) -> bool:
    """Tell whether results are as far apart as they are large: rounding alone is not."""
    return pair.largest > 0 and (pair.apart or 0.0) >= pair.largest / 2
