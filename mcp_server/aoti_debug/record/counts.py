"""The calls of a run: what the probe counted of those that it did not record one by one."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from aoti_debug.probe import call_counters as written

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Call, Counted, Group, Phase
    from aoti_debug.record.run_seen import RunSeen


@dataclass(frozen=True, slots=True)
class Returned:
    """Calls of a model whose outputs hold the same: of each output three bits, NaN, Inf, -Inf."""

    signature: int
    count: int
    numbers: tuple[int, ...]  # of the first


@dataclass(frozen=True, slots=True)
class OnDevice:
    """A call that was on a device when its process ended, and the file with its inputs."""

    call: int
    group: int | None
    file: str | None


@dataclass(frozen=True, slots=True)
class CallCounts:
    """What a process counted; `groups` has the calls of each, and the numbers of the first bad."""

    pid: int
    groups: Mapping[int, tuple[int, tuple[int, ...]]]
    returned: int
    failed: int
    unread: int  # calls whose outputs could not be looked at
    others: int  # calls of no group: there were too many kinds
    others_judged: int
    under_way: int  # number of a call; 0: none
    last: int
    last_group: int
    held: int
    latest_kept: int
    broken: int
    unjudged: int
    on_device: int  # the first call that its device did not come to the end of; 0: none
    on_device_group: int
    on_device_kept: int
    outputs: Mapping[int, tuple[Returned, ...]]  # of each model

    @property
    def odd(self) -> bool:
        """Tell whether some calls of a model returned NaN or Inf that others did not."""
        return any(
            one.signature & ~other.signature
            for found in self.outputs.values()
            for one in found
            for other in found
        )


_COUNTERS = [one.name for one in fields(CallCounts) if one.type == "int" and one.name != "pid"]


def read_call_counts(pid: int, data: bytes) -> CallCounts | None:
    """Return the numbers of one process; None when it is no such file."""
    if len(data) != written.BYTES:
        return None
    numbers = struct.unpack(f"={written.BYTES // 8}q", data)
    if numbers[written.VERSION] != written.FORMAT or min(numbers) < -1:
        return None
    rows = [numbers[written.row(g) : written.row(g) + written.ROW] for g in range(written.GROUPS)]
    return CallCounts(
        pid,
        groups={
            group: (calls, tuple(number for number in later if number))
            for group, (calls, *later) in enumerate(rows)
            if calls
        },
        outputs={
            model: found for model in range(written.MODELS) if (found := signatures(numbers, model))
        },
        **{name: numbers[getattr(written, name.upper())] for name in _COUNTERS},
    )


def signatures(numbers: Sequence[int], model: int) -> tuple[Returned, ...]:
    """Return what the calls of a model returned, one for each signature."""
    found = []
    for at in range(written.SIGNATURES):
        begin = written.signed(model, at)
        signature, count, *first = numbers[begin : begin + written.SIGNED]
        if count:
            found.append(Returned(signature, count, tuple(n for n in first[:count] if n)))
    return tuple(found)


def with_call_counts(
    run: RunSeen, files: Mapping[str, bytes], on_devices: Mapping[int, OnDevice] | None = None
) -> RunSeen:
    """Add the counts, and the last call and the last kept call of each process."""
    call_counts = []
    for counted in run.counted:
        found = read_call_counts(counted.pid, files.get(counted.file, b""))
        if found is not None:
            left = (on_devices or {}).get(counted.pid)
            if left is not None and not found.on_device:
                found = replace(
                    found,
                    on_device=left.call,
                    on_device_group=-1 if left.group is None else left.group,
                    on_device_kept=left.call if left.file else 0,
                )
                counted = replace(counted, pending=left.file)
            call_counts.append(found)
            run = _with_calls(run, found, counted)
    return replace(run, call_counts=tuple(call_counts))


def _with_calls(run: RunSeen, counts: CallCounts, counted: Counted) -> RunSeen:
    own = {call.call: call for call in run.calls if call.pid == counts.pid}
    groups = {call.group: call for call in reversed(own.values()) if call.group is not None}
    calls, phases = dict(own), list(run.phases)
    for one in run.returned:
        like = own.get(one.call)
        if like is None and one.group is not None and one.group in groups:
            like = _like(groups[one.group], one.call, None, ok=True)
        if one.pid == counts.pid and like is not None:
            kept = one.captured or like.captured
            calls[one.call] = replace(
                like, captured=kept, why_not=one.why_not, signature=one.signature
            )
    calls = {number: _judged(call, counts) for number, call in calls.items()}
    recorded, like = calls.get(counts.last), groups.get(counts.last_group)
    if recorded is not None and recorded.captured is None and counts.held == counts.last:
        calls[counts.last] = replace(recorded, captured=counted.now, why_not=None)
    unknown = counts.latest_kept and counts.latest_kept not in calls  # 0: none was kept
    if unknown and counts.latest_kept != counts.last and like is not None:
        calls[counts.latest_kept] = _like(like, counts.latest_kept, counted.latest, ok=True)
    if recorded is None and like is not None:
        kept = counted.now if counts.held == counts.last else None
        kept = counted.latest if counts.latest_kept == counts.last else kept
        ok = None if counts.under_way == counts.last else True
        calls[counts.last] = _like(like, counts.last, kept, ok=ok)
        if ok is None:
            phases.append(_under_way(like))
    others = [call for call in run.calls if call.pid != counts.pid]
    ordered = sorted(calls.values(), key=lambda call: (call.call is None, call.call or 0))
    at = next((n for n, c in enumerate(run.calls) if c.pid == counts.pid), len(others))
    joined = (*others[:at], *ordered, *others[at:])
    return on_device(replace(run, calls=joined, phases=tuple(phases)), counts, counted)


def _judged(call: Call, counts: CallCounts) -> Call:
    """Add what a device found its outputs to hold: it tells of NaN and Inf, and of none."""
    found = [one for model in counts.outputs.values() for one in model]
    known = next((one.signature for one in found if call.call in one.numbers), None)
    finite = bool(found) and not counts.unread and not any(one.signature for one in found)
    signature = 0 if known is None and finite else known
    if signature is None or not call.ok:
        return call
    none = [not signature >> 3 * min(n, written.PLACES - 1) & 7 for n in range(len(call.outputs))]
    outputs = tuple(
        replace(one, nan=0, inf=0) if fine and one.nan is None else one
        for fine, one in zip(none, call.outputs, strict=True)
    )
    return replace(call, outputs=outputs, judged=signature)


def on_device(run: RunSeen, counts: CallCounts, counted: Counted) -> RunSeen:
    """Say of the call that its device did not come to the end of that it did not return."""
    number = counts.on_device
    if not number:
        return run
    own = [call for call in run.calls if call.pid == counts.pid and call.call is not None]
    found = next((call for call in own if call.call == number), None)
    like = found or next((call for call in own if call.group == counts.on_device_group), None)
    if like is None:
        return run
    call = found or _like(like, number, None, ok=None)
    kept = counted.pending if counts.on_device_kept == number else call.captured
    call = replace(call, ok=None, on_device=True, captured=kept)
    others = tuple(one for one in run.calls if one is not found)
    known = next((p.details for p in run.phases if (p.pid, p.id) == (call.pid, call.id)), None)
    phase = _under_way(call)
    phase = replace(phase, details=known or phase.details)
    return replace(run, calls=(*others, call), phases=(*run.phases, phase))


def _like(call: Call, number: int, captured: str | None, *, ok: bool | None) -> Call:
    """Return a counted call by the first one like it, without its outputs and memory."""
    why = "" if captured else "its inputs are not kept: they are too large, or not on the CPU"
    return replace(
        call,
        call=number,
        captured=captured,
        why_not=why,
        ok=ok,
        error=None,
        signature=0,
        on_device=False,
        outputs=(),
        overwritten=(),
        reused=(),
        aliases=(),
        changed=(),
        values=(),
    )


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


def groups(run: RunSeen) -> list[Group]:
    """Return the calls by what they have in common, in the order of their first calls."""
    call_counts = {counts.pid: counts for counts in run.call_counts}
    found: dict[object, list[Call]] = {}
    for call in run.calls:
        alike = [(i.index, i.kind, i.shape, i.stride, i.dtype, i.device) for i in call.inputs]
        key = (
            (call.pid, call.group)
            if call.group is not None
            else (call.pid, call.package, call.model, tuple(alike))
        )
        found.setdefault(key, []).append(call)
    return [_group(calls, call_counts.get(calls[0].pid)) for calls in found.values()]


def _group(calls: list[Call], counts: CallCounts | None) -> Group:
    from aoti_debug.read.event_records import Group

    known = {call.call for call in calls if call.call is not None}
    count = len(known) or len(calls)
    counted = counts.groups.get(calls[0].group) if counts and calls[0].group is not None else None
    if counted is not None:
        count, later = max(count, counted[0]), counted[1]
        known.update(later)
    return Group(tuple(calls), count, tuple(sorted(known)))
