"""What a process counted, joined with what it recorded."""

from __future__ import annotations

import io
import json
import struct

from aoti_debug.probe import tally
from aoti_debug.read.event_records import Events
from aoti_debug.read.events import read_events
from aoti_debug.read.traffic import with_tallies
from aoti_debug.triage.captured_call import kept_like, overwritten

FILE = "calls/7-0.bin"


def event(kind: str, **fields: object) -> str:
    return json.dumps({"t": 1.0, "pid": 7, "event": kind, **fields})


def events_of(calls: int, captured: str) -> Events:
    """Return the events of a process that recorded `calls` calls of one kind."""
    named = {"now": "capture/call-now.bin", "latest": "capture/call-latest.pt"}
    lines = [event("tally", file=FILE, **named)]
    for number in range(1, calls + 1):
        given = {"index": 0, "kind": "tensor", "shape": [2], "stride": [1], "dtype": "float32"}
        what = {"phase": "run", "call": number, "group": 0, "package": "/m.pt2"}
        kept = "capture/call-first.pt" if number == 1 else captured
        lines.append(event("begin", id=number, inputs=[given], captured=kept, **what))
        lines.append(event("end", id=number, ok=True, seconds=0.1))
    return read_events(io.BytesIO("\n".join(lines).encode() + b"\n"))


def counted(**places: int) -> dict[str, bytes]:
    numbers = [0] * (tally.BYTES // 8)
    numbers[tally.VERSION] = tally.FORMAT
    for name, value in places.items():
        numbers[getattr(tally, name)] = value
    return {FILE: struct.pack(f"{len(numbers)}q", *numbers)}


def test_a_process_that_kept_no_further_inputs_made_no_call_of_number_zero() -> None:
    events = with_tallies(events_of(3, "capture/call-latest.pt"), counted(LAST=3, RETURNED=3))
    assert [call.call for call in events.calls] == [1, 2, 3]
    last = events.calls[-1]
    assert not overwritten(events, last)
    assert kept_like(events, last) is last


def test_a_call_that_was_only_counted_gives_way_to_the_last_that_is_kept() -> None:
    events = with_tallies(events_of(3, "capture/call-latest.pt"), counted(LAST=9, RETURNED=9))
    last = events.calls[-1]
    assert (last.call, last.captured) == (9, None)
    assert kept_like(events, last).call == 3


def test_the_inputs_that_were_kept_last_are_those_of_the_call_that_says_so() -> None:
    told = counted(LAST=9, RETURNED=9, LATEST_KEPT=9)
    events = with_tallies(events_of(3, "capture/call-latest.pt"), told)
    last = events.calls[-1]
    assert (last.call, last.captured) == (9, "capture/call-latest.pt")
    assert not overwritten(events, last)
    assert overwritten(events, events.calls[2])
