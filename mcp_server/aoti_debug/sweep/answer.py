"""What a sweep answers, at any moment."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aoti_debug.model import Category, Confidence, Model, Next, Phase, RunModel


class Bucket(Model):
    """Failures that are alike, with the first and the smallest of them."""

    id: str
    state: Literal["new", "still", "gone"] | None = Field(None, description="against the baseline")
    targets: int
    category: Category | None = None
    phase: Phase | None = None
    confidence: Confidence | None = None
    summary: str
    failure: str | None = Field(None, description="exception or signal, operators, message")
    since: str | None = None
    flaky: str | None = Field(None, description="how many attempts failed, if not all")
    first: str = Field(description="target")
    run: str | None = Field(None, description="of the first target")
    smallest: str | None = None
    smallest_run: str | None = None
    place: str | None = None
    fix: str | None = None
    guide: str | None = None
    names: list[str] = Field(default_factory=list, description="of its first targets")


class SweepAnswer(RunModel):
    """Many targets: how many failed, in which buckets, and what is new."""

    name: str | None = None
    targets: int = 0
    finished: int = 0
    ok: int = 0
    failed: int = 0
    errors: int = Field(0, description="could not be run")
    flaky_targets: int = 0
    result: Literal["good", "bad", "undecided"] | None = Field(None, description="by --fail-on")
    reason: str | None = None
    buckets: list[Bucket] = Field(default_factory=list, description="most targets first")
    gone: list[Bucket] = Field(default_factory=list)
    plan: list[str] = Field(default_factory=list, description="of a dry run")
    files: list[str] = Field(default_factory=list, description="of the results, paths")
    next: list[Next] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        if self.status == "done" and self.result is None:
            return False  # of a dry run
        return {"good": False, "bad": True}.get(self.result or "")


class Trial(Model):
    """A sweep under one of the versions."""

    candidate: str
    result: Literal["good", "bad"]
    reason: str | None = None
    run: str


class BisectAnswer(Model):
    """The first version under which a sweep is bad."""

    first_bad: str | None = None
    last_good: str | None = None
    tried: list[Trial] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool:
        return self.first_bad is not None
