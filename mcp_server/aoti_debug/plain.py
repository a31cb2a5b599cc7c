"""Make text of a foreign process fit to show: one line, no control codes."""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|.)?"
)


def plain(text: str, limit: int | None = None) -> str:
    """Return `text` without terminal escapes, control, format and lone surrogate characters.

    Tabs stay. What is longer than `limit` characters is cut and ends in an ellipsis.
    """
    if not text.isascii() or not text.isprintable():
        text = _ESCAPES.sub("", text)
        text = "".join(c for c in text if c == "\t" or unicodedata.category(c) not in _DROPPED)
    if limit is not None and len(text) > limit:
        return text[: limit - 1] + "…"
    return text


_DROPPED = {"Cc", "Cf", "Cs"}


def last_line(data: bytes, limit: int = 120) -> str:
    """Return the last line of `data` that shows anything, cut to `limit` characters."""
    for part in reversed(re.split(r"[\r\n]+", data.decode("utf-8", "replace"))):
        if text := plain(part).strip():
            return plain(text, limit)
    return ""
