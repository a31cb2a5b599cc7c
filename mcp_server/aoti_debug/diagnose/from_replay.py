"""Candidates from what the replays of the captured call reported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from aoti_debug.diagnose.calls import failing_call
from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.diagnose.from_input_check import (
    CATEGORY,
    WRITTEN,
    fixes_for,
    over_bound,
    summary,
)
from aoti_debug.diagnose.observations import Observations
from aoti_debug.facts.tiers import Tier
from aoti_debug.model import (
    Category,
    Diagnosis,
    Evidence,
    Fix,
    InputFinding,
    Kernel,
    SourceLine,
)

FRAME = re.compile(r'\s*File "([^"]{1,1000})", line (\d{1,9})')
GUARDED = re.compile(r"\b([A-Za-z_]\w{0,199})(?:\.size\(\)\[(\d{1,3})\])?")
SPECIALISED = re.compile(r"\w{1,200}\.size\(\)\[\d{1,3}\] >= 2")
CONTRACT = "guides/input-contracts.md"
WRONG = "guides/wrong-results.md"
NAN = "guides/wrong-results.md#nan-and-inf"
NAN_FIX = Fix(
    what="find the first operation whose result is not finite: run the exported program "
    "(ep.module()) on these inputs, operation by operation",
    why="a division by zero, a logarithm or root of a negative number, or an overflow inside "
    "the model",
)
LOWER_BOUND_2 = (
    "a lower bound of 2 usually comes from the exporter's 0/1 specialisation, not from a kernel: "
    "possibly a false alarm"
)

ONE_SIZE = (
    "export sets single sizes apart where a size made of this one would be 0 or 1 (it specialises "
    "those), or where the model asks for this size: in the first case the result is often right"
)
SET_APART = re.compile(r"\w{1,200}\.size\(\)\[\d{1,3}\] != \d{1,19}")


def candidates(observations: Observations) -> Iterator[Candidate]:
    guards = observations.steps.get("guards")
    if guards is not None and guards.report is not None:
        yield from from_differences(guards, guards.report)
        yield from from_guards(guards, guards.report)
    fakes = observations.steps.get("fakes")
    if fakes is not None and fakes.report is not None:
        yield from from_fakes(fakes, fakes.report)
    compared = observations.steps.get("compare")
    if compared is not None and compared.report is not None:
        yield from from_comparison(observations, compared, compared.report)


def from_differences(step: Observations, report: dict[str, Any]) -> Iterator[Candidate]:
    """The inputs are not what the exported program declares."""
    for position, difference in enumerate(report.get("differences") or []):
        finding = InputFinding(
            index=place_of(difference, position),
            name=difference.get("name"),
            property=str(difference.get("property", "value")),
            dim=difference.get("dim"),
            expected=str(difference.get("expected"))[:200],
            got=str(difference.get("got"))[:200],
        )
        doubtful = finding.property == "size" and finding.expected == ">= 2"
        said = summary(finding)
        yield Candidate(
            Diagnosis(
                phase="run",
                category="false_alarm" if doubtful else category_of(finding.property),
                confidence="likely" if doubtful or over_bound(finding) else "proved",
                summary=said + reason_of(difference, doubtful),
                input=finding,
                evidence=[Evidence(artifact=step.artifact("report.json"), quote=said)],
                guide=CONTRACT,
                fixes=fixes_for(finding),
            ),
            role="symptom" if doubtful else "cause",
            tier=tier_of(finding),
            order=position,
        )


def tier_of(finding: InputFinding) -> Tier:
    if over_bound(finding):
        return Tier.OVER_BOUND
    return Tier.RANK if finding.property == "rank" else Tier.DECLARED


def place_of(difference: dict[str, Any], otherwise: int) -> int:
    """Return the index of a tensor as the runtime counts, else the position among all leaves."""
    for key in ("index", "position"):
        if isinstance(found := difference.get(key), int):
            return found
    return otherwise


def reason_of(difference: dict[str, Any], doubtful: bool) -> str:
    if doubtful:
        return f"; {LOWER_BOUND_2}"
    if difference.get("written") and difference.get("property") == "stride":
        return f"; {WRITTEN}"
    if difference.get("property") == "aliasing":
        return "; the model writes to this input"
    return ""


def category_of(property: str) -> Category:
    """Return the category of a difference: what is no tensor is an argument."""
    return CATEGORY.get(property, "contract_argument")


def from_guards(step: Observations, report: dict[str, Any]) -> Iterator[Candidate]:
    """The exported program refuses the call by one of its guards."""
    error = report.get("exception")
    if not isinstance(error, dict) or report.get("where") != "guards":
        return
    guard = str(error.get("message", "")).strip().splitlines()
    text = guard[0].removeprefix("Guard failed: ")[:300] if guard else "a guard"
    doubtful = SPECIALISED.fullmatch(text) is not None
    apart = SET_APART.fullmatch(text) is not None
    yield Candidate(
        Diagnosis(
            phase="run",
            category="false_alarm" if doubtful else "contract_guard",
            confidence="likely" if doubtful or apart else "proved",
            summary=f"the exported program refuses these inputs: {text} does not hold"
            + (f"; {LOWER_BOUND_2}" if doubtful else f"; {ONE_SIZE}" if apart else ""),
            input=guarded(text, report),
            evidence=[Evidence(artifact=step.artifact("report.json"), quote=text)],
            guide=CONTRACT,
            fixes=[
                Fix(
                    what="give the model inputs for which this holds, or export it in a way that "
                    "does not need it (another reshape, another branch)",
                    why="the compiled model was specialised on it and never checks it",
                )
            ],
        ),
        role="symptom" if doubtful else "cause",
        tier=Tier.GUARD,
    )


def guarded(text: str, report: dict[str, Any]) -> InputFinding | None:
    """Return the first input that a guard such as `x.size()[0] % 100 == 0` names."""
    inputs = [one for one in report.get("inputs") or [] if isinstance(one, dict)]
    names = [str(one.get("name")) for one in inputs]
    found = next((m for m in GUARDED.finditer(text) if m[1] in names), None)
    if found is None:
        return None
    before = inputs[: names.index(found[1])]
    return InputFinding(
        index=sum("shape" in one for one in before) if found[2] else len(before),
        name=found[1],
        property="guard",
        dim=int(found[2]) if found[2] else None,
        expected=text,
    )


def from_fakes(step: Observations, report: dict[str, Any]) -> Iterator[Candidate]:
    """A custom operator returns something else than its fake kernel promised the compiler."""
    for position, found in enumerate(report.get("mismatches") or []):
        op = str(found.get("op"))[:200]
        said = (
            f"{op} returns {found.get('property')} {found.get('got')}, its fake kernel promises "
            f"{found.get('expected')}"
        )
        yield Candidate(
            Diagnosis(
                phase="run",
                category="custom_op_fake_kernel",
                confidence="proved",
                summary=said,
                kernel=Kernel(name=op, kind="custom_op"),
                ops=[op],
                source=last_line_of(str(found.get("stack", ""))),
                evidence=[Evidence(artifact=step.artifact("report.json"), quote=said)],
                guide="guides/custom-ops.md",
                fixes=[
                    Fix(
                        what=f"make the fake kernel of {op} return the shape, strides and dtype "
                        "that the operator returns; torch.library.opcheck tests it",
                        why="the compiled model takes the fake kernel's word for the size of the "
                        "result and reads past it",
                    )
                ],
            ),
            role="cause",
            tier=Tier.CONTRACT,
            order=position,
        )


def last_line_of(stack: str) -> list[SourceLine]:
    """Return the innermost line of a graph node's Python stack."""
    lines = stack.splitlines()
    for number in range(len(lines) - 1, -1, -1):
        if place := FRAME.match(lines[number]):
            text = lines[number + 1].strip() if number + 1 < len(lines) else None
            return [SourceLine(file=place[1], line=int(place[2]), text=text)]
    return []


def from_comparison(
    observations: Observations, step: Observations, report: dict[str, Any]
) -> Iterator[Candidate]:
    """The package and the exported program disagree, or agree on NaN that no input holds."""
    call = failing_call(observations)
    given = call is not None and any(leaf.nan for leaf in call.inputs)
    for position, output in enumerate(report.get("outputs") or []):
        said = difference_of(output)
        if report.get("verdict") == "differs" and output.get("verdict") != "agrees":
            yield compared(step, position, "wrong_result", said, Tier.DIFFERENT_VALUES)
        elif (bad := not_finite(output)) and "NaN" in bad and not given:
            words = f"output {position} holds {bad}; the model gives the same without AOTInductor"
            yield compared(step, position, "nan_or_inf", words, Tier.STRANGE_VALUES)


def compared(
    step: Observations, position: int, category: Category, said: str, tier: Tier
) -> Candidate:
    return Candidate(
        Diagnosis(
            phase="output",
            category=category,
            confidence="proved",
            summary=said,
            evidence=[Evidence(artifact=step.artifact("report.json"), quote=said)],
            guide=NAN if category == "nan_or_inf" else WRONG,
            fixes=[NAN_FIX] if category == "nan_or_inf" else [],
        ),
        role="cause",
        tier=tier,
        order=position,
    )


def not_finite(output: dict[str, Any]) -> str:
    statistics = output.get("package") or {}
    counts = [(statistics.get("nan"), "NaN"), (statistics.get("inf"), "Inf")]
    return " and ".join(f"{count} {word}" for count, word in counts if count)


def difference_of(output: dict[str, Any]) -> str:
    which = f"output {output.get('index')}"
    verdict = output.get("verdict")
    if verdict in ("shape", "dtype"):
        got = output.get(verdict)
        return f"{which} has {verdict} {got}, the exported program gives {output.get('expected')}"
    words = (
        f"{which} differs from the exported program in {output.get('wrong')} of "
        f"{output.get('elements', '?')} elements"
    )
    first = output.get("first_wrong")
    if isinstance(first, dict):
        words += (
            f", first at {first.get('at')}: {first.get('package')}, not {first.get('expected')}"
        )
    return words + (f"; it holds {bad}" if (bad := not_finite(output)) else "")
