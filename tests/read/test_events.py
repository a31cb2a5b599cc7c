"""The probe's events, whole and broken, joined with what a process counted."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import pytest
from aoti_debug.probe import tally
from aoti_debug.read.event_records import Details, Events
from aoti_debug.read.events import read_events
from aoti_debug.read.traffic import with_tallies
from aoti_debug.triage.captured_call import kept_like, overwritten
from recordings import begin, end, events


def test_a_process_and_its_torch_are_read() -> None:
    found = events(
        {
            "event": "process",
            "argv": ["m.py", "--x"],
            "executable": "/py",
            "python": "3.11.7",
            "cwd": "/w",
            "ppid": 1,
        },
        {
            "event": "torch",
            "version": "2.13.0+cpu",
            "cuda": None,
            "git": "abc",
            "path": "/t",
            "triton": None,
        },
    )
    (process,) = found.processes
    assert (process.pid, process.ppid, process.argv, process.cwd) == (7, 1, ("m.py", "--x"), "/w")
    assert found.torch is not None
    assert (found.torch.version, found.torch.cuda) == ("2.13.0+cpu", None)
    assert process.span.first == 1


def test_phases_nest_and_what_did_not_end_is_known() -> None:
    found = events(
        begin(1, flags={"nan_asserts": True}),
        begin(2, "cpp_compile"),
        end(2),
        begin(3, "autotune"),
    )
    assert [(p.id, p.parent, p.ok) for p in found.phases] == [
        (1, None, None),
        (2, 1, True),
        (3, 1, None),
    ]
    assert found.phases[0].details == Details(flags={"nan_asserts": True})
    assert found.phases[1].seconds == 1.25
    assert (found.phases[1].span.first, found.phases[1].span.last) == (2, 3)
    assert found.unfinished is not None
    assert (found.unfinished.phase, found.unfinished.unfinished) == ("autotune", True)


def test_the_innermost_failure_comes_first() -> None:
    error = {"type": "RuntimeError", "message": "no"}
    found = events(
        begin(1), begin(2, "cpp_compile"), end(2, False, error=error), end(1, False, error=error)
    )
    assert found.failed is not None
    assert found.failed.phase == "cpp_compile"
    assert found.failed.error is not None
    assert found.failed.error.message == "no"
    assert found.unfinished is None


def test_a_call_has_inputs_and_outputs() -> None:
    ids = {
        "index": 0,
        "name": "ids",
        "kind": "tensor",
        "shape": [8, 32],
        "stride": [32, 1],
        "dtype": "int64",
        "device": "cuda:0",
        "storage_offset": 0,
        "storage_bytes": 2048,
        "alignment": 256,
        "min": 5,
        "max": 5000,
        "min_at": [0, 1],
        "max_at": [3, 5],
    }
    flag = {"index": None, "position": 1, "kind": "bool", "value": True}
    out = {"shape": [8], "dtype": "float32", "device": "cpu", "nan": 3, "inf": None}
    found = events(
        begin(1, "run", call=1, package="/p.pt2", inputs=[ids, flag], captured="capture/x.pt"),
        end(1, outputs=[out]),
    )
    call = found.last_call
    assert call is not None
    assert (call.call, call.package, call.captured, call.ok) == (1, "/p.pt2", "capture/x.pt", True)
    tensor, scalar = call.inputs
    assert (tensor.shape, tensor.maximum, tensor.max_at) == ((8, 32), 5000, (3, 5))
    assert (scalar.index, scalar.position, scalar.value) == (None, 1, True)
    assert (call.outputs[0].nan, call.outputs[0].inf) == (3, None)


def test_packages_are_read_from_lowering_and_loading() -> None:
    package = {"path": "/p.pt2", "bytes": 9, "captured": None, "why_not": "too large"}
    found = events(begin(1), end(1, package=package), begin(2, "load", package=package))
    assert [(p.path, p.bytes, p.why_not) for p in found.packages] == [
        ("/p.pt2", 9, "too large")
    ] * 2


def test_processes_keep_their_own_phases() -> None:
    other = {**begin(1), "pid": 8}
    found = events(begin(1), other, {**end(1), "pid": 8})
    assert [(p.pid, p.ok) for p in found.phases] == [(7, None), (8, True)]
    assert [p.parent for p in found.phases] == [None, None]


def test_a_truncated_last_line_is_counted() -> None:
    found = events(
        {"event": "note", "what": "inputs", "why": "too large"}, '{"t": 1, "pid": 7, "ev'
    )
    assert (found.notes[0].what, found.notes[0].why) == ("inputs", "too large")
    assert found.unreadable == 1


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "1",
        "null",
        "{}",
        '{"pid": true}',
        '{"pid": "7", "event": "process"}',
        '{"pid": 7, "event": 5}',
        '{"pid": 7, "event": "begin"}',
        '{"pid": 7, "event": "end"}',
        '{"pid": 7, "event": "begin", "id": "x"}',
        "[" * 100_000,
        "\x00\x01",
        "1" * 10_000,
        '{"pid": 7, "event": "unknown"}',
        "\ud800".encode("utf-8", "replace").decode(),
    ],
)
def test_what_is_no_event_is_counted_and_never_raises(line: str) -> None:
    assert events(line).unreadable == 1


@pytest.mark.parametrize("value", [5, "x", None, [], [5], {"a": 1}, [{"shape": "x"}], 1e400, True])
def test_fields_of_a_wrong_type_are_left_out(value: object) -> None:
    names = tuple(
        """
        argv ppid version phase name inputs package call outputs error seconds ok what flags
        namespaces libraries
        """.split()
    )
    fields = dict.fromkeys(names, value)
    found = events(
        *(
            {**fields, "event": kind, "id": 1}
            for kind in ("process", "torch", "begin", "end", "note", "custom_ops")
        ),
        {**fields, "event": "begin", "id": 2, "phase": "run"},
        {**fields, "event": "end", "id": 2},
    )
    assert len(found.phases) == 2


def test_a_huge_line_is_passed_over() -> None:
    huge = b'{"pid": 7, "event": "note", "what": "' + b"x" * (9 << 20) + b'"}\n'
    found = read_events(
        io.BytesIO(huge + b'{"pid": 7, "event": "note", "what": "a", "why": "b"}\n')
    )
    assert (found.unreadable, len(found.notes), found.notes[0].span.first) == (1, 1, 2)


def test_very_many_calls_keep_the_last() -> None:
    lines: list[dict[str, Any]] = []
    for id in range(21_000):
        lines += [begin(id, "run", call=id + 1), end(id)]
    found = events(*lines)
    assert found.last_call is not None
    assert found.last_call.call == 21_000
    assert len(found.calls) == 20_000


def test_lines_without_the_secret_of_the_run_are_no_events() -> None:
    own = '{"t": 1, "pid": 7, "key": "k", "event": "process", "argv": []}'
    planted = '{"t": 2, "pid": 7, "event": "begin", "id": 1, "phase": "run", "call": 1}'
    guessed = '{"t": 2, "pid": 7, "key": "x", "event": "begin", "id": 1, "phase": "run"}'
    found = read_events(io.BytesIO("\n".join([own, planted, guessed, ""]).encode()))
    assert (len(found.processes), found.calls, found.unreadable) == (1, (), 2)


@pytest.mark.parametrize(
    "name", ["../../x.pt", "/etc/passwd", "capture/../../x", ".hidden", "a//b"]
)
def test_a_path_that_leads_out_of_the_run_is_none(name: str) -> None:
    begin = {"t": 1, "pid": 7, "event": "begin", "id": 1, "phase": "run", "call": 1}
    line = json.dumps({**begin, "captured": name, "exported_program": name})
    found = read_events(io.BytesIO(line.encode() + b"\n"))
    assert found.calls[0].captured is None
    assert found.phases[0].details.exported_program is None


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
