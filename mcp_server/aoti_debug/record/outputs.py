"""What the calls of a model returned. NaN in all calls is intended; NaN in some is odd."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from aoti_debug.probe.call_counters import NAN, NEGATIVE, PLACES, POSITIVE, UNLIKE

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Call
    from aoti_debug.record.run_seen import RunSeen

BITS = 3
EVERY = NAN | POSITIVE | NEGATIVE


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outputs of all calls of a model. `calls` are the first odd ones of each process; `more`
    are the processes with further ones."""

    package: str | None
    model: str
    judged: int
    count: int  # of odd calls
    odd: int  # the signature of what they hold beyond what every call holds
    always: int  # what every call holds
    calls: Mapping[int, tuple[int, ...]]
    more: frozenset[int]

    def is_odd(self, call: Call) -> bool:
        mine = (call.package, call.model) == (self.package, self.model)
        return mine and call.call in self.calls.get(call.pid, ())


def outcomes(run: RunSeen) -> list[Outcomes]:
    """Return what the calls of each model returned, as far as it was counted."""
    call_counts = {counts.pid: counts for counts in run.call_counts}
    rows: dict[tuple[str | None, str], list[tuple[int, int, int, tuple[int, ...]]]] = {}
    for row in run.rows:
        counts = call_counts.get(row.pid)
        found = counts.outputs.get(row.row, ()) if counts is not None else ()
        rows.setdefault((row.package, row.model), []).extend(
            (row.pid, one.signature, one.count, one.numbers) for one in found
        )
    return [of_model(*key, found) for key, found in rows.items() if found]


def of_model(
    package: str | None, model: str, found: list[tuple[int, int, int, tuple[int, ...]]]
) -> Outcomes:
    always = reduce(and_, (signature for _, signature, _, _ in found))
    odd = [one for one in found if one[1] & ~always]
    calls: dict[int, tuple[int, ...]] = {}
    for pid, _, _, numbers in odd:
        calls[pid] = tuple(sorted((*calls.get(pid, ()), *numbers)))
    return Outcomes(
        package,
        model,
        judged=sum(count for _, _, count, _ in found),
        count=sum(count for _, _, count, _ in odd),
        odd=reduce(or_, (signature & ~always for _, signature, _, _ in odd), 0),
        always=always,
        calls=calls,
        more=frozenset(pid for pid, _, count, numbers in odd if count > len(numbers)),
    )


def odd_outcomes(run: RunSeen) -> Outcomes | None:
    """Return the outcomes of a model with odd NaN or Inf, first those with NaN."""
    found = [one for one in outcomes(run) if one.odd]
    return min(found, key=lambda one: NAN not in kinds(one.odd), default=None)


def kinds(signature: int) -> set[int]:
    """Return which of NaN, POSITIVE and NEGATIVE any output holds."""
    parts = reduce(or_, (signature >> BITS * at & EVERY for at in range(PLACES)), 0)
    return {kind for kind in (NAN, POSITIVE, NEGATIVE) if parts & kind}


def words(signature: int) -> str:
    """Return "NaN", "Inf", or both; of outputs that only have another form, that."""
    found = kinds(signature)
    parts = ["NaN"] * (NAN in found) + ["Inf"] * bool(found & {POSITIVE, NEGATIVE})
    return " or ".join(parts or ["unexpected values"] * bool(signature & UNLIKE))


def always(run: RunSeen, call: Call) -> bool:
    """Tell whether every call of a model, of several, returned NaN or Inf in the same outputs."""
    found = [one for one in outcomes(run) if (one.package, one.model) == (call.package, call.model)]
    return any(one.always and not one.odd and one.judged > 1 for one in found)


def unread(run: RunSeen) -> int:
    return sum(counts.unread for counts in run.call_counts)


def first_odd(run: RunSeen, calls: Iterable[Call]) -> Call | None:
    """Return the first odd call; one whose inputs are kept, if there is one."""
    outcome = odd_outcomes(run)
    odd = [call for call in calls if outcome is not None and outcome.is_odd(call)]
    return next((call for call in odd if call.captured is not None), next(iter(odd), None))
