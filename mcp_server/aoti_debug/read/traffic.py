"""The calls of a run: what the probe counted of those that it did not record one by one."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_debug.probe import call_counters as written

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Call, Counted, Events, Group, Phase


@dataclass(frozen=True, slots=True)
class Tally:
    """What a process counted; `groups` has the calls of each, and the numbers of the first bad."""

    pid: int
    groups: Mapping[int, tuple[int, tuple[int, ...]]]
    returned: int
    failed: int
    outputs_read: int
    others: int  # calls of no group: there were too many kinds
    others_judged: int
    under_way: int  # number of a call; 0: none
    last: int
    last_group: int
    held: int
    latest_kept: int
    broken: int
    unjudged: int
    not_finite: int


def read_tally(pid: int, data: bytes) -> Tally | None:
    """Return the numbers of one process; None when it is no such file."""
    if len(data) != written.BYTES:
        return None
    numbers = struct.unpack(f"={written.BYTES // 8}q", data)
    if numbers[written.VERSION] != written.FORMAT or min(numbers) < -1:
        return None
    rows = [numbers[written.row(g) : written.row(g) + written.ROW] for g in range(written.GROUPS)]
    return Tally(
        pid,
        groups={
            group: (calls, tuple(number for number in later if number))
            for group, (calls, *later) in enumerate(rows)
            if calls
        },
        returned=numbers[written.RETURNED],
        failed=numbers[written.FAILED],
        outputs_read=numbers[written.OUTPUTS_READ],
        others=numbers[written.OTHERS],
        others_judged=numbers[written.OTHERS_JUDGED],
        under_way=numbers[written.UNDER_WAY],
        last=numbers[written.LAST],
        last_group=numbers[written.LAST_GROUP],
        held=numbers[written.HELD],
        latest_kept=numbers[written.LATEST_KEPT],
        broken=numbers[written.BROKEN],
        unjudged=numbers[written.UNJUDGED],
        not_finite=numbers[written.NOT_FINITE],
    )


def with_tallies(events: Events, files: Mapping[str, bytes]) -> Events:
    """Add the tallies, and of each process the last call, which may be under way at its end, and
    the one whose inputs were kept last, where the events do not hold them."""
    tallies = []
    for counted in events.counted:
        found = read_tally(counted.pid, files.get(counted.file, b""))
        if found is not None:
            tallies.append(found)
            events = _with_calls(events, found, counted)
    return replace(events, tallies=tuple(tallies))


def _with_calls(events: Events, tally: Tally, counted: Counted) -> Events:
    own = {call.call: call for call in events.calls if call.pid == tally.pid}
    groups = {call.group: call for call in reversed(own.values()) if call.group is not None}
    calls, phases = list(events.calls), list(events.phases)
    recorded = own.get(tally.last)
    if recorded is not None and recorded.captured is None and tally.held == tally.last:
        calls[calls.index(recorded)] = replace(recorded, captured=counted.now, why_not=None)
    like = groups.get(tally.last_group)
    unknown = tally.latest_kept and tally.latest_kept not in own  # 0: none was kept
    if unknown and tally.latest_kept != tally.last and like is not None:
        calls.append(_like(like, tally.latest_kept, counted.latest, ok=True))
    if recorded is None and like is not None:
        kept = counted.now if tally.held == tally.last else None
        kept = counted.latest if tally.latest_kept == tally.last else kept
        ok = None if tally.under_way == tally.last else True
        calls.append(_like(like, tally.last, kept, ok=ok))
        if ok is None:
            phases.append(_under_way(like))
    return replace(events, calls=tuple(calls), phases=tuple(phases))


def _like(call: Call, number: int, captured: str | None, *, ok: bool | None) -> Call:
    why = "" if captured else "its inputs are not kept: they are too large, or not on the CPU"
    return replace(call, call=number, captured=captured, why_not=why, ok=ok, outputs=(), error=None)


def _under_way(call: Call) -> Phase:
    from aoti_debug.read.event_records import Details, Phase  # a text alone needs none

    return Phase(
        call.span,
        call.pid,
        call.id,
        parent=None,
        phase="run",
        name="the call under way",
        begun=None,
        seconds=None,
        ok=None,
        error=None,
        details=Details(),
    )


def groups(events: Events) -> list[Group]:
    """Return the calls by what they have in common, in the order of their first calls."""
    tallies = {tally.pid: tally for tally in events.tallies}
    found: dict[object, list[Call]] = {}
    for call in events.calls:
        alike = [(i.index, i.kind, i.shape, i.stride, i.dtype, i.device) for i in call.inputs]
        key = (
            (call.pid, call.group)
            if call.group is not None
            else (call.pid, call.package, call.model, tuple(alike))
        )
        found.setdefault(key, []).append(call)
    return [_group(calls, tallies.get(calls[0].pid)) for calls in found.values()]


def _group(calls: list[Call], tally: Tally | None) -> Group:
    from aoti_debug.read.event_records import Group

    known = {call.call for call in calls if call.call is not None}
    count = len(known) or len(calls)
    counted = tally.groups.get(calls[0].group) if tally and calls[0].group is not None else None
    if counted is not None:
        count, later = max(count, counted[0]), counted[1]
        known.update(later)
    return Group(tuple(calls), count, tuple(sorted(known)))


def made(events: Events) -> int:
    """Return how many calls of loaded models were made."""
    others = sum(tally.others for tally in events.tallies)
    return others + sum(group.count for group in groups(events))
