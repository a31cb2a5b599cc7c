"""One answer to one case, scored: field by field, the fix, and the headline. Pure: no process, no clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any

from harness.answer import Answer, Diagnosis
from harness.case import Problem, lines_of
from harness.fix import Fix

NEAR = 1  # lines that a line may be off: a statement spans two
QUIET = ("no_fault", "false_alarm")


@dataclass(frozen=True, slots=True)
class Fields:
    """What of an answer is right; None where the truth has no such field."""

    phase: bool
    category: bool
    kernel: bool | None
    line: bool | None
    operator: bool | None
    input: bool | None
    also: bool | None
    false_blame: tuple[str, ...]
    forbidden: tuple[str, ...]

    @property
    def place(self) -> bool:
        """Tell whether kernel or line is right, or neither applies."""
        known = [one for one in (self.kernel, self.line) if one is not None]
        return any(known) if known else True

    @property
    def strict_but_fix(self) -> bool:
        clean = not self.false_blame and not self.forbidden
        return self.phase and self.category and self.place and self.also is not False and clean

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "place": self.place}


def fields_of(
    problem: Problem, answer: Answer, kernels: Sequence[str] = (), done: Sequence[str] = ()
) -> Fields:
    """Score an answer. `kernels` are those that the package has for the truth's operators, `done`
    what the agent did and must not have."""
    truth, said = problem.truth, answer.diagnosis
    wanted = (*truth.kernel, *kernels)
    lines = {place.file: set[int]() for place in truth.source}
    for place in truth.source:
        lines[place.file] |= set(lines_of(problem.case, place))
    return Fields(
        phase=said.phase in truth.phase,
        category=said.category in truth.category,
        kernel=_names(said, wanted) if wanted else None,
        line=_hits(said, lines) if lines else None,
        operator=_operator(said, truth.operators) if truth.operators else None,
        input=_input(problem, said),
        also=_also(problem, answer) if truth.also else None,
        false_blame=tuple(_false_blame(problem, answer, wanted)),
        forbidden=(*_forbidden(problem, answer), *done),
    )


def _names(said: Diagnosis, wanted: Sequence[str]) -> bool:
    return said.kernel is not None and _bare(said.kernel.name) in {_bare(name) for name in wanted}


def _bare(kernel: str) -> str:
    return re.split(r"[(<\[]", kernel.strip())[0].rpartition("::")[2].strip()


def _hits(said: Diagnosis, lines: Mapping[str, set[int]]) -> bool:
    for one in said.source:
        for file, numbers in lines.items():
            same = PurePosixPath(one.file).name == PurePosixPath(file).name
            if same and any(abs(one.line - number) <= NEAR for number in numbers):
                return True
    return False


def _operator(said: Diagnosis, wanted: Sequence[str]) -> bool:
    def bare(name: str) -> str:
        name = name.replace("::", ".").removeprefix("torch.ops.")
        return ".".join(name.split(".")[:2])

    return bool({bare(op) for op in said.ops} & {bare(op) for op in wanted})


def _input(problem: Problem, said: Diagnosis) -> bool | None:
    wanted = problem.truth.input
    if wanted is None:
        return None
    if said.input is None:
        return False
    named = wanted.name is not None and said.input.name == wanted.name
    numbered = wanted.index is not None and said.input.index == wanted.index
    kind = not wanted.property or said.input.property in wanted.property
    return (named or numbered or (wanted.name is None and wanted.index is None)) and kind


def _also(problem: Problem, answer: Answer) -> bool:
    said = {one.category for one in (answer.diagnosis, *answer.also)}
    return set(problem.truth.also) <= said


def _false_blame(problem: Problem, answer: Answer, wanted: Sequence[str]) -> list[str]:
    """Return what was blamed and has no fault: a listed distractor, a second fault where there is
    none, a patch where nothing is wrong."""
    truth = problem.truth
    found = []
    for one in (answer.diagnosis, *answer.also):
        words = {one.category, _bare(one.kernel.name) if one.kernel else ""}
        words |= {PurePosixPath(line.file).name for line in one.source}
        words |= {f"{PurePosixPath(line.file).name}:{line.line}" for line in one.source}
        found += [word for word in truth.blameless if word in words]
    right = {*truth.category, *truth.also, *QUIET}
    found += [one.category for one in answer.also if one.category not in right]
    if truth.fix == "none" and answer.patch.strip():
        found.append("a patch where nothing is to be fixed")
    return sorted(set(found))


def _forbidden(problem: Problem, answer: Answer) -> list[str]:
    truth = problem.truth
    touched = re.findall(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)", answer.patch, re.MULTILINE)
    found = [f"touches {name}" for name in truth.untouchable if name in touched]
    text = f"{answer.diagnosis.summary}\n{answer.patch}"
    found += [f"says {word!r}" for word in truth.unsayable if word in text]
    if problem.case.canary in text:
        found.append("holds the canary")
    return found


@dataclass(frozen=True, slots=True)
class Cost:
    """What an agent spent; None where nobody counted."""

    wall_s: float | None = None
    tool_calls: int | None = None
    runs: int | None = None  # of aoti-debug
    process_runs: int | None = None
    recompiles: int | None = None
    gpu_s: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """`fields` and `fix` are None where there was no answer that could be read."""

    case: str
    family: str
    agent: str
    arm: str = "none"
    epoch: int = 1
    fields: Fields | None = None
    fix: Fix | None = None
    error: str | None = None
    cost: Cost = field(default_factory=Cost)

    @property
    def strict(self) -> bool:
        """phase and category and (kernel or line) and fix, nobody blamed falsely, nothing forbidden
        done."""
        return (
            self.fields is not None
            and self.fields.strict_but_fix
            and self.fix is not None
            and self.fix.verified is True
        )

    def document(self) -> dict[str, Any]:
        named = ("case", "family", "agent", "arm", "epoch", "strict", "error")
        return {
            **{name: getattr(self, name) for name in named},
            "fields": self.fields.document() if self.fields else None,
            "fix": asdict(self.fix) if self.fix else None,
            "cost": {name: value for name, value in asdict(self.cost).items() if value is not None},
        }


def judge(
    problem: Problem,
    answer: Answer | None,
    *,
    agent: str,
    fix: Callable[[str], Fix],
    kernels: Sequence[str] = (),
    done: Sequence[str] = (),
    arm: str = "none",
    epoch: int = 1,
    error: str | None = None,
    cost: Cost = Cost(),
) -> Result:
    """Score an answer; `fix` says of its patch whether it is one (live, or as recorded)."""
    named = (problem.id, problem.case.family, agent, arm, epoch)
    if answer is None:
        return Result(*named, error=error or "no answer", cost=cost)
    fields = fields_of(problem, answer, kernels, done)
    return Result(*named, fields=fields, fix=fix(answer.patch), cost=cost)
