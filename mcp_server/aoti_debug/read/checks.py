"""What the probe's checks found of one call, step by step; `check_report` reads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aoti_debug.vocabulary import CHECKS, Check

if TYPE_CHECKING:  # many types, which what only reads a log does without
    from aoti_debug.read import check_report as reports


@dataclass(frozen=True, slots=True)
class CheckReports:
    """What is reported of one call, by step; None for a step that was not taken."""

    calls: reports.CallsReport | None = None
    guards: reports.GuardsReport | None = None
    fakes: reports.FakesReport | None = None
    redzones: reports.RedzonesReport | None = None
    contract: reports.ContractReport | None = None
    compare: reports.CompareReport | None = None
    repeats: reports.RepeatsReport | None = None
    poison: reports.PoisonReport | None = None
    threads: reports.ThreadsReport | None = None
    trials: reports.TrialsReport | None = None
    writes: reports.WritesReport | None = None

    def step(self, name: Check) -> reports.Step | None:
        found: reports.Step | None = getattr(self, name)
        return found

    def joined(self, other: CheckReports) -> CheckReports:
        """Return these reports with what a later process reported of other steps."""
        more: dict[Check, Any] = {n: step for n in CHECKS if (step := other.step(n)) is not None}
        return replace(self, **more)

    @property
    def pair(self) -> reports.Pair | None:
        """Return what became of a call that the script compares."""
        return self.trials.pair if self.trials is not None else None

    @property
    def abnormal(self) -> bool:
        """Tell whether values differ: from the exported program's, from repeat to repeat, or with
        what free memory held."""
        return bool(
            (self.compare is not None and self.compare.verdict == "differs")
            or (self.repeats is not None and self.repeats.differs)
            or (self.poison is not None and self.poison.differs)
        )


NO_REPORTS = CheckReports()
