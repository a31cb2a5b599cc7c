"""Read from torch's structured trace which code asked for a bound of a dynamic size: each guard
that narrows what was exported, with the function that asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

_LINE_LIMIT = 1 << 20  # bytes
_MOST = 200
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
    files: dict[int, str] = {}
    found: dict[str, Asked] = {}
    for document in _documents(stream):
        if isinstance(name := document.get("str"), list) and len(name) == 2:
            files[name[1]] = str(name[0])
        for key in ("guard_added", "guard_added_fast"):
            guard = document.get(key)
            if not isinstance(guard, dict) or len(found) >= _MOST:
                continue
            text = str(guard.get("expr"))[:200]
            if _COMPARES.search(text) and (place := _asker(guard.get("stack"), files)):
                found.setdefault(text, Asked(text, *place))
    return tuple(found.values())


def _documents(stream: BinaryIO) -> Iterator[dict[str, object]]:
    while raw := stream.readline(_LINE_LIMIT):
        begin = raw.find(b"{")
        if raw.startswith(b"\t") or begin < 0 or not any(key in raw for key in _KEYS):
            continue
        try:
            document = json.loads(raw[begin:])
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document


def _asker(stack: object, files: dict[int, str]) -> tuple[str, str, int] | None:
    for frame in reversed(stack if isinstance(stack, list) else []):
        if not isinstance(frame, dict):
            return None
        file = files.get(frame.get("filename", -1), "")
        if file and not any(part in file for part in _CARRIERS):
            line = frame.get("line")
            return str(frame.get("name"))[:100], file, line if isinstance(line, int) else 0
    return None
