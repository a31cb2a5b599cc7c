"""The single pass over an artifact: numbering, cutting, unwrapping, control codes, repetition,
chunks; and that every kind of record is read by something. The probe's events, whole and broken,
joined with what a process counted."""

from __future__ import annotations

import io
import random
import re
import struct
import tracemalloc
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import aoti_debug
import pytest
from aoti_debug import api, read
from aoti_debug.probe import call_counters
from aoti_debug.read import event_records
from aoti_debug.read import scan as scan_module
from aoti_debug.read.blocks import CHUNK, LIMIT, unwrapped
from aoti_debug.read.event_records import Call, Details
from aoti_debug.read.python_traceback import error_lines
from aoti_debug.read.record import DeviceAssert, Line, PythonException, Record
from aoti_debug.read.scan import LINE_LIMIT, log_readers, scan, scan_text
from aoti_debug.record.counts import with_call_counts
from aoti_debug.record.events import read_events
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.triage.captured_call import kept_like, overwritten
from recordings import begin, called, end, events, recorded

ASSERT = (
    "/tmp/k.py:34: unknown: block: [1,3,0], thread: [{},0,0] "
    "Assertion `index out of bounds: 0 <= tmp4 < 1000` failed."
)


class Marks:
    """Remember the lines with a trigger, and where asked for the one after each."""

    def __init__(self, *triggers: str, follow: bool = False) -> None:
        self.triggers: tuple[str, ...] = triggers or ("mark",)
        self.lines: list[Line] = []
        self._follow = follow

    def feed(self, line: Line) -> bool:
        self.lines.append(line)
        return self._follow and any(t in line.text for t in self.triggers)

    def finish(self) -> list[Record]:
        return []


class Pieces(io.RawIOBase):
    """Give what is read in pieces of random size."""

    def __init__(self, data: bytes, rng: random.Random) -> None:
        self._data = io.BytesIO(data)
        self._rng = rng

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(self._rng.randint(1, 4000))


def marks(data: bytes, **options: bool) -> list[tuple[int, str]]:
    reader = Marks(**options)
    scan(io.BytesIO(data), "a", [reader])
    return [(line.number, line.text) for line in reader.lines]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"mark", [(1, "mark")]),
        (b"\n\nmark\n", [(3, "mark")]),
        (b"mark 1\r\nx\r\nmark 2\r\n", [(1, "mark 1"), (3, "mark 2")]),
        (b" 10%|#\r 20%|##\rmark it\nmark\n", [(1, "mark it"), (2, "mark")]),
        (b"a\x00mark\x00b\n", [(1, "amarkb")]),
        (b"\x1b[1;31mma\x1b[0mrk\x1b[0m\n", [(1, "mark")]),
        (b"\xff\xfemark\xc3\n", [(1, "\ufffd\ufffdmark\ufffd")]),
        (b"ma\nrk\n", []),
    ],
)
def test_lines_are_numbered_and_cleaned(data: bytes, expected: list[tuple[int, str]]) -> None:
    assert marks(data) == expected


def test_a_reader_in_a_block_gets_the_next_line_whatever_it_is() -> None:
    assert marks(b"a\nmark\n\nb\n", follow=True) == [(2, "mark"), (3, "")]


def test_lines_are_cut_and_a_trigger_beyond_the_cut_is_not_seen() -> None:
    text = b"mark" + b"x" * 2 * LINE_LIMIT + b"\n" + b"x" * LINE_LIMIT + b"mark\nmark\n"
    found = marks(text)
    assert [(n, len(t)) for n, t in found] == [(1, LINE_LIMIT), (3, 4)]


def test_triggers_that_differ_in_digits_alone_are_told_apart() -> None:
    reader = Marks("code 404:")
    scan_text("code 500: x\ncode 404: y\ncode 440: z\n", "a", [reader])
    assert [line.number for line in reader.lines] == [2]


def test_a_line_of_many_megabytes_stays_out_of_memory() -> None:
    class Endless(io.RawIOBase):
        left = 60

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            if self.left < 0:
                return b""
            return b"y" * (1 << 20) if self.left else b"\nmark\n"

    reader = Marks()
    tracemalloc.start()
    result = scan(Endless(), "a", [reader])  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [line.number for line in reader.lines] == [2]
    assert peak < 20 << 20
    assert result.notes == ("a: 1 lines were cut after 16384 bytes",)


def test_of_a_hole_one_part_is_read(tmp_path: Path) -> None:
    reader = Marks()
    with (tmp_path / "log").open("wb+") as file:
        file.seek(1 << 40)
        file.write(b"\nmark\n")
        file.truncate(1 << 41)
        file.seek(0)
        assert scan(file, "a", [reader]).bytes < 8 * CHUNK
    assert [line.number for line in reader.lines] == [2]


def test_blank_lines_are_not_read_one_by_one() -> None:
    stream = io.BytesIO(b"\n" * 3_000_000 + b"no error\nit failed")
    stream.readline = None  # type: ignore
    assert [one.span.first for one in error_lines(stream, "a")] == [3_000_002]


def test_an_endless_progress_bar_keeps_what_stands_after_it() -> None:
    bar = b"".join(b"\r %d%%|####    |" % i for i in range(100_000))
    text = bar + b"Traceback (most recent call last):\nValueError: x\n"
    (found,) = scan(io.BytesIO(text), "a", log_readers("a")).records
    assert isinstance(found, PythonException)
    assert (found.type, found.message, found.span.last) == ("ValueError", "x", 2)


LOGS = [
    ("embed_oob", "base"),
    ("embed_oob", "p2"),
    ("nan", "p2"),
    ("user_triton", "mini2"),
    ("user_triton", "core-progress"),
    ("static_shape", "san"),
    ("m_compile", "mini3"),
]


@pytest.fixture(params=LOGS, ids="-".join)
def log(request: pytest.FixtureRequest) -> str:
    return recorded(*request.param)


def test_the_boundaries_of_what_is_read_do_not_matter(log: str) -> None:
    whole = scan_text(log, "a")
    for seed in range(4):
        pieces = Pieces(log.encode(), random.Random(seed))
        again = scan(pieces, "a", log_readers("a"))  # type: ignore[arg-type]
        assert repr(again) == repr(whole)  # NaN differs from itself


def test_a_log_may_end_after_any_line(log: str) -> None:
    lines = log.splitlines(keepends=True)
    step = max(1, len(lines) // 120)
    for cut in range(0, len(lines), step):
        text = "".join(lines[:cut])
        assert scan_text(text, "a").lines == cut
        scan_text(text[: -len(text) // 97 or None], "a")


def test_foreign_lines_between_the_lines_do_no_harm(log: str) -> None:
    rng = random.Random(5)
    mixed: list[str] = []
    for line in log.splitlines():
        mixed.append(line)
        if rng.random() < 0.1:
            mixed.append(rng.choice(["step 7 loss 0.5", "hello", "", "50%|####", "[INFO] x"]))
    kinds = {type(r) for r in scan_text("\n".join(mixed), "a").records}
    assert kinds == {type(r) for r in scan_text(log, "a").records}


@pytest.mark.parametrize(
    "text",
    [
        "[  before_launch - " * 900,
        "[ before_launch: " * 900,
        "Assertion `" * 1400,
        "x: block: [" * 1400 + "Assertion ` ` failed.",
        " API call failed at " * 800,
        "Error: " + "(" * 16000,
        "input_handles[0]: unmatched dtype, expected: " + "1" * 16000,
        "frame #0: " + " (0x" * 4000,
        "Exception raised from " + "a at " * 3000,
        '  File "' + "x" * 8000 + '", line 1, in ' + "y" * 8000,
        "========= " + " at in :" * 2000,
        "========= Error: Race reported between Write access at " + "+0x" * 5000,
        "#0  " + " at " * 4000,
        "Fatal Python error: " + "a" * 16000,
        "expected size " + "9" * 16000,
        "terminate called after throwing an instance of '" + "a" * 16000,
        "^" * 16000,
        "[E1121 05:21:20 " + "a/" * 7000 + "] Exception in aoti_torch: x",
        "CUDA error: " * 1300,
        "A." * 8000 + "Error: x",
    ],
)
def test_hostile_lines_are_read_in_linear_time(text: str) -> None:
    """A quadratic pattern would take minutes for these repetitions."""
    scan_text(f"Traceback (most recent call last):\n{text}\n{text}\n" * 20, "a")


def test_what_repeats_is_left_out_in_the_middle_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "KIND_LIMIT", 50)
    monkeypatch.setattr(scan_module, "TAIL_CHUNKS", 1)
    monkeypatch.setattr("aoti_debug.read.blocks.CHUNK", 4096)
    text = "\n".join(ASSERT.format(i % 128) for i in range(1000)) + "\n"
    text += "/tmp/other.py:7: unknown: block: [0,0,0], thread: [0,0,0] Assertion `x` failed.\n"
    result = scan(io.BytesIO(text.encode()), "a", log_readers("a"))
    first, last = result.records
    assert isinstance(first, DeviceAssert) and isinstance(last, DeviceAssert)
    assert 50 <= first.count < 200
    assert (first.span.first, first.span.last) == (1, 1000)
    assert (last.line, last.span.first) == (7, 1001)
    assert "left out" in result.notes[0] or "were not read" in result.notes[0]


def test_of_a_log_of_one_kind_of_line_few_are_read_and_the_last_ones_are() -> None:
    reader = Marks("Error: ")
    text = "".join(f"Error: input {n} is not as it was\n" for n in range(40_000))
    assert len(text) > 1_000_000
    scan_text(text, "a", [reader])
    assert len(reader.lines) <= scan_module.KIND_LIMIT * (scan_module.TAIL_CHUNKS + 1)
    assert reader.lines[-1].number == 40_000


def test_of_an_endless_line_of_carriage_returns_the_last_parts_are_read() -> None:
    reader = Marks("Error: ")
    text = "\r".join(f"Error: input {n} is not as it was" for n in range(100_000))
    scan_text(text, "a", [reader])
    assert len(reader.lines) <= scan_module.PARTS * (len(text) // CHUNK + 2)
    assert reader.lines[-1].text == "Error: input 99999 is not as it was"


def test_a_large_log_is_read_in_one_pass() -> None:
    lines = [f"2026-11-21 05:21:20 INFO step {n} loss {1 / (n + 1):.6f}" for n in range(60_000)]
    lines.insert(40_000, ASSERT.format(5))
    result = scan_text("\n".join(lines), "a")
    (found,) = result.records
    assert found.span.first == 40_001
    assert result.lines == 60_001


def test_only_lines_that_may_be_cut_in_a_word_are_joined() -> None:
    joined = unwrapped(io.BytesIO(b"error: invalid user-d\nefined conversion\n\nA line.\nNext\n"))
    assert joined and joined.read().startswith(b"error: invalid user-defined conversion\n\n")
    assert unwrapped(io.BytesIO(b"A line.\nAnother line.\n")) is None
    assert unwrapped(io.BytesIO(b"a\nb" * LIMIT)) is None


def test_a_message_cut_in_a_word_is_recognised() -> None:
    text = "x\nMemory access fault by GPU no\nde-1 (Agent handle: 0x55) on address 0x7f. Reason: U"
    found = api.diagnose_log(text=text).diagnoses[0]
    assert (found.category, found.evidence[0].lines) == ("illegal_memory_access", (2, 2))


def test_every_record_type_has_a_consumer() -> None:
    root = Path(aoti_debug.__file__).parent
    rooms = ("diagnose", "hypotheses", "triage", "explain", "minify", "verify", "sweep", "report")
    files = [root / "symptom.py", *(path for room in rooms for path in (root / room).rglob("*.py"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    modules = [import_module(f"aoti_debug.read.{one.name}") for one in iter_modules(read.__path__)]
    kinds = {
        name
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Record)
    }
    kinds -= set(vars(event_records))  # these are read as fields of `RunSeen`
    unread = [name for name in sorted(kinds) if not re.search(rf"\b{name}\b", text)]
    assert unread == []


def test_a_process_and_its_torch_are_read() -> None:
    started = {"event": "process", "argv": ["m.py", "--x"], "executable": "/py", "ppid": 1}
    torch = {"event": "torch", "version": "2.13.0+cpu", "cuda": None, "git": "abc"}
    found = events(started, torch)
    (process,) = found.processes
    assert (process.pid, process.argv) == (7, ("m.py", "--x"))
    assert found.torch
    assert (found.torch.version, found.torch.cuda) == ("2.13.0+cpu", None)
    assert process.span.first == 1


def test_phases_nest_and_what_did_not_end_is_known() -> None:
    first = begin(1, flags={"nan_asserts": True})
    found = events(first, begin(2, "cpp_compile"), end(2), begin(3, "autotune"))
    known = [(p.id, p.parent, p.ok) for p in found.phases]
    assert known == [(1, None, None), (2, 1, True), (3, 1, None)]
    assert found.phases[0].details == Details(flags={"nan_asserts": True})
    inner, last = found.phases[1:]
    assert (inner.seconds, inner.span.first, inner.span.last) == (1.25, 2, 3)
    assert found.unfinished == last and last.phase == "autotune"


def test_the_innermost_failure_comes_first() -> None:
    error = {"type": "RuntimeError", "message": "no"}
    ends = [end(number, False, error=error) for number in (2, 1)]
    found = events(begin(1), begin(2, "cpp_compile"), *ends)
    assert found.failure and found.failure.error
    assert (found.failure.phase, found.failure.error.message) == ("cpp_compile", "no")
    assert found.unfinished is None


def test_a_call_has_inputs_and_outputs() -> None:
    ids: dict[str, Any] = {"name": "ids", "shape": [8, 32], "stride": [32, 1], "dtype": "int64"}
    ids |= {"device": "cuda:0", "storage_offset": 0, "storage_bytes": 2048, "alignment": 256}
    ids |= {"min": 5, "max": 5000, "min_at": [0, 1], "max_at": [3, 5]}
    flag = {"index": None, "position": 1, "kind": "bool", "value": True}
    out = {"shape": [8], "dtype": "float32", "device": "cpu", "nan": 3, "inf": None}
    found = events(called(ids, flag, captured="capture/x.pt"), end(1, outputs=[out]))
    call = found.last_call
    assert call and (call.call, call.package, call.ok) == (1, "/t/model.pt2", True)
    assert call.captured == "capture/x.pt"
    tensor, scalar = call.inputs
    assert (tensor.shape, tensor.max, tensor.max_at) == ((8, 32), 5000, (3, 5))
    assert (scalar.index, scalar.position, scalar.value) == (None, 1, True)
    assert (call.outputs[0].nan, call.outputs[0].inf) == (3, None)


def test_packages_are_read_from_lowering_and_loading() -> None:
    package = {"path": "/p.pt2", "bytes": 9, "captured": None, "why_not": "too large"}
    found = events(begin(1), end(1, package=package), begin(2, "load", package=package))
    read = [(p.path, p.bytes, p.why_not) for p in found.packages]
    assert read == [("/p.pt2", 9, "too large")] * 2


def test_processes_keep_their_own_phases() -> None:
    other = {**begin(1), "pid": 8}
    found = events(begin(1), other, {**end(1), "pid": 8})
    assert [(p.pid, p.ok) for p in found.phases] == [(7, None), (8, True)]
    assert [p.parent for p in found.phases] == [None, None]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "1",
        "null",
        '{"t": 1, "pid": 7, "ev',
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
        '{"pid": 7, "event": "custom_ops", "namespaces": ["a"], "registered": [1]}',
        "\ud800".encode("utf-8", "replace").decode(),
    ],
)
def test_what_is_no_event_is_counted_and_never_raises(line: str) -> None:
    assert events(line).unreadable == 1


@pytest.mark.parametrize("value", [5, "x", None, [], [5], {"a": 1}, [{"shape": "x"}], 1e400, True])
def test_fields_of_a_wrong_type_are_left_out(value: object) -> None:
    names = "argv ppid version phase name inputs package call outputs error seconds ok what flags"
    fields = dict.fromkeys(f"{names} namespaces libraries".split(), value)
    kinds = ("process", "torch", "begin", "end", "note", "custom_ops")
    found = events(
        *({**fields, "event": kind, "id": 1} for kind in kinds),
        {**fields, "event": "begin", "id": 2, "phase": "run"},
        {**fields, "event": "end", "id": 2},
    )
    assert len(found.phases) == 2


def test_a_huge_line_is_passed_over() -> None:
    kept = {"event": "note", "what": "a", "why": "b"}
    found = events({**kept, "what": "x" * (9 << 20)}, kept)
    (note,) = found.notes
    assert (found.unreadable, note.span.first, note.what, note.why) == (1, 2, "a", "b")


def test_very_many_calls_keep_the_last() -> None:
    numbers = range(1, 21_001)
    found = events(*(line for n in numbers for line in (begin(n, "run", call=n), end(n))))
    assert found.last_call and found.last_call.call == 21_000
    assert len(found.calls) == 20_000


def test_of_calls_that_break_something_the_one_that_was_seen_to_be_wrong_is_in_question() -> None:
    def called(number: int, **details: Any) -> list[dict[str, Any]]:
        return [begin(number, "run", call=number, **details), end(number)]

    apart = {"event": "reference", "caller": ["check.py", 3], "largest": 2.0}
    calls = [*called(1, breaks=["size"]), *called(2), *called(3, breaks=["stride"])]
    for wrong, asked in ((1, 1), (2, 1), (3, 3)):
        found = events(*calls, {**apart, "call": wrong, "apart": 1.0})
        assert found.call is not None and found.call.call == asked


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
    found = events(called(captured=name, exported_program=name))
    assert found.calls[0].captured is None
    assert found.phases[0].details.exported_program is None


FILE = "calls/7-0.bin"
LATEST = "capture/call-latest.pt"


def last_of(**places: int) -> tuple[RunSeen, Call]:
    """Return the events of a process that recorded three calls of one kind and counted these, and
    its last call."""
    named = {"now": "capture/call-now.bin", "latest": LATEST}
    lines: list[dict[str, Any]] = [{"event": "tally", "file": FILE, **named}]
    given = {"shape": [2], "stride": [1], "dtype": "float32"}
    for number, kept in enumerate(("capture/call-first.pt", LATEST, LATEST), 1):
        began = called(given, captured=kept, group=0)
        lines += [{**began, "id": number, "call": number}, end(number)]
    numbers = [0] * (call_counters.BYTES // 8)
    numbers[call_counters.VERSION] = call_counters.FORMAT
    for name, value in places.items():
        numbers[getattr(call_counters, name)] = value
    tally = {FILE: struct.pack(f"{len(numbers)}q", *numbers)}
    found = with_call_counts(events(*lines), tally)
    return found, found.calls[-1]


def test_a_process_that_kept_no_further_inputs_made_no_call_of_number_zero() -> None:
    events, last = last_of(LAST=3, RETURNED=3)
    assert [call.call for call in events.calls] == [1, 2, 3]
    assert not overwritten(events, last)
    assert kept_like(events, last) is last


def test_a_call_that_was_only_counted_gives_way_to_the_last_that_is_kept() -> None:
    events, last = last_of(LAST=9, RETURNED=9)
    assert (last.call, last.captured) == (9, None)
    assert kept_like(events, last).call == 3


def test_the_inputs_that_were_kept_last_are_those_of_the_call_that_says_so() -> None:
    events, last = last_of(LAST=9, RETURNED=9, LATEST_KEPT=9)
    assert (last.call, last.captured) == (9, LATEST)
    assert not overwritten(events, last)
    assert overwritten(events, events.calls[2])
