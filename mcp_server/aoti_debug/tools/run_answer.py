"""The answer about a run of either kind."""

from __future__ import annotations

from pydantic import Field

from aoti_debug.model import TriageAnswer


class RunAnswer(TriageAnswer):
    """A triage's answer or a stage's: the schema of both in one, flat."""

    stage: str | None = Field(None, description="missing for a triage")
    acted: bool | None = None
    why: str | None = None
    exit: str | None = None
    wall_s: float | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    observed: list[str] = Field(default_factory=list)
