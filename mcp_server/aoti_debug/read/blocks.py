"""Cut a stream into blocks of whole lines, in bounded memory, and search them for many texts; what
the readers share: spans, bounded collections, numbers in text."""

from __future__ import annotations

import errno
import io
import os
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, BinaryIO, ClassVar, Generic, TypeVar

from ahocorasick_rs import BytesAhoCorasick, Implementation

from aoti_debug.read.record import QUOTE_LIMIT, Line, Record, Span, Triple

LONG = 16 << 20  # bytes after which the automaton that is slow to build and fast to run pays


class MultiSearch:
    """Find which of many byte strings stand where. An empty one stands nowhere."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._texts = list(texts)
        self._searched = 0
        self._automaton = self._build(Implementation.ContiguousNFA)

    def begins(self, data: bytes) -> list[int]:
        """Return where in `data` some of the texts begin, in order; not those that overlap."""
        self._count(len(data))
        return [begin for _, begin, _ in self._automaton.find_matches_as_indexes(data)]

    def among(self, data: bytes) -> set[int]:
        """Return the numbers of the texts that are in `data`."""
        found = self._automaton.find_matches_as_indexes(data, overlapping=True)
        return {text for text, _, _ in found}

    def lines(self, lines: Iterable[bytes]) -> Iterator[tuple[bytes, frozenset[int]]]:
        """Yield each of `lines` that holds some of the texts, with their numbers."""
        known = list(lines)
        data = b"\n".join(known)
        self._count(len(data))
        found = self._automaton.find_matches_as_indexes(data, overlapping=True)
        if not found:
            return
        starts = [0, *accumulate(len(line) + 1 for line in known)]
        hits: dict[int, set[int]] = {}
        for text, begin, _ in found:
            hits.setdefault(bisect_right(starts, begin) - 1, set()).add(text)
        for index, texts in hits.items():
            yield known[index], frozenset(texts)

    def _build(self, implementation: Implementation) -> BytesAhoCorasick:
        return BytesAhoCorasick(self._texts, implementation=implementation)

    def _count(self, size: int) -> None:
        before, self._searched = self._searched, self._searched + size
        if before < LONG <= self._searched:
            self._automaton = self._build(Implementation.DFA)


LIMIT = 1 << 20  # bytes; a longer log did not come through a terminal's clipboard
_CUT = re.compile(rb"[A-Za-z0-9_]$")
_GOES_ON = re.compile(rb"[a-z0-9_]")


def unwrapped(stream: BinaryIO) -> BinaryIO | None:
    """Return the log with each line followed by the next one where that may be its other part,
    so that lines keep their numbers; None when no line looks cut, or the log is long."""
    text = stream.read(LIMIT + 1)
    if len(text) > LIMIT:
        return None
    lines = [line.rstrip(b"\r") for line in text.split(b"\n")]
    joined = [
        one + two if _CUT.search(one) and _GOES_ON.match(two) else b""
        for one, two in pairwise(lines)
    ]
    return io.BytesIO(b"\n".join(joined)) if any(joined) else None


CHUNK = 1 << 20
LINE_LIMIT = 16 << 10  # bytes of a line that are looked at; the rest is dropped


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a stream in parts; of a hole of a sparse file, which ends no line, only the first."""
    while data := stream.read(CHUNK):
        yield data
        if isinstance(stream, io.BytesIO) or data != bytes(len(data)):
            continue
        try:
            stream.seek(stream.tell(), os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # the hole is the end
                stream.seek(0, os.SEEK_END)


@dataclass(slots=True)
class Block:
    first: int  # number of its first line
    data: bytes
    lines: int  # newlines in it


class Blocks:
    """Cut a stream into blocks that end with a line; drop what exceeds LINE_LIMIT in a line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._carry = b""
        self._dropping = False
        self.bytes = 0
        self.cut_lines = 0

    def __iter__(self) -> Iterator[Block]:
        first = 1
        for data in self._whole_lines():
            block = Block(first, data, data.count(b"\n"))
            yield block
            first += block.lines

    def notes(self) -> list[str]:
        text = f"{self.cut_lines} lines were cut after {LINE_LIMIT} bytes"
        return [text] if self.cut_lines else []

    def _whole_lines(self) -> Iterator[bytes]:
        for data in chunks(self._stream):
            self.bytes += len(data)
            if block := self._add(data):
                yield block
        if self._carry:
            yield self._carry

    def _add(self, data: bytes) -> bytes:
        if self._dropping:
            ends = [i for i in (data.find(b"\n"), data.find(b"\r")) if i >= 0]
            if not ends:
                return b""
            self._dropping = False
            data = data[min(ends) :]
        data = self._carry + data
        cut = data.rfind(b"\n") + 1
        if len(data) - cut > LINE_LIMIT:
            # Progress bars write one endless line; its parts are looked at like lines. The last
            # byte is left: a newline may follow it.
            cut = max(cut, data.rfind(b"\r", 0, len(data) - 1) + 1)
        self._carry = data[cut:]
        if len(self._carry) > LINE_LIMIT:
            self._carry = self._carry[:LINE_LIMIT]
            self._dropping = True
            self.cut_lines += 1
        return data[:cut]


T = TypeVar("T")

_TRIPLE = re.compile(r"[\[(] {0,4}(\d{1,10}), {0,4}(\d{1,10}), {0,4}(\d{1,10})[\])]")
_LIST = re.compile(r"\[\s{0,8}(?:-?\d{1,19}\s{0,8}(?:,\s{0,8}-?\d{1,19}\s{0,8}){0,63})?\]")
MARK = re.compile(r"\[[EWIF]\d{4} ")  # start of a line of torch's own log


def span_of(artifact: str, *lines: Line) -> Span:
    """Return the span from the first to the last of `lines`, quoting from the start."""
    quote = "\n".join(line.text.strip() for line in lines[:8])[:QUOTE_LIMIT]
    return Span(artifact, lines[0].number, lines[-1].number, quote)


def triple(text: str) -> Triple | None:
    """Read `(1,2,3)` or `[1, 2, 3]`, the first in `text`."""
    found = _TRIPLE.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def number(text: str) -> float | None:
    """Read a C++ number (`-nan` and `inf` too); None when it is none."""
    try:
        return float(text)
    except ValueError:
        return None


def whole(text: str) -> int | None:
    """Read a decimal number of at most 19 digits, with or without thousands commas."""
    digits = text.replace(",", "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 19 else None


def integers(text: str) -> tuple[int, ...] | None:
    """Read `[8, 16]`; None when it is no such list of at most 64 numbers."""
    held = _LIST.fullmatch(text.strip())
    return tuple(map(int, re.findall(r"-?\d+", text))) if held is not None else None


class Ends(Generic[T]):
    """Keep the first `first` and the last `last` of what is added."""

    def __init__(self, first: int, last: int) -> None:
        self._limit = first
        self._first: list[T] = []
        self._last: deque[T] = deque(maxlen=last)

    def add(self, item: T) -> None:
        if len(self._first) < self._limit:
            self._first.append(item)
        else:
            self._last.append(item)

    def __iter__(self) -> Iterator[T]:
        yield from self._first
        yield from self._last


R = TypeVar("R", bound=Record)


class Alike(Generic[R]):
    """Count records whose fields `names` are equal; `spans`: the span reaches to the last."""

    def __init__(self, *names: str, most: int, spans: bool = True) -> None:
        self._names, self._most, self._spans = names, most, spans
        self._found: dict[tuple[object, ...], Any] = {}

    def add(self, new: R) -> None:
        key = tuple(getattr(new, name) for name in self._names)
        old = self._found.get(key)
        if old is not None and hasattr(old, "count"):
            span = replace(old.span, last=new.span.last) if self._spans else old.span
            self._found[key] = replace(old, span=span, count=old.count + 1)
        elif old is None and len(self._found) < self._most:
            self._found[key] = new

    def __iter__(self) -> Iterator[R]:
        return iter(self._found.values())


class BlockReader(Generic[R]):
    """A reader that keeps the first and last of what it finds, or counts those whose fields `alike`
    are equal; `lines` are those of the block that it is in, as many as a quote holds."""

    triggers: tuple[str, ...] = ()
    keeps: ClassVar[tuple[int, int]] = (200, 100)
    alike: ClassVar[tuple[str, ...]] = ()
    spans: ClassVar[bool] = True  # as of `Alike`

    def __init__(self, artifact: str) -> None:
        self.artifact = artifact
        counted: Alike[R] = Alike(*self.alike, most=self.keeps[0], spans=self.spans)
        self.found: Alike[R] | Ends[R] = counted if self.alike else Ends(*self.keeps)
        self.lines: list[Line] = []
        self.begin()

    def span(self, *lines: Line) -> Span:
        """Return the span of these lines, else of those of the block."""
        return span_of(self.artifact, *(lines or self.lines))

    def begin(self) -> None:
        """Set what is known of the next block to nothing."""

    def end(self) -> None:
        """Keep what is known of the block that is open, if one is."""

    def finish(self) -> Iterable[R]:
        self.end()
        return list(self.found)
