"""The single pass over an artifact: numbering, cutting, unwrapping, control codes, repetition,
chunks; and that every kind of record is read by something."""

from __future__ import annotations

import io
import random
import re
import tracemalloc
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import aoti_debug
import pytest
from aoti_debug import api, read
from aoti_debug.read import event_records
from aoti_debug.read import scan as scan_module
from aoti_debug.read.blocks import LIMIT, unwrapped
from aoti_debug.read.record import DeviceAssert, Line, PythonException, Record, Span
from aoti_debug.read.scan import LINE_LIMIT, log_readers, scan, scan_text
from recordings import recorded

ASSERT = (
    "/tmp/k.py:34: unknown: block: [1,3,0], thread: [{},0,0] "
    "Assertion `index out of bounds: 0 <= tmp4 < 1000` failed."
)


class Seen(Record):
    pass


class Marks:
    """Remember the lines with `mark`, and the one after each."""

    def __init__(self, *triggers: str, follow: bool = False) -> None:
        self.triggers: tuple[str, ...] = triggers or ("mark",)
        self.lines: list[Line] = []
        self._follow = follow

    def feed(self, line: Line) -> bool:
        self.lines.append(line)
        return self._follow and any(t in line.text for t in self.triggers)

    def finish(self) -> Iterable[Record]:
        return [Seen(Span("a", line.number, line.number, line.text)) for line in self.lines]


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
    scan(io.BytesIO(b"code 500: x\ncode 404: y\ncode 440: z\n"), "a", [reader])
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


def test_an_endless_progress_bar_keeps_what_stands_after_it() -> None:
    bar = b"".join(b"\r %d%%|####    |" % i for i in range(100_000))
    text = bar + b"Traceback (most recent call last):\nValueError: x\n"
    result = scan(io.BytesIO(text), "a", log_readers("a"))
    (found,) = result.records
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


@pytest.mark.parametrize(("case", "stage"), LOGS)
def test_the_boundaries_of_what_is_read_do_not_matter(case: str, stage: str) -> None:
    text = recorded(case, stage)
    whole = scan_text(text, "a")
    for seed in range(4):
        pieces = Pieces(text.encode(), random.Random(seed))
        again = scan(pieces, "a", log_readers("a"))  # type: ignore[arg-type]
        assert repr(again) == repr(whole)  # NaN differs from itself


@pytest.mark.parametrize(("case", "stage"), LOGS)
def test_a_log_may_end_after_any_line(case: str, stage: str) -> None:
    lines = recorded(case, stage).splitlines(keepends=True)
    step = max(1, len(lines) // 120)
    for end in range(0, len(lines), step):
        text = "".join(lines[:end])
        assert scan_text(text, "a").lines == end
        scan_text(text[: -len(text) // 97 or None], "a")


@pytest.mark.parametrize(("case", "stage"), LOGS)
def test_foreign_lines_between_the_lines_do_no_harm(case: str, stage: str) -> None:
    lines = recorded(case, stage).splitlines()
    rng = random.Random(5)
    mixed: list[str] = []
    for line in lines:
        mixed.append(line)
        if rng.random() < 0.1:
            mixed.append(rng.choice(["step 7 loss 0.5", "hello", "", "50%|####", "[INFO] x"]))
    kinds = {type(r) for r in scan_text("\n".join(mixed), "a").records}
    assert kinds == {type(r) for r in scan_text("\n".join(lines), "a").records}


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
    block = "Traceback (most recent call last):\n" + text + "\n" + text + "\n"
    scan_text(block * 20, "a")


def test_what_repeats_is_left_out_in_the_middle_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "KIND_LIMIT", 50)
    monkeypatch.setattr(scan_module, "TAIL_CHUNKS", 1)
    monkeypatch.setattr("aoti_debug.read.blocks.CHUNK", 4096)
    text = "\n".join(ASSERT.format(i % 128) for i in range(1000)) + "\n"
    text += "/tmp/other.py:7: unknown: block: [0,0,0], thread: [0,0,0] Assertion `x` failed.\n"
    result = scan(io.BytesIO(text.encode()), "a", log_readers("a"))
    first, last = result.records
    assert isinstance(first, DeviceAssert)
    assert isinstance(last, DeviceAssert)
    assert 50 <= first.count < 200
    assert (first.span.first, first.span.last) == (1, 1000)
    assert (last.line, last.span.first) == (7, 1001)
    assert "left out" in result.notes[0] or "were not read" in result.notes[0]


def test_a_large_log_is_read_in_one_pass() -> None:
    rng = random.Random(3)

    def lines() -> Iterator[str]:
        for step in range(60_000):
            if step == 40_000:
                yield ASSERT.format(5)
            yield f"2026-11-21 05:21:20 INFO step {step} loss {rng.random():.6f} {rng.random():a>9}"

    text = "\n".join(lines())
    result = scan_text(text, "a")
    (found,) = result.records
    assert found.span.first == 40_001
    assert result.lines == 60_001


def test_only_lines_that_may_be_cut_in_a_word_are_joined() -> None:
    joined = unwrapped(io.BytesIO(b"error: invalid user-d\nefined conversion\n\nA line.\nNext\n"))
    assert joined is not None
    assert joined.read().split(b"\n")[:2] == [b"error: invalid user-defined conversion", b""]
    assert unwrapped(io.BytesIO(b"A line.\nAnother line.\n")) is None
    assert unwrapped(io.BytesIO(b"a\nb" * LIMIT)) is None


@pytest.mark.anyio
async def test_a_message_cut_in_a_word_is_recognised() -> None:
    text = (
        "x\nMemory access fault by GPU no\nde-1 (Agent handle: 0x55) on address 0x7f. Reason: Unk"
    )
    found = (await api.diagnose(text=text)).diagnoses[0]
    assert found.category == "illegal_memory_access"
    assert found.evidence[0].lines == (2, 2)


def test_every_record_type_has_a_consumer() -> None:
    root = Path(aoti_debug.__file__).parent
    rooms = ("diagnose", "triage", "explain", "minify", "verify", "sweep", "report")
    text = "\n".join(
        path.read_text(encoding="utf-8") for room in rooms for path in (root / room).rglob("*.py")
    )
    modules = [import_module(f"aoti_debug.read.{one.name}") for one in iter_modules(read.__path__)]
    kinds = {
        name
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Record)
    }
    kinds -= set(vars(event_records))  # these are read as fields of `Events`
    unread = [name for name in sorted(kinds) if not re.search(rf"\b{name}\b", text)]
    assert unread == []
