"""Choose which captured calls are repeated, and what each experiment takes away. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from aoti_debug.diagnose.traffic import findings, place, violations
from aoti_debug.model import InputFinding
from aoti_debug.read.event_records import Call, Group
from aoti_debug.symptom import tried

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

MOST = 8  # calls, of which one keeps the contract if one is kept
IN_ORDER = 100  # of a package with a state, from the first on
Break = tuple[int, str, int | None]  # input, property, dimension


@dataclass(frozen=True, slots=True)
class Change:
    """One break taken away from an input: another dtype, its strides, its size in a dimension, or
    memory of its own; or the order of all leaves."""

    index: int
    property: str
    to: str | int | tuple[int, ...] | None = None
    dim: int | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A captured call that is repeated: what it breaks, and what changes take all of that away;
    no changes where nothing is broken, or something cannot be taken away."""

    call: Call
    inputs: Path
    breaks: tuple[InputFinding, ...] = ()
    changes: tuple[Change, ...] = ()
    place: int = 0  # among the calls of its package in its process, from 1 on

    @property
    def places(self) -> frozenset[Break]:
        return frozenset(place(one) for one in self.breaks)

    @property
    def document(self) -> dict[str, object]:
        """Return what the probe is given."""
        call = self.call
        own = {"pid": call.pid, "call": call.call, "inputs": str(self.inputs), "place": self.place}
        changes, broken = [asdict(one) for one in self.changes], bool(self.breaks)
        return {**own, "changes": changes, "values": call.values, "breaks": broken}


def trials(
    observations: Observations, wanted: Call | None, kept: Callable[[Call], Path | None]
) -> tuple[Trial, ...]:
    """Return the calls to repeat, the one in question first: the smallest that keeps the contract,
    one of each way to break it; those found wrong or written to; the others from the first on."""
    run = observations.run
    if wanted is None or not wanted.ok:
        return ()
    far = {(one.pid, one.call) for one in run.references if one.far}

    def is_wanted(one: Trial) -> bool:
        return (one.call.pid, one.call.call) == (wanted.pid, wanted.call)

    alike = [
        call
        for call in run.calls
        if call.ok and (call.package, call.model) == (wanted.package, wanted.model)
    ]

    def weights(call: Call) -> int:
        """Count the loads of weights before a call: the replays are given those of the one call."""
        return sum(
            phase.phase == "constants" and phase.pid == call.pid and phase.id < call.id
            for phase in run.phases
        )

    alike = [
        call if weights(call) == weights(wanted) else replace(call, values=()) for call in alike
    ]
    places = {id(c): n for n, c in enumerate((c for c in alike if c.pid == wanted.pid), 1)}
    known = [
        trial_of(observations, call, inputs, places.get(id(call), 0))
        for call in alike
        if (inputs := kept(call)) is not None
    ]
    known.sort(key=lambda one: (not is_wanted(one), elements(one.call)))
    own = next((one for one in known if is_wanted(one)), None)
    good = next((one for one in known if not one.breaks), None)
    chosen: list[Trial] = []
    for one in known:
        if one is good or all(one.places != other.places for other in chosen):
            chosen.append(one)
    told = [one for one in known if (one.call.pid, one.call.call) in far or one.call.overwritten]
    early = sorted(known, key=lambda one: one.call.call or 0)
    if any(phase.details.mutates for phase in run.of("lower")):
        row = [one for place, one in enumerate(early, 1) if one.place == place]
        if len(row) > MOST:
            return tuple(row[:IN_ORDER])
    ranked = [*(one for one in (good, own) if one), *told[:2], *chosen, *early]
    return tuple({id(one): one for one in ranked}.values())[:MOST]


def trial_of(observations: Observations, call: Call, inputs: Path, place: int) -> Trial:
    broken = violations(observations, Group((call,), 1, ()))
    found = tuple(findings(broken or (), call.inputs))
    order = next((one.order for one in call.nesting if one.order is not None), None)
    if order is not None and all(one.property == "nesting" for one in found):
        return Trial(call, inputs, found, (Change(found[0].index, "order", order),), place)
    changes = [change_of(one) for one in found]
    known = tuple(one for one in changes if one is not None)
    return Trial(call, inputs, found, known if len(known) == len(changes) else (), place)


def change_of(finding: InputFinding) -> Change | None:
    """Return what takes a break away; None of what no change of an input can take away."""
    numbers = [int(n) for n in re.findall(r"\d{1,18}", finding.expected or "")]
    if finding.property == "dtype" and finding.expected:
        return Change(finding.index, "dtype", finding.expected)
    if finding.property == "stride" and "any" not in (finding.expected or "any"):
        return Change(finding.index, "stride", tuple(numbers))
    if finding.property == "size" and finding.dim is not None and numbers:
        return Change(finding.index, "size", numbers[0], finding.dim)
    if finding.property == "bit":
        return Change(finding.index, "bit")
    if finding.property in ("aliasing", "alignment"):
        return Change(finding.index, "copy")
    return None


def smallest_wrong(observations: Observations) -> Trial | None:
    """Return the smallest call that keeps the contract and whose results are wrong."""
    every = tried(observations)
    found = [one for one, outcome in every if not one.breaks and outcome.given.wrong_values]
    return min(found, key=lambda one: elements(one.call), default=None)


def elements(call: Call) -> int:
    return sum(prod(one.shape) for one in call.inputs if one.shape is not None)
