"""Read torch's structured trace: how long each part of a compile took (its chromium events), and
which code asked for a bound of a dynamic size (its guards)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from aoti_debug.read.typed import integer, json_object, real, string

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
        if (document := json_object(b"".join(payload))) is not None:
            found += 1
            yield document


_GUARDS = 200
_KEYS = (b'"guard_added', b'"str"')
_SYMBOL = re.compile(r"\b[su]\d+\b")
_COMPARES = re.compile(r"[<>]|\bNe\(|\bEq\(")
# Frames that only carry the question.
_CARRIERS = ("/torch/fx/experimental/", "/torch/_logging/", "/probe/")


@dataclass(frozen=True, slots=True)
class Asked:
    """A guard, in the names of the exported symbols, and who asked for it."""

    text: str
    function: str
    file: str
    line: int

    def bounds(self, symbol: str) -> bool:
        """Tell whether it is about this size alone."""
        return set(_SYMBOL.findall(self.text)) == {symbol}


def read_guards(stream: BinaryIO) -> tuple[Asked, ...]:
    """Return the guards that compare a size, in the order in which they were asked for."""
    files: dict[int | None, str] = {}
    found: dict[str, Asked] = {}
    for document in _guard_lines(stream):
        if isinstance(name := document.get("str"), list) and len(name) == 2:
            files[integer(name[1])] = str(name[0])
        for key in ("guard_added", "guard_added_fast"):
            guard = document.get(key)
            if not isinstance(guard, dict) or len(found) >= _GUARDS:
                continue
            text = str(guard.get("expr"))[:200]
            if _COMPARES.search(text) and (place := _asker(guard.get("stack"), files)):
                found.setdefault(text, Asked(text, *place))
    return tuple(found.values())


def _guard_lines(stream: BinaryIO) -> Iterator[dict[str, object]]:
    while raw := stream.readline(_LINE_LIMIT):
        begin = raw.find(b"{")
        if raw.startswith(b"\t") or begin < 0 or not any(key in raw for key in _KEYS):
            continue
        if (document := json_object(raw[begin:])) is not None:
            yield document


def _asker(stack: object, files: dict[int | None, str]) -> tuple[str, str, int] | None:
    for frame in reversed(stack if isinstance(stack, list) else []):
        if not isinstance(frame, dict):
            return None
        file = files.get(integer(frame.get("filename", -1)), "")
        if file and not any(part in file for part in _CARRIERS):
            line = frame.get("line")
            return str(frame.get("name"))[:100], file, line if isinstance(line, int) else 0
    return None
