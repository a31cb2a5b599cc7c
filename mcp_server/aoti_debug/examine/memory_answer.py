"""What an examination of a package's memory answers."""

from __future__ import annotations

from pydantic import Field

from aoti_debug.model import Model, RunModel


class MemoryRow(Model):
    """Bytes at the peak of a call, and whose they are."""

    owner: str
    bytes: int
    detail: str | None = None
    line: str | None = Field(None, description="of the model")


class MemoryAnswer(RunModel):
    """The owners of the memory that a package takes, at the peak of a call."""

    package: str | None = None
    device: str | None = None
    summary: str | None = None
    peak: int | None = Field(None, description="bytes, measured")
    rows: list[MemoryRow] = Field(default_factory=list)
    blocks: list[MemoryRow] = Field(default_factory=list, description="of one call, the largest")
    others: list[MemoryRow] = Field(default_factory=list, description="not in the peak")
    curve: list[int] = Field(default_factory=list, description="bytes of the call, by kernel")
    fits: str | None = Field(None, description="how many runners fit here")
    together: str | None = Field(None, description="calls at the same time: outputs, rates")
    growth: str | None = None
    run_grows: list[str] = Field(default_factory=list, description="what the run did to grow")
    grows: bool | None = None
    lower: list[str] = Field(default_factory=list, description="what would lower the peak")
    guide: str | None = None
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        return self.grows if self.peak is not None else None
