"""Candidates from the values of a call: against the exported program, from repeat to repeat, and
with free memory full of a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import failing_call
from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Diagnosis, Evidence, Fix

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.read.check_report import Compared, CompareReport, PoisonReport, RepeatsReport

WRONG = "guides/wrong-results.md"
NAN = "guides/wrong-results.md#nan-and-inf"
NAN_FIX = Fix(
    what="find the first operation whose result is not finite: run the exported program "
    "(ep.module()) on these inputs, operation by operation",
    why="a division by zero, a logarithm or root of a negative number, or an overflow inside "
    "the model",
)
UNWRITTEN_FIX = Fix(
    what="find what the kernel leaves unwritten: a mask or grid that does not cover the whole "
    "result, or torch.empty whose elements are not all set",
    why="what nobody wrote holds whatever the memory held before",
)
RACE_FIX = Fix(
    what="find where several threads or streams meet in one place: stores of a Triton kernel that "
    "overlap, a custom operator on a stream of its own, a buffer that is used again too early",
    why="the same inputs and seed must give the same result, up to the rounding of a sum's order",
)


def candidates(observations: Observations) -> Iterator[Candidate]:
    checks = observations.checks
    if checks.compare is not None:
        yield from from_comparison(observations, checks.compare)
    if checks.poison is not None and checks.poison.differs:
        yield unwritten(checks.poison)
    if checks.repeats is not None and checks.repeats.differs:
        yield unrepeatable(checks.repeats)


def from_comparison(observations: Observations, compared: CompareReport) -> Iterator[Candidate]:
    """The package and the exported program disagree, or agree on NaN that no input holds."""
    call = failing_call(observations)
    given = call is not None and any(leaf.nan for leaf in call.inputs)
    for order, output in enumerate(compared.outputs):
        if compared.verdict == "differs" and output.verdict != "agrees":
            said, tier = difference_of(output), Tier.DIFFERENT_VALUES
            yield of_values(compared.artifact, "wrong_result", said, tier, order)
        elif output.package.nan and not given:
            bad = output.package.not_finite
            said = f"output {output.index} holds {bad}; "
            said += "the model gives the same without AOTInductor"
            yield of_values(compared.artifact, "nan_or_inf", said, Tier.STRANGE_VALUES, order)


def unwritten(report: PoisonReport) -> Candidate:
    said = (
        f"output {report.output} changes with what free memory held before the call: part of it "
        f"is never written{place(report)}"
    )
    return of_values(
        report.artifact, "wrong_result", said, Tier.DIFFERENT_VALUES, -2, [UNWRITTEN_FIX]
    )


def unrepeatable(report: RepeatsReport) -> Candidate:
    said = (
        f"output {report.output} differs from repeat to repeat with the same inputs and seed"
        f"{place(report)}"
    )
    return of_values(report.artifact, "wrong_result", said, Tier.DIFFERENT_VALUES, -1, [RACE_FIX])


def place(report: RepeatsReport) -> str:
    if report.wrong is None:
        return ""
    at = ", ".join(map(str, report.at))
    return (
        f" ({report.wrong} of {report.elements} elements, first at [{at}]: {report.first}, then "
        f"{report.then})"
    )


def of_values(
    artifact: str,
    category: Category,
    said: str,
    tier: Tier,
    order: int,
    fixes: list[Fix] | None = None,
) -> Candidate:
    nan = category == "nan_or_inf"
    return Candidate(
        Diagnosis(
            phase="output",
            category=category,
            confidence="proved",
            summary=said,
            evidence=[Evidence(artifact=artifact, quote=said)],
            guide=NAN if nan else WRONG,
            fixes=[NAN_FIX] if nan else fixes or [],
        ),
        role="cause",
        tier=tier,
        order=order,
    )


def difference_of(output: Compared) -> str:
    which = f"output {output.index}"
    if output.verdict in ("shape", "dtype"):
        got = list(output.shape or ()) if output.verdict == "shape" else output.dtype
        expected = str(output.expected)[:200]
        return f"{which} has {output.verdict} {got}, the exported program gives {expected}"
    words = (
        f"{which} differs from the exported program in {output.wrong} of "
        f"{output.elements if output.elements is not None else '?'} elements"
    )
    if (first := output.first_wrong) is not None:
        words += f", first at {list(first.at)}: {first.package}, not {first.expected}"
    bad = output.package.not_finite
    return words + (f"; it holds {bad}" if bad else "")
