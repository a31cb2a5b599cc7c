"""The hypothesis that what the package is compared with differs, not the package: the module that
was exported is called in another mode, with other weights or with other inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import base_name
from aoti_debug.diagnose.observations import Candidate, evidence
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Diagnosis, Experiment, Fix, SourceLine

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.read.event_records import Reference

GUIDE = "guides/wrong-results.md#compare-with-eager"
Words = tuple[Category, str, str]  # category, what differs, fix


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield how a call of the module differs, where the script complains and the package gives
    what its exported program gives on every call that was tried."""
    events, ending = observations.events, observations.ending
    failed = ending is not None and ending.code not in (None, 0)
    if events is None or not failed or not all(call.ok for call in events.calls):
        return
    tried = agreeing(observations)
    if not tried:
        return
    for order, one in enumerate(one for one in events.references if one.differs):
        found = words(observations, one)
        if found is not None:
            yield candidate(one, found, tried, order)
            return


def agreeing(observations: Observations) -> str:
    """Say which calls the package and its program agree on; nothing where one does not agree."""
    checks = observations.checks
    compared = checks.compare.verdict if checks.compare is not None else None
    verdicts = [one.given.verdict for one in (checks.trials.trials if checks.trials else ())]
    if compared != "agrees" or any(one == "differs" for one in verdicts):
        return ""
    count = max(1, sum(one == "agrees" for one in verdicts))
    return f"{count} captured {'call' if count == 1 else 'calls'}, package against exported program"


def words(observations: Observations, one: Reference) -> Words | None:
    """Say the first way in which the reference differs, the surest first."""
    if one.training:
        said = f"the reference runs in training mode ({', '.join(one.training[:3])})"
        return "user_code", said, "call eval() on the module before it is compared"
    if one.exported_training:
        said = f"the model was exported in training mode ({', '.join(one.exported_training[:3])})"
        return (
            "wrong_result",
            said,
            "call model.eval() before torch.export.export, and compile again",
        )
    if one.changed:
        count = one.changed_count
        said = f"{count} weight{'s' * (count > 1)} of the reference changed after the export: "
        said += ", ".join(one.changed[:3]) + (", …" if count > 3 else "")
        return "user_code", said, "export and compile again after the weights change, or load them"
    if one.autocast:
        said = f"the reference runs with autocast {one.autocast}, the export had "
        said += str(one.exported_autocast)
        return "user_code", said, "run the reference with the autocast state of the export"
    if one.reordered:
        said = "the reference is given the same inputs in another order than the package"
        return "user_code", said, "pass the inputs in one order to both"
    if one.written:
        names = ", ".join(input_name(observations, index) for index in one.written[:3])
        said = f"{names}: written in place between the package's call and the reference's"
        return "user_code", said, f"give both a copy of {names}"
    return None


def input_name(observations: Observations, index: int) -> str:
    call = observations.events.last_call if observations.events is not None else None
    given = call.input(index) if call is not None else None
    return given.name if given is not None and given.name else f"input {index}"


def candidate(one: Reference, found: Words, tried: str, order: int) -> Candidate:
    category, said, fix = found
    at = f" at {base_name(one.caller[0])}:{one.caller[1]}" if one.caller else ""
    lines = [SourceLine(file=one.caller[0], line=one.caller[1])] if one.caller else []
    return Candidate(
        Diagnosis(
            phase="output",
            category=category,
            confidence="likely",
            summary=f"{said}{at}",
            source=lines,
            evidence=[evidence(one.span)],
            because=[Experiment(experiment=tried, result="agree: the package is right")],
            guide=GUIDE,
            fixes=[Fix(what=fix)],
        ),
        role="cause",
        tier=Tier.DIFFERENT_VALUES,
        order=order,
    )
