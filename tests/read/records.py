"""The records of one kind that a text gives."""

from __future__ import annotations

from typing import TypeVar

from aoti_debug.read.record import Record
from aoti_debug.read.scan import scan_text
from recordings import recorded

R = TypeVar("R", bound=Record)


def of(kind: type[R], text: str) -> list[R]:
    return [found for found in scan_text(text, "stderr.log").records if isinstance(found, kind)]


def one(kind: type[R], text: str) -> R:
    (found,) = of(kind, text)
    return found


def logged(kind: type[R], case: str, stage: str) -> R:
    """Return the only record of this kind in a recorded log."""
    return one(kind, recorded(case, stage))
