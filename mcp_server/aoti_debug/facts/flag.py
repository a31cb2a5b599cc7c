"""An environment variable of AOTInductor: who reads it, when, how, in which releases of torch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

from packaging.version import InvalidVersion, Version

from aoti_debug.errors import WrongUse


class Release(NamedTuple):
    """A torch release line. Patch releases of one line behave alike as far as these facts go."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


OLDEST = Release(2, 6)
NEWEST = Release(2, 15)
RELEASES = tuple(Release(2, n) for n in range(OLDEST.minor, NEWEST.minor + 1))


def release(version: str | Release) -> Release:
    """Return the release line of a version like `2.13.0+cu130`, `2.9.0a0+git1`; raise WrongUse."""
    if isinstance(version, Release):
        return version
    with suppress(InvalidVersion):
        found = Version(version)
        if len(found.release) > 1:
            return Release(found.major, found.minor)
    no = f"{version[:40]!r} is not a torch version"
    raise WrongUse(no, help="Give one such as 2.13.0+cu130.")


def known(version: str | Release) -> bool:
    """Say whether the facts were checked for this release line (2.6 to 2.15)."""
    return OLDEST <= release(version) <= NEWEST


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


_SWITCHES: dict[Test, Callable[[str], bool]] = {
    "one": lambda value: value == "1",
    "first_not_0": lambda value: not value.startswith("0"),
    "not_empty": lambda value: value != "",
    "present": lambda _: True,
    "not_zero": lambda value: value not in ("", "0"),
}


def switched_on(test: Test, value: str | None) -> bool | None:
    """Apply a test to a value; None for a variable that is no switch."""
    switch = _SWITCHES.get(test)
    return None if switch is None else value is not None and switch(value)
