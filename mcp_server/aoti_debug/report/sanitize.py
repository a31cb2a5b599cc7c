"""Make text from logs harmless to show: no terminal commands, no invisible characters."""

from __future__ import annotations

from aoti_debug.plain import plain


def sanitize(text: str) -> str:
    """Remove escape sequences, control and invisible characters; keep lines and tabs."""
    return "\n".join(map(plain, text.splitlines()))


def one_line(text: str) -> str:
    """Sanitize and put on one line."""
    return " ".join(sanitize(text).split())
