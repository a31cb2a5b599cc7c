"""Exit statuses: what an answer means to a shell."""

from __future__ import annotations

from functools import singledispatch

from aoti_debug.model import (
    DiagnoseAnswer,
    Diagnosis,
    ExplainAnswer,
    MinifyAnswer,
    Model,
    StageAnswer,
    TriageAnswer,
    VerifyAnswer,
)
from aoti_debug.report.diagnosis import NOT_FAULTS

NO_FAULT, FAULT, WRONG_USE, NOT_DONE = range(4)


@singledispatch
def status_of(answer: Model) -> int:
    """Return 1 if the answer says that something is broken, 3 if it is not known, else 0."""
    problems = getattr(answer, "problems", [])
    return FAULT if any(problem.severity == "breaks" for problem in problems) else NO_FAULT


@status_of.register
def _(answer: Diagnosis) -> int:
    return NO_FAULT if answer.category in NOT_FAULTS else FAULT


@status_of.register
def _(answer: ExplainAnswer) -> int:
    return FAULT if answer.category is not None else NO_FAULT


@status_of.register
def _(answer: DiagnoseAnswer) -> int:
    return status_of(answer.diagnoses[0]) if answer.diagnoses else NO_FAULT


@status_of.register(StageAnswer)
@status_of.register(TriageAnswer)
def _(answer: StageAnswer | TriageAnswer) -> int:
    if answer.diagnosis is not None:
        if answer.diagnosis.category == "user_code" and "exit 0" in ended(answer):
            return NO_FAULT  # a script that ended well and has nothing to do with AOTInductor
        return status_of(answer.diagnosis)
    return NO_FAULT if answer.status == "done" else NOT_DONE


def ended(answer: StageAnswer | TriageAnswer) -> list[str | None]:
    """Return how the script itself ended, as the answer tells it."""
    if isinstance(answer, StageAnswer):
        return [answer.exit]
    return [step.exit for step in answer.steps[:1]]


@status_of.register
def _(answer: MinifyAnswer) -> int:
    return NO_FAULT if answer.reproduced else NOT_DONE


@status_of.register
def _(answer: VerifyAnswer) -> int:
    if answer.verdict in (None, "undecided"):
        return NOT_DONE
    return NO_FAULT if answer.verdict == "fixed" else FAULT
