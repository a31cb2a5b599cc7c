"""The environment variables that matter to AOTInductor: when each one acts, by torch version."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from aoti_debug.facts.compile_flags import COMPILE_FLAGS
from aoti_debug.facts.flag import MOMENTS, Flag, Moment, Reading, Release, release, switched_on
from aoti_debug.facts.run_flags import RUN_FLAGS


@dataclass(frozen=True, slots=True)
class Effect:
    """What a value of a variable does in one release."""

    acts: bool  # False: this release does not read the variable
    on: bool | None  # None: no switch, or it does not act
    when: Moment | None
    says: str


@cache
def flags() -> tuple[Flag, ...]:
    """Return every flag, those of compiling first, then in order of the tables."""
    return COMPILE_FLAGS + RUN_FLAGS


@cache
def _by_name() -> dict[str, Flag]:
    return {f.name: f for f in flags()}


def flag(name: str) -> Flag | None:
    """Return the flag called `name`, or None."""
    return _by_name().get(name)


def _reading(name: str, version: str | Release) -> Reading | None:
    found = flag(name)
    line = release(version)
    if found is None:
        return None
    return next((r for r in found.readings if r.covers(line)), None)


def effect(name: str, value: str | None, version: str | Release) -> Effect:
    """Say what `value` (None: unset) of the variable does in `version`."""
    reading = _reading(name, version)
    if reading is None:
        return Effect(False, None, None, f"torch {release(version)} does not read {name}.")
    given = _by_name()[name].default if value is None else value
    on = switched_on(reading.test, given)
    state = {True: ": on", False: ": off", None: ""}[on]
    says = f"{name} is unset{state}." if value is None else f"{name}={value[:60]!r}{state}."
    says += f" Read {MOMENTS[reading.when]}."
    if reading.note:
        says += f" {reading.note}"
    return Effect(True, on, reading.when, says)
