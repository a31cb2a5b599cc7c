"""Feed one artifact to all readers in a single pass, in bounded memory."""

from __future__ import annotations

import io
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO

from aoti_debug.read.blocks import LINE_LIMIT, Block, Blocks, MultiSearch
from aoti_debug.read.core_dump import CoreDumpReader
from aoti_debug.read.device_assert import DeviceAssertReader
from aoti_debug.read.differences import DifferenceReader
from aoti_debug.read.fault_handler import FaultHandlerReader, NativeReader, TerminatedReader
from aoti_debug.read.input_check import ConstraintsReader, InputCheckReader
from aoti_debug.read.memcheck import MemcheckReader
from aoti_debug.read.printer import PrinterReader
from aoti_debug.read.python_traceback import TracebackReader
from aoti_debug.read.record import Line, Reader, Record
from aoti_debug.read.shim import CodePlaceReader, RuntimeMessageReader, ShimReader

TAIL_CHUNKS = 4  # kept back, so that the end of a log is read in full
KIND_LIMIT = 2_000  # lines of one kind that are read, and as many in each block of the tail
TRIGGER_LIMIT = 10_000  # lines that hold the same triggers, likewise, outside the tail
KINDS_KEPT = 20_000  # distinct kinds of line that are remembered
DENSE = 2_000  # triggers in a block from which on its lines are sorted by kind first
PARTS = 2_000  # of a line of carriage returns, in a block
# What is read outside the tail: a line that is read counts its bytes, LINE_COST and HIT_COST for
# each trigger in it, a new kind with triggers KIND_COST, one that is looked at a SORT_SHARE-th of
# its bytes, an escape 1. Only a log made of triggers comes to the end.
WORK = 24_000_000
LINE_COST = 200
HIT_COST = 100
KIND_COST = 12
SORT_SHARE = 20
KIND_BYTES = 1_000  # longer kinds are not remembered

# A block in which triggers are rare gives only the lines with one. Where they are frequent, lines
# that differ in numbers and addresses alone are of one kind, and only the first of a kind is
# searched: a trigger found in a line is, after the same deletion, still found in the line's kind.
_DELETED = b"0123456789abcdef"
_ANSI = re.compile(
    rb"\x1b(?:\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}\x07|[()][0-9A-B])"
)
_LOG_READERS: tuple[Callable[[str], Reader], ...] = (
    PrinterReader,
    DeviceAssertReader,
    InputCheckReader,
    ConstraintsReader,
    RuntimeMessageReader,
    CodePlaceReader,
    ShimReader,
    TracebackReader,
    FaultHandlerReader,
    TerminatedReader,
    NativeReader,
    CoreDumpReader,
    MemcheckReader,
    DifferenceReader,
)
_FRAME = b'  File "'
_NOTEBOOK = re.compile(rb"^File \S{1,400}\.py:")
_NUMBERED = re.compile(rb"^(?:-{2,5}> ?| {1,6})\[?\d{1,6}\b")  # source below a notebook's frame
_SHOWN = 20  # lines of it
_ARTIFACT = re.compile(rb"^.{0,200}\] \[__\w{1,40}\]")  # of TORCH_LOGS
# The debug printer ends a scalar's line in a backslash and an n: there a new line begins.
_SLIP = b"  ]\\n"
_CONTROLS = bytes(c for c in range(32) if c not in b"\t\n\r") + b"\x7f"


@dataclass(frozen=True, slots=True)
class Scan:
    """What the readers found in one artifact, and what was not looked at."""

    records: tuple[Record, ...]
    lines: int
    bytes: int
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Family:
    """The lines that hold the same triggers."""

    seen: int = 0


@dataclass(slots=True)
class _Kind:
    family: _Family
    seen: int = 0
    skipped: int = 0

    def is_due(self) -> bool:
        """Count a line of this kind; tell whether it is to be read."""
        if self.is_spent(1):
            return False
        self.seen += 1
        self.family.seen += 1
        return True

    def is_spent(self, count: int) -> bool:
        """Tell whether no more lines of this kind are read; count `count` of them if so."""
        if self.seen < KIND_LIMIT and self.family.seen < TRIGGER_LIMIT:
            return False
        self.seen += count
        self.family.seen += count
        self.skipped += count
        return True


@dataclass(frozen=True, slots=True)
class _Plan:
    owners: tuple[frozenset[int], ...]  # readers of each trigger
    reduced: MultiSearch
    whole: MultiSearch


@lru_cache(maxsize=8)
def _plan(triggers: tuple[tuple[str, ...], ...]) -> _Plan:
    owners: dict[bytes, set[int]] = {}
    for index, texts in enumerate(triggers):
        for text in texts:
            owners.setdefault(text.encode(), set()).add(index)
    reduced = MultiSearch({trigger.translate(None, _DELETED) for trigger in owners})
    return _Plan(tuple(map(frozenset, owners.values())), reduced, MultiSearch(owners))


class _Dispatcher:
    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._open: set[int] = set()
        self._frame = -1  # number of the last line that was a frame of a traceback
        self._notebook = -_SHOWN  # of the last line that was a notebook's frame
        self._dense = False  # triggers were frequent in the last block
        self._plain: set[bytes] = set()
        self._kinds: dict[bytes, _Kind] = {}
        self._families: dict[frozenset[int], _Family] = {}
        self._plan = _plan(tuple(tuple(r.triggers) for r in readers))
        self._work = 0
        self._unread: tuple[int, int] | None = None  # the lines that were not looked at

    def feed(self, block: Block, *, sample: bool) -> None:
        if sample and self._work > WORK:
            first = self._unread[0] if self._unread is not None else block.first
            self._unread = (first, block.first + block.lines)
            return
        data = block.data
        if b"\x1b" in data:
            self._work += data.count(b"\x1b")
            data = _ANSI.sub(b"", data)
        if any(data.find(c) >= 0 for c in (b"\x00", b"\x1b", b"\x07", b"\x08")):
            data = data.translate(None, _CONTROLS)
        marked = None if self._dense else self._marked(data)
        if marked is not None and not marked and not self._open:
            return
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        kinds = self._kinds_of(data, lines, marked)
        counts = Counter(kinds)
        wanted = self._wanted({kind for kind in counts if kind is not None})
        self._dense = sum(counts[kind] for kind in wanted) > DENSE
        if sample:
            wanted = {k: kind for k, kind in wanted.items() if not kind.is_spent(counts[k])}
        if not wanted and not self._open:
            return
        early = {} if sample else {k: c for k in wanted if (c := counts[k] - KIND_LIMIT) > 0}
        for offset, text in enumerate(kinds):
            kind = wanted.get(text) if text is not None else None
            if kind and text is not None and early.get(text, 0) > 0:  # the end tells more
                early[text] -= 1
                kind.skipped += 1
                kind = None
            if sample and kind is not None and not kind.is_due():
                kind = None
            if kind is not None or self._open:
                self._feed_line(block.first + offset, lines[offset], kind)

    def _marked(self, data: bytes) -> list[int] | None:
        """Return the lines, counted from 0, in which a trigger begins; None for too many."""
        begins = self._plan.whole.begins(data)
        if len(begins) > DENSE:
            return None
        marked, line, last = [], 0, 0
        for begin in begins:
            line, last = line + data.count(b"\n", last, begin), begin
            marked.append(line)
        return marked

    def _kinds_of(
        self, data: bytes, lines: Sequence[bytes], marked: Sequence[int] | None
    ) -> Sequence[bytes | None]:
        """Return the kind of each line that may hold a trigger."""
        if marked is None:
            return data.translate(None, _DELETED).split(b"\n")[: len(lines)]
        kinds: list[bytes | None] = [None] * len(lines)
        for offset in marked:
            kinds[offset] = lines[offset].translate(None, _DELETED)
        return kinds

    def _wanted(self, kinds: set[bytes]) -> dict[bytes, _Kind]:
        fresh = kinds - self._plain
        known = {k: self._kinds[k] for k in fresh if k in self._kinds}
        fresh.difference_update(known)
        if fresh:
            self._work += sum(map(len, fresh)) // SORT_SHARE
            for kind, hits in self._plan.reduced.lines(fresh):
                fresh.discard(kind)
                known[kind] = self._classify(kind, hits)
                self._work += KIND_COST
            self._remember(fresh)
        return known

    def _classify(self, text: bytes, hits: frozenset[int]) -> _Kind:
        family = self._families.get(hits) or _Family()
        if len(self._families) < KINDS_KEPT:
            self._families[hits] = family
        kind = _Kind(family)
        if len(text) <= KIND_BYTES and len(self._kinds) < KINDS_KEPT:
            self._kinds[text] = kind
        return kind

    def _remember(self, plain: set[bytes]) -> None:
        if len(self._plain) + len(plain) > KINDS_KEPT:
            self._plain.clear()
        if len(plain) <= KINDS_KEPT:
            self._plain.update(k for k in plain if len(k) <= KIND_BYTES)

    def _feed_line(self, number: int, raw: bytes, kind: _Kind | None) -> None:
        raw = raw.rstrip(b"\r").replace(_SLIP, b"  ]\r")
        parts = [p[:LINE_LIMIT] for p in raw.split(b"\r") if p] or [b""]
        held = dict(self._plan.whole.lines(parts)) if kind is not None else {}
        if len(parts) > PARTS:
            parts = [p for p in parts if p in held][-PARTS:]
        for part in parts:
            hits = held.get(part, ())
            self._work += len(part) + LINE_COST + HIT_COST * len(hits)
            due = set(self._open)
            if not self._quotes_code(number, part):
                due.update(*(self._plan.owners[hit] for hit in hits))
            if not due:
                continue
            line = Line(number, part.decode("utf-8", "replace"))
            for index in sorted(due):
                if self._readers[index].feed(line):
                    self._open.add(index)
                else:
                    self._open.discard(index)

    def _quotes_code(self, number: int, part: bytes) -> bool:
        """Tell whether a line is source text that holds the words of a failure: what TORCH_LOGS
        prints of generated code, text in quotes on the line below a frame of a traceback, and the
        numbered lines below a frame of a notebook."""
        below_frame, self._frame = self._frame == number - 1, -1
        if _NOTEBOOK.match(part):
            self._notebook = number
        elif number - self._notebook <= _SHOWN and _NUMBERED.match(part):
            return True
        if _FRAME in part:
            self._frame = number
            return False
        words = below_frame and b"    " in part[:200] and (b'"' in part or b"'" in part)
        return words or _ARTIFACT.search(part) is not None

    def notes(self) -> list[str]:
        skipped = [(text, k.skipped) for text, k in self._kinds.items() if k.skipped]
        count = sum(n for _, n in skipped)
        found = []
        if self._unread is not None:
            first, last = self._unread
            found.append(
                f"lines {first} to {last - 1} were not read: too many lines before them hold words "
                "of failures (the end of the log was read)"
            )
        if count:
            found.append(
                f"{count} lines of {len(skipped)} kinds that repeat more than {KIND_LIMIT} times "
                "were not read (the first ones and the end of the log were), so counts are lower "
                "bounds"
            )
        return found


def scan(stream: BinaryIO, artifact: str, readers: Sequence[Reader]) -> Scan:
    """Read `stream` once and give every reader the lines that concern it.

    Lines end with a newline (a carriage return within a line parts it, with the same number);
    they are cut after LINE_LIMIT bytes, terminal escapes and control characters are removed, and
    invalid UTF-8 is replaced. Kinds of line that repeat more than KIND_LIMIT times are left out in
    the middle, which a note says. The records come in order of their first line.
    """
    blocks = Blocks(stream)
    dispatcher = _Dispatcher(readers)
    tail: deque[Block] = deque()
    lines, ended = 0, True
    for block in blocks:
        lines += block.lines
        ended = block.data.endswith(b"\n")
        tail.append(block)
        if len(tail) > TAIL_CHUNKS:
            dispatcher.feed(tail.popleft(), sample=True)
    while tail:
        dispatcher.feed(tail.popleft(), sample=False)
    records = [record for reader in readers for record in reader.finish()]
    records.sort(key=lambda r: (r.span.first, r.span.last))
    notes = [f"{artifact}: {note}" for note in dispatcher.notes() + blocks.notes()]
    return Scan(tuple(records), lines + (not ended), blocks.bytes, tuple(notes))


def log_readers(artifact: str) -> list[Reader]:
    """Return a fresh reader of every kind of output that a log can hold (signatures aside)."""
    return [make(artifact) for make in _LOG_READERS]


def scan_text(text: str, artifact: str, readers: Sequence[Reader] | None = None) -> Scan:
    """Scan a text that is in memory already."""
    stream = io.BytesIO(text.encode("utf-8", "replace"))
    return scan(stream, artifact, log_readers(artifact) if readers is None else readers)
