"""The hypothesis that a custom operator writes to what its schema says it only reads, or returns
it as a new tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import path_and_line
from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.explain.undeclared import undeclared
from aoti_debug.facts.categories import Tier
from aoti_debug.hypotheses.contract import words
from aoti_debug.model import Experiment, Kernel, source_of
from aoti_debug.symptom import rejects

if TYPE_CHECKING:
    from aoti_debug.read.check_report import WritesReport, Wrote

GUIDE = "guides/custom-ops.md"

WRITES = Kind("wrong_result", "output", Tier.CONTRACT, GUIDE)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield the write where values are wrong, or inputs change during calls; proved where copies
    of its arguments help."""
    report, compared = observations.checks.writes, observations.checks.compare
    wrong = compared is not None and compared.verdict == "differs"
    if report is None:
        return
    if rejects(observations) and report.left_over:
        for order, one in enumerate(one for one in report.wrote if one.constant):
            yield state(one, report, order)
    elif wrong or changes_inputs(observations):
        for order, one in enumerate(report.wrote):
            yield candidate(one, report, order, tells=wrong)


def state(one: Wrote, report: WritesReport, order: int) -> Candidate:
    """Return the write as a cause: later calls of the package find it in a constant."""
    found, calls = candidate(one, report, order, tells=False), report.left_over
    numbers = ", ".join(str(again.call) for again in calls[:4])
    far = max(again.recorded.apart for again in calls if again.recorded is not None)
    what = f"call {numbers} in a package loaded again, giving copies to {one.op[:100]}"
    because = [Experiment(experiment=what, result=f"{far:.3g} apart from the script's results")]
    if len(calls) < len(report.calls):
        because.append(Experiment(experiment="other calls, in the same way", result="agree"))
    text = f"{one.op[:100]} writes to {one.constant[:100]}, a constant that later calls read; its "
    return found.but(
        summary=f"{text}schema declares no write", confidence="proved", because=because
    )


def changes_inputs(observations: Observations) -> bool:
    """Tell whether such a write changes an input during calls."""
    report = observations.checks.writes
    torn = any(call.overwritten for call in observations.run.calls)
    return report is not None and bool(report.wrote) and torn


def also_true(observations: Observations) -> list[str]:
    """Say a write that no result depends on in the calls that were tried."""
    report, right = observations.checks.writes, observations.agrees is not None
    if report is None or not right or changes_inputs(observations):
        return []
    if rejects(observations) and report.left_over:
        return []
    return [f"{said(one)}; not the cause: the results are right" for one in report.wrote]


def said(one: Wrote) -> str:
    op, argument = one.op[:200], one.argument[:100]
    if one.again:
        return f"{op} returns the memory of its earlier result; its schema promises a new one"
    if one.aliased:
        return f"{op} returns the memory of its argument {argument}; its schema promises a new one"
    return undeclared(op, argument)[0]


def candidate(one: Wrote, report: WritesReport, order: int, *, tells: bool) -> Candidate:
    """Return the write as a cause; `tells`: copies of its arguments would change the values."""
    copied = report.copied
    helps = tells and copied is not None and copied.verdict == "agrees"
    tried = f"package and exported program, giving copies to {one.op[:100]}"
    because = [Experiment(experiment=tried, result=words(copied))] if copied and tells else []
    name, place = one.argument[:100], one.places.real
    change = {"what": f"return {name}.clone() in the operator"} if one.aliased else {}
    if one.again:
        change = {"what": "return a new tensor from the operator at each call"}
    fix = undeclared(one.op, name)[1]
    fix = fix.model_copy(update={**change, "where": path_and_line(place)})
    return WRITES.found(
        said(one),
        report.artifact,
        confidence="proved" if helps else "likely",
        kernel=Kernel(name=one.op[:200], kind="custom_op"),
        ops=[one.op[:200]],
        source=[*source_of(place), *last_line_of(one.stack)],
        because=because,
        fixes=[fix],
        order=order,
    )
