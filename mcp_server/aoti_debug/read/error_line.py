"""Find the first lines that speak of an error, in a log in which no reader knows anything."""

from __future__ import annotations

import re
from typing import BinaryIO

from aoti_debug.read.record import QUOTE_LIMIT, ErrorLine, Span

_SPEAKS = re.compile(
    rb"\b(?:[\w.]{0,100}(?:Error|Exception)|ERROR|FATAL|[Ff]atal|[Ee]rror|[Ff]ailed|FAILED|"
    rb"[Aa]borted|[Pp]anic)\b"
)
_HARMLESS = re.compile(rb"\b(?:0|no) (?:errors?|failed|failures?)\b", re.IGNORECASE)
_LINE = 1 << 14
_KEPT = 20


def error_lines(stream: BinaryIO, artifact: str) -> list[ErrorLine]:
    """Return the first of those lines; of a longer line only the first 16 KiB are looked at."""
    found: list[ErrorLine] = []
    number, begins = 1, True
    while len(found) < _KEPT and (piece := stream.readline(_LINE)):
        if begins and _SPEAKS.search(piece) and not _HARMLESS.search(piece):
            quote = piece.decode("utf-8", "replace").strip()[:QUOTE_LIMIT]
            found.append(ErrorLine(Span(artifact, number, number, quote)))
        begins = piece.endswith(b"\n")
        number += begins
    return found
