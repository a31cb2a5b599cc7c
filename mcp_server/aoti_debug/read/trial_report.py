"""Read what the probe reported of a compile without one of Inductor's own trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aoti_debug.explain.values import lines
from aoti_debug.model import SourceLine
from aoti_debug.read.check_report import ProbeReport


class ComputedIndex(ProbeReport):
    """An operator that is given an index which the model computes."""

    op: str = ""
    stack: Any = None
    upper: int = 0
    inputs: tuple[str, ...] = ()
    by: tuple[str, ...] = ()  # operators, the last first

    @property
    def source(self) -> list[SourceLine]:
        return lines(self.stack)


class WithoutTrial(ProbeReport):
    """`settings` are what was set to leave the trial out; `verdict` is of the package's values."""

    state: str = ""
    settings: Mapping[str, object] = {}
    artifact: str = ""
    computed: tuple[ComputedIndex, ...] = ()
    outside: str | None = None  # how the export's inputs leave the bounds; "": not at all
    verdict: str | None = None
    seconds: float | None = None

    @property
    def compiled(self) -> bool:
        """Tell whether it came to the compile, so that the settings were tried."""
        return self.state in ("compile", "call", "done")

    @property
    def works(self) -> bool:
        return self.state == "done" and self.verdict in ("agrees", "random")


def read_trial(
    document: Mapping[str, Any] | None, settings: Mapping[str, object], artifact: str
) -> WithoutTrial:
    """Return the report of a process, as far as it came."""
    found = WithoutTrial.read(document or {}) or WithoutTrial()
    return found.model_copy(update={"settings": dict(settings), "artifact": artifact})
