"""What the probe's checks found of one call, step by step; `check_report` reads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:  # many types, which what only reads a log does without
    from aoti_debug.read.check_report import (
        CallsReport,
        CompareReport,
        ContractReport,
        FakesReport,
        GuardsReport,
        PoisonReport,
        RepeatsReport,
        Step,
        ThreadsReport,
        TrialsReport,
        WritesReport,
    )

Name = Literal[
    "calls",
    "guards",
    "fakes",
    "contract",
    "compare",
    "repeats",
    "poison",
    "threads",
    "trials",
    "writes",
]
NAMES: tuple[Name, ...] = get_args(Name)


@dataclass(frozen=True, slots=True)
class CheckReports:
    """What is reported of one call, by step; None for a step that was not taken."""

    calls: CallsReport | None = None
    guards: GuardsReport | None = None
    fakes: FakesReport | None = None
    contract: ContractReport | None = None
    compare: CompareReport | None = None
    repeats: RepeatsReport | None = None
    poison: PoisonReport | None = None
    threads: ThreadsReport | None = None
    trials: TrialsReport | None = None
    writes: WritesReport | None = None

    def step(self, name: Name) -> Step | None:
        found: Step | None = getattr(self, name)
        return found

    def joined(self, other: CheckReports) -> CheckReports:
        """Return these reports with what a later process reported of other steps."""
        more: dict[Name, Any] = {n: step for n in NAMES if (step := other.step(n)) is not None}
        return replace(self, **more)

    @property
    def running(self) -> Name | None:
        """Return the step in which the process ended, if it did in one."""
        return next((n for n in NAMES if (s := self.step(n)) and s.state == "running"), None)

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
