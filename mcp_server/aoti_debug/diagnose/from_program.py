"""Candidates from the exported program: what it declares, its guards, its indices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from aoti_debug.diagnose.from_input_check import LOWER_BOUND_2, WRITTEN, breaking, judged
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, evidence, headline
from aoti_debug.explain.out_of_bounds import blamed
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Fix, InputFinding, SourceLine, source_of
from aoti_debug.vocabulary import Break, OutOfBounds, Owner, places_in

if TYPE_CHECKING:
    from aoti_debug.read.check_report import DeclaredInput, GuardsReport

GUARDED = re.compile(r"\b([A-Za-z_]\w{0,199})(?:\.size\(\)\[(\d{1,3})\])?")
SPECIALISED = re.compile(r"\w{1,200}\.size\(\)\[\d{1,3}\] >= 2")
CONTRACT = "guides/input-contracts.md"
INDEX = "guides/triton-index-out-of-bounds.md"
ONE_SIZE = (
    "export excludes a single size if a size derived from it would be 0 or 1 (it specializes "
    "those), or if the model tests for it; in the first case the result is often right"
)
BOUND = re.compile(r"(\w{1,200})\.size\(\)\[(\d{1,3})\] (?:<=|>=|==) \d{1,19}")
SET_APART = re.compile(r"\w{1,200}\.size\(\)\[\d{1,3}\] != \d{1,19}")

OUT_OF_BOUNDS = Kind("index_out_of_bounds", "run", Tier.ASSERTION, INDEX, confidence="proved")


def candidates(observations: Observations) -> Iterator[Candidate]:
    guards = observations.checks.guards
    return of_report(guards) if guards is not None else iter(())


def of_report(report: GuardsReport) -> Iterator[Candidate]:
    """Yield what a call breaks of the exported program."""
    for order, difference in enumerate(report.differences):
        yield from_difference(difference, report.artifact, order)
    yield from from_guards(report)
    if report.index is not None:
        yield from_index(report, report.index)


def from_difference(difference: Break, artifact: str, order: int) -> Candidate:
    """An input is not what the exported program declares."""
    about = difference.property, difference.relation, difference.bound
    doubtful = about == ("size", "min", 2)
    broken = judged(difference, harmless=doubtful, reason=reason_of(difference, doubtful))
    return breaking(broken, Tier.DECLARED, artifact, order=order)


def reason_of(difference: Break, doubtful: bool) -> str | None:
    if doubtful:
        return LOWER_BOUND_2
    if difference.written and difference.property == "stride":
        return WRITTEN
    return "the model writes to this input" if difference.property == "aliasing" else None


def from_guards(report: GuardsReport) -> Iterator[Candidate]:
    """The exported program refuses the call by some of its guards."""
    broken: Sequence[str] = report.broken
    if not broken and report.where == "guards" and report.exception is not None:
        broken = [report.exception.headline.removeprefix("Guard failed: ") or "a guard"]
    told = {(d.name, d.dim) for d in report.differences if d.property == "size"}
    for order, guard in enumerate(broken):
        bound = BOUND.fullmatch(guard)
        if bound is not None and (bound[1], int(bound[2])) in told:
            continue  # the declared size says the same, and what was given
        yield from_guard(guard[:300], report, order)


def from_guard(text: str, report: GuardsReport, order: int) -> Candidate:
    doubtful = SPECIALISED.fullmatch(text) is not None
    apart = SET_APART.fullmatch(text) is not None
    return Kind(
        "false_alarm" if doubtful else "contract_guard",
        "run",
        Tier.GUARD,
        CONTRACT,
        role="symptom" if doubtful else "cause",
    ).found(
        headline("the exported program refuses these inputs: ", text, " does not hold"),
        evidence(report.artifact, text),
        means=LOWER_BOUND_2 if doubtful else ONE_SIZE if apart else None,
        confidence="likely" if doubtful or apart else "proved",
        input=guarded(text, report.inputs),
        fixes=[
            Fix(
                what="give the model inputs for which this holds, or export it in a way that "
                "does not need it (another reshape, another branch)",
                why="the compiled model was specialised on it and never checks it",
            )
        ],
        order=order,
    )


def guarded(text: str, inputs: Sequence[DeclaredInput]) -> InputFinding | None:
    """Return the first input that a guard such as `x.size()[0] % 100 == 0` names."""
    names = [one.name for one in inputs]
    found = next((m for m in GUARDED.finditer(text) if m[1] in names), None)
    if found is None:
        return None
    before = inputs[: names.index(found[1])]
    return InputFinding(
        index=sum(one.shape is not None for one in before) if found[2] else len(before),
        name=found[1],
        property="guard",
        dim=int(found[2]) if found[2] else None,
        expected=text,
    )


def from_index(report: GuardsReport, found: OutOfBounds) -> Candidate:
    """An operator of the exported program would index outside what it indexes."""
    stack = report.node.stack if report.node is not None else ""
    blame = blamed(found, inputs={one.name: n for n, one in enumerate(report.tensors) if one.name})
    return OUT_OF_BOUNDS.found(
        blame.summary,
        report.artifact,
        ops=[found.op[:200]],
        source=last_line_of(stack),
        input=blame.input,
        fixes=blame.fixes,
    )


def last_line_of(stack: str) -> list[SourceLine]:
    """Return the innermost line of a node's stack: the user's, else a library's, else torch's."""
    owners = get_args(Owner)  # in this order
    best = min(places_in(stack)[::-1], key=lambda one: owners.index(one.owner), default=None)
    return source_of(best)
