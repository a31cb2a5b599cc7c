"""What an examination for CUDA graphs answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aoti_debug.model import RunModel


class GraphsAnswer(RunModel):
    """Whether a package's calls can be held in a CUDA graph."""

    package: str | None = None
    graphs: Literal["fit", "not fit", "depends"] | None = None
    summary: str | None = None
    tried: str | None = Field(None, description="what a capture here gave")
    blockers: list[str] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list, description="what the caller must keep to")
    captures: int | None = Field(None, description="for the sizes of the run's calls")
    guide: str | None = None
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        return {"fit": False, "not fit": True}.get(self.graphs or "")
