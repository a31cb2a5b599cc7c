"""The hypotheses that a row's result depends on the other rows of its batch, and that right results
of rows are mixed up after the call."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.calls import at_line, at_place
from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Experiment, Fix
from aoti_debug.symptom import agreeing, far, is_other, of_its_own, rejects, same_rows, verdict

GUIDE = "guides/wrong-results.md#compare-with-eager"
MIXES = Kind("user_code", "output", Tier.RAISED, GUIDE)
AFTER = Kind("user_code", "output", Tier.DIFFERENT_VALUES, GUIDE)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield one where the script rejects results and the package is right in each repeated call."""
    right, run = agreeing(observations), observations.run
    if not right or not (rejects(observations) or verdict(observations)):
        return
    agree = Experiment(experiment=right, result="agree: the package is right")
    trials = observations.checks.trials
    # Results that are apart on equal batches have another reason.
    if trials is not None and not far(observations) and (mixing := trials.mixing) is not None:
        lines = last_line_of(mixing.stack)
        at = "".join(at_line(line.file, line.line) for line in lines)
        said = f"{mixing.op}{at} makes the result of a row depend on the other rows of its batch"
        what = f"the exported program, with row {mixing.row} copied to all rows"
        moved = Experiment(experiment=what, result=f"that row changes by {mixing.apart:.3g}")
        because = [agree, moved]
        for seen in run.like_rows[:1]:
            first, row, other, place, apart = seen.apart
            both = f"call {first:.0f} row {row:.0f} and call {other:.0f} row {place:.0f}"
            what = f"the results of {both}, in the script"
            because.append(Experiment(experiment=what, result=f"same inputs, {apart:.3g} apart"))
        what = "compute this operator on each row separately (reduce over the row's own dimensions)"
        why = "eager gives the same results: the model mixes rows, and the package is right"
        yield MIXES.found(
            said,
            trials.artifact,
            *[seen.span for seen in run.like_rows[:1]],
            source=[*lines, *observations.caller[:1]],
            because=because,
            fixes=[Fix(what=what, why=why)],
        )
        return
    strange = any(call.holds_nonfinite for call in run.calls) and not is_other(observations)
    strange |= of_its_own(observations)  # NaN, or another exit, may be what is meant
    if (one := same_rows(observations)) is None or strange:
        return
    at = at_place(one.caller)
    count = f"on each of {one.same} rows" if one.same else f"in each of {len(run.references)} calls"
    said = f"package and module agree {count}{at}: results are mixed up after the call"
    what = "keep each result with the request that it belongs to: store it under a key that no "
    what += "other request has, and copy it"
    yield AFTER.found(
        said,
        one.span,
        confidence="possible" if one.rounding else "likely",
        source=[*filter(None, (observations.stored,)), *observations.caller[:1]],
        because=[
            agree,
            Experiment(experiment=f"module and package {count}, in the script", result="agree"),
        ],
        fixes=[Fix(what=what)],
    )
