"""The environment variables that matter to AOTInductor: when each one acts, by torch version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aoti_debug.facts.compile_flags import COMPILE_FLAGS
from aoti_debug.facts.flag import MOMENTS, Flag, Moment, Release, release, switched_on
from aoti_debug.facts.run_flags import RUN_FLAGS


@dataclass(frozen=True, slots=True)
class Effect:
    """What a value of a variable does in one release."""

    acts: bool  # False: this release does not read the variable
    on: bool | None  # None: no switch, or it does not act
    when: Moment | None
    says: str


# Those of compiling first, then in the order of the tables.
FLAGS: Mapping[str, Flag] = {one.name: one for one in COMPILE_FLAGS + RUN_FLAGS}


def flags() -> tuple[Flag, ...]:
    return tuple(FLAGS.values())


def flag(name: str) -> Flag | None:
    return FLAGS.get(name)


def effect(name: str, value: str | None, version: str | Release) -> Effect:
    """Say what `value` (None: unset) of the variable does in `version`."""
    found, line = FLAGS.get(name), release(version)
    reading = next((r for r in found.readings if r.covers(line)), None) if found else None
    if found is None or reading is None:
        return Effect(False, None, None, f"torch {line} does not read {name}.")
    on = switched_on(reading.test, found.default if value is None else value)
    state = {True: ": on", False: ": off", None: ""}[on]
    says = f"{name} is unset{state}." if value is None else f"{name}={value[:60]!r}{state}."
    says += f" Read {MOMENTS[reading.when]}."
    if reading.note:
        says += f" {reading.note}"
    return Effect(True, on, reading.when, says)
