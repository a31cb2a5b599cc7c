"""Every kind of record is read by something."""

from __future__ import annotations

import re
from pathlib import Path

import aoti_debug
from aoti_debug.read import record


def test_every_record_type_has_a_consumer() -> None:
    root = Path(aoti_debug.__file__).parent
    rooms = ("diagnose", "triage", "explain", "minify", "verify", "sweep", "report")
    text = "\n".join(
        path.read_text(encoding="utf-8") for room in rooms for path in (root / room).rglob("*.py")
    )
    kinds = [
        name
        for name, value in vars(record).items()
        if isinstance(value, type) and issubclass(value, record.Record)
    ]
    unread = [name for name in kinds if not re.search(rf"\b{name}\b", text)]
    assert unread == []
