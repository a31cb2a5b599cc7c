"""What an examination of new weights answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aoti_debug.model import Confidence, Model, Next, RunModel


class WeightFinding(Model):
    """A constant that is not as the new weights have it."""

    constant: str
    since: str = Field(description="the step")
    reason: str
    confidence: Confidence
    fix: str | None = None


class WeightStep(Model):
    number: int
    step: str
    outputs: Literal["right", "wrong"] | None = Field(None, description="of a call")
    wrong: list[str] = Field(default_factory=list, description="constants, the first of them")
    said: str | None = None


class WeightsAnswer(RunModel):
    """Whether a package holds the new weights after the steps of an update, and what is wrong."""

    package: str | None = None
    update: Literal["right", "wrong", "undecided"] | None = None
    summary: str | None = None
    truth: str | None = Field(None, description="what outputs were compared with")
    findings: list[WeightFinding] = Field(default_factory=list)
    findings_count: int = 0
    sequence: list[WeightStep] = Field(default_factory=list)
    under_calls: str | None = Field(None, description="updates while other threads call")
    safe: str | None = Field(None, description="code of a sequence that was tried and is right")
    guide: str | None = None
    artifacts: list[str] = Field(default_factory=list)
    next: list[Next] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        return {"right": False, "wrong": True}.get(self.update or "")
