"""Make text from logs harmless to show: no terminal commands, no invisible characters."""

from __future__ import annotations

from aoti_debug.plain import clean as sanitize

__all__ = ["one_line", "sanitize"]


def one_line(text: str) -> str:
    """Sanitize and put on one line."""
    return " ".join(sanitize(text).split())
