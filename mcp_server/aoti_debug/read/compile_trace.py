"""Read from torch's structured trace how long each part of a compile took: its chromium events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from aoti_debug.read.typed import integer, real, string

_LINE_LIMIT = 1 << 20  # bytes
_PAYLOAD_LIMIT = 1 << 18
_MOST = 50_000  # events
_KEY = b'"chromium_event"'


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a compile, and the parts within it, in the order in which they ended."""

    name: str
    began: float  # unix seconds
    seconds: float
    inside: tuple[Part, ...] = ()

    @property
    def own(self) -> float:
        """Return the seconds that are in none of the parts within it."""
        return max(0.0, self.seconds - sum(part.seconds for part in self.inside))

    def walk(self) -> Iterator[Part]:
        """Yield this part and all within it."""
        yield self
        for part in self.inside:
            yield from part.walk()


@dataclass(slots=True)
class _Open:
    name: str
    began: float
    inside: list[Part] = field(default_factory=list)


def read_parts(stream: BinaryIO) -> tuple[Part, ...]:
    """Return the outermost parts of every thread, in the order in which they ended."""
    ended: list[Part] = []
    open_parts: dict[object, list[_Open]] = {}
    for event in _events(stream):
        name, at = string(event.get("name")), real(event.get("ts"))
        if name is None or at is None:
            continue
        stack = open_parts.setdefault(integer(event.get("tid")), [])
        if event.get("ph") == "B":
            stack.append(_Open(name[:120], at / 1e6))
            del stack[:-200]
        elif event.get("ph") == "E" and any(one.name == name[:120] for one in stack):
            while (began := stack.pop()).name != name[:120]:
                pass  # it raised: its own end was not written
            part = Part(began.name, began.began, at / 1e6 - began.began, tuple(began.inside))
            (stack[-1].inside if stack else ended).append(part)
    return tuple(ended)


def _events(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield the payloads of chromium events: each is the indented lines after its own line."""
    found = 0
    raw = stream.readline(_LINE_LIMIT)
    while raw and found < _MOST:
        is_event = _KEY in raw and not raw.startswith(b"\t")
        payload, size = [], 0
        while (raw := stream.readline(_LINE_LIMIT)).startswith(b"\t"):
            size += len(raw)
            if is_event and size <= _PAYLOAD_LIMIT:
                payload.append(raw)
        if not is_event:
            continue
        try:
            document = json.loads(b"".join(payload))
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            found += 1
            yield document
