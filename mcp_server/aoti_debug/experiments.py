"""Choose which captured calls are repeated against the exported program, and what each experiment
takes away: all that a call breaks of the package's contract. Pure: nothing is run here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from aoti_debug.diagnose.traffic import findings, place, violations
from aoti_debug.read.event_records import Group

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.model import InputFinding
    from aoti_debug.read.events import Call

MOST = 4  # calls, of which one keeps the contract if one is kept
Break = tuple[int, str, int | None]  # input, property, dimension


@dataclass(frozen=True, slots=True)
class Change:
    """One break taken away from an input: another dtype, its strides, its size in a dimension, or
    memory of its own."""

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

    @property
    def places(self) -> frozenset[Break]:
        return frozenset(place(one) for one in self.breaks)

    @property
    def document(self) -> dict[str, object]:
        """Return what the probe is given."""
        changes = [
            {"index": c.index, "property": c.property, "to": c.to, "dim": c.dim}
            for c in self.changes
        ]
        call = self.call
        return {"pid": call.pid, "call": call.call, "inputs": str(self.inputs), "changes": changes}


def trials(
    observations: Observations, wanted: Call | None, kept: Callable[[Call], Path | None]
) -> tuple[Trial, ...]:
    """Return the calls to repeat, the one in question first: of calls that are kept the smallest
    that keeps the contract, and one of each way to break it. None where only the call in question
    is kept and it breaks nothing, for it is compared anyway."""
    events = observations.events
    if events is None or wanted is None or not wanted.ok:
        return ()

    def is_wanted(one: Trial) -> bool:
        return (one.call.pid, one.call.call) == (wanted.pid, wanted.call)

    alike = [
        call
        for call in events.calls
        if call.ok and (call.package, call.model) == (wanted.package, wanted.model)
    ]
    known = [trial for call in alike if (trial := trial_of(observations, call, kept)) is not None]
    known.sort(key=lambda one: (not is_wanted(one), elements(one.call)))
    chosen: list[Trial] = []
    good = next((one for one in known if not one.breaks), None)
    for one in known:
        if is_wanted(one) or one is good or all(one.places != c.places for c in chosen):
            chosen.append(one)
    own = next((one for one in chosen if is_wanted(one)), None)
    asks = len(chosen) > 1 or any(one.changes for one in chosen)
    first = [one for one in (own, good) if one is not None]
    rest = [one for one in chosen if all(one is not f for f in first)]
    return tuple(dict.fromkeys([*first, *rest]))[:MOST] if asks else ()


def trial_of(
    observations: Observations, call: Call, kept: Callable[[Call], Path | None]
) -> Trial | None:
    inputs = kept(call)
    if inputs is None:
        return None
    broken = violations(observations, Group((call,), 1, ()))
    found = tuple(findings(broken or (), call.inputs))
    changes = [change_of(one) for one in found]
    known = tuple(one for one in changes if one is not None)
    return Trial(call, inputs, found, known if len(known) == len(changes) else ())


def change_of(finding: InputFinding) -> Change | None:
    """Return what takes a break away; None of what no change of an input can take away."""
    numbers = [int(n) for n in re.findall(r"\d{1,18}", finding.expected or "")]
    if finding.property == "dtype" and finding.expected:
        return Change(finding.index, "dtype", finding.expected)
    if finding.property == "stride" and "any" not in (finding.expected or "any"):
        return Change(finding.index, "stride", tuple(numbers))
    if finding.property == "size" and finding.dim is not None and numbers:
        return Change(finding.index, "size", numbers[0], finding.dim)
    if finding.property in ("aliasing", "alignment"):
        return Change(finding.index, "copy")
    return None


def smallest_wrong(observations: Observations) -> Trial | None:
    """Return the smallest call that keeps the contract and whose results are wrong."""
    report = observations.checks.trials
    wrong = {
        (one.pid, one.call) for one in (report.trials if report else ()) if one.given.wrong_values
    }
    found = [
        one
        for one in observations.trials
        if not one.breaks and (one.call.pid, one.call.call) in wrong
    ]
    return min(found, key=lambda one: elements(one.call), default=None)


def elements(call: Call) -> int:
    return sum(prod(one.shape) for one in call.inputs if one.shape is not None)
