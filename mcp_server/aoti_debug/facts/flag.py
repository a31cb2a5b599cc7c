"""What an environment variable of AOTInductor is: who reads it, when, and what switches it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aoti_debug.facts.versions import OLDEST, Release

Moment = Literal[
    "import",  # once, when torch._inductor.config is imported in the compiling process
    "compile",  # at each compile, read from the environment then
    "load",  # when the package is loaded
    "first_run",  # at the first call of the loaded model, then kept
    "every_run",
    "first_allocation",  # of the CUDA caching allocator, then kept
    "process_start",  # by the driver, the C library or Python: set it before the process starts
]
Side = Literal["compiling", "running", "both"]
Test = Literal[
    "one",  # on when the value is exactly "1"
    "first_not_0",  # on unless the value begins with 0; an empty value is on
    "not_empty",  # on whenever something stands there, even 0
    "present",  # on whenever the variable exists, even empty
    "not_zero",  # on unless 0 or empty
    "text",  # no switch: the value itself counts
]

MOMENTS: dict[Moment, str] = {
    "import": "when torch._inductor.config is imported in the process that compiles",
    "compile": "at each compile",
    "load": "while the package is loaded",
    "first_run": "at the first call of the loaded model; later changes are ignored",
    "every_run": "at every call",
    "first_allocation": "at the first CUDA allocation of the process",
    "process_start": "when the process starts",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How one range of releases reads a variable."""

    when: Moment
    test: Test
    since: Release = OLDEST
    until: Release | None = None  # last one; None: still so in the newest
    note: str = ""

    def covers(self, line: Release) -> bool:
        return self.since <= line and (self.until is None or line <= self.until)


@dataclass(frozen=True, slots=True)
class Flag:
    """An environment variable."""

    name: str
    side: Side
    default: str | None  # None: unset
    values: str
    does: str
    readings: tuple[Reading, ...]
    attribute: str | None = None  # below torch._inductor.config
    misconceptions: tuple[str, ...] = ()
    owner: Literal["torch", "cuda", "triton", "python", "system"] = "torch"

    @property
    def since(self) -> Release:
        return min(r.since for r in self.readings)

    @property
    def until(self) -> Release | None:
        last = [r.until for r in self.readings]
        return None if None in last else max(u for u in last if u is not None)


def switched_on(test: Test, value: str | None) -> bool | None:
    """Apply a test to a value; None for a variable that is no switch."""
    if test == "text":
        return None
    if value is None:
        return False
    if test == "one":
        return value == "1"
    if test == "first_not_0":
        return not value.startswith("0")
    if test == "not_empty":
        return value != ""
    if test == "not_zero":
        return value not in ("", "0")
    return True
