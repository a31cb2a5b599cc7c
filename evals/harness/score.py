"""One answer to one case, scored: the fields, the fix, and the headline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.answer import Answer
from harness.case import Problem
from harness.fields import Fields
from harness.fields import score as fields_of
from harness.fix import Fix


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
        return {
            "case": self.case,
            "family": self.family,
            "agent": self.agent,
            "arm": self.arm,
            "epoch": self.epoch,
            "strict": self.strict,
            "fields": self.fields.document() if self.fields else None,
            "fix": asdict(self.fix) if self.fix else None,
            "error": self.error,
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
