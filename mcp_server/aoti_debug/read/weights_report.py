"""What the probe reported of an update of weights: its steps, what is wrong, what was tried."""

from __future__ import annotations

from dataclasses import dataclass

from aoti_debug.probe.update_steps import Finding
from aoti_debug.read.typed import Texts


@dataclass(frozen=True, slots=True)
class StepSeen:
    """A step; `agrees` of a call: its outputs are right, None: they were not compared."""

    step: str
    agrees: bool | None = None
    wrong: Texts = ()  # constants that calls use and that are not the new ones
    error: str | None = None
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class RacesSeen:
    """Updates to and fro while threads called; `torn` outputs are those of no weights."""

    threads: int = 0
    updates: int = 0
    calls: int = 0
    torn: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SafeSeen:
    sequence: str
    agrees: bool | None = None


@dataclass(frozen=True, slots=True)
class WeightsReport:
    state: str = ""
    at: int = 0  # the step under way
    device: str = ""
    constants: int = 0
    folded: int = 0
    changed: int = 0
    truth: str = ""  # what outputs were compared with
    steps: tuple[StepSeen, ...] = ()
    findings: tuple[Finding, ...] = ()
    races: RacesSeen | None = None
    safe: SafeSeen | None = None
