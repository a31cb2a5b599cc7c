"""What the readers share: spans, bounded collections, numbers in text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

from aoti_debug.read.record import QUOTE_LIMIT, Line, Span

T = TypeVar("T")

_TRIPLE = re.compile(r"[\[(] {0,4}(\d{1,10}), {0,4}(\d{1,10}), {0,4}(\d{1,10})[\])]")
MARK = re.compile(r"\[[EWIF]\d{4} ")  # start of a line of torch's own log


def span_of(artifact: str, lines: list[Line]) -> Span:
    """Return the span from the first to the last of `lines`, quoting from the start."""
    quote = "\n".join(line.text.strip() for line in lines[:8])[:QUOTE_LIMIT]
    return Span(artifact, lines[0].number, lines[-1].number, quote)


def triple(text: str) -> tuple[int, int, int] | None:
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
    body = text.strip()
    if not (body.startswith("[") and body.endswith("]")):
        return None
    parts = [p.strip() for p in body[1:-1].split(",")] if body[1:-1].strip() else []
    if len(parts) > 64 or not all(re.fullmatch(r"-?\d{1,19}", p) for p in parts):
        return None
    return tuple(int(p) for p in parts)


class Ends(Generic[T]):
    """Keep the first `first` and the last `last` of what is added."""

    def __init__(self, first: int, last: int) -> None:
        self._limit = first
        self._first: list[T] = []
        self._last: deque[T] = deque(maxlen=last)
        self.added = 0

    def add(self, item: T) -> None:
        self.added += 1
        if len(self._first) < self._limit:
            self._first.append(item)
        else:
            self._last.append(item)

    def __iter__(self) -> Iterator[T]:
        yield from self._first
        yield from self._last
