"""What this process holds: resident memory by what is mapped, its peak, and a GPU's memory."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

from .lazy import torch

_SELF = Path("/proc/self")
_MAPPED = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)$")


def _status(field: str) -> int:
    for line in (_SELF / "status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return 0


def mapped(name: str) -> int:
    """Return the bytes in memory of the files with this in their path."""
    total, counts = 0, False
    for line in (_SELF / "smaps").read_text(errors="replace").splitlines():
        begun = _MAPPED.match(line)
        if begun is not None:
            counts = name in begun[1]
        elif counts and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total


def moment() -> dict[str, Any]:
    """Return what is held now and was at most since `begin`, or ever where that cannot begin."""
    return {"resident": _status("VmRSS"), "peak": _status("VmHWM"), "gpu": device()}


def begin() -> None:
    """Let the peaks be what is held now."""
    with contextlib.suppress(OSError):
        (_SELF / "clear_refs").write_text("5")
    if device() is not None:
        torch.cuda.reset_peak_memory_stats()


def device() -> dict[str, int] | None:
    """Return the current GPU's memory, used by all, and this process's part that torch's allocator
    knows; None where none is used."""
    cuda = torch.cuda
    if not (cuda.is_available() and cuda.is_initialized()):
        return None
    cuda.synchronize()
    free, total = cuda.mem_get_info()
    return {
        "total": total,
        "used": total - free,
        "reserved": cuda.memory_reserved(),
        "allocated": cuda.memory_allocated(),
        "most": cuda.max_memory_allocated(),
    }
