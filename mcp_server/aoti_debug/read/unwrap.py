"""Join lines that a terminal or a form wrapped in the middle of a word."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from typing import BinaryIO

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
