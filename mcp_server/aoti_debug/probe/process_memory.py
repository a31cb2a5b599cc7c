"""What this process holds: resident memory by what is mapped, its peak, and a GPU's memory."""

from __future__ import annotations

import contextlib
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .lazy import torch

_SELF = Path("/proc/self")
_MAPPED = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)$")


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    return _status("VmRSS")


def peak() -> int:
    """Return the most that was in memory since `begin_peak`, or ever where that cannot be begun."""
    return _status("VmHWM")


def begin_peak() -> bool:
    """Let the peak be what is in memory now; tell whether that can be done here."""
    with contextlib.suppress(OSError):
        (_SELF / "clear_refs").write_text("5")
        return True
    return False


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


@dataclass(frozen=True)
class Device:
    """A GPU's memory: used by all, and this process's part that torch's allocator knows."""

    total: int
    used: int
    reserved: int
    allocated: int
    most: int  # allocated, since `begin_device`

    @property
    def document(self) -> dict[str, Any]:
        return asdict(self)


def device() -> Device | None:
    """Return the current GPU's memory; None where none is used."""
    if not (torch.cuda.is_available() and torch.cuda.is_initialized()):
        return None
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    cuda = torch.cuda
    sizes = cuda.memory_reserved(), cuda.memory_allocated(), cuda.max_memory_allocated()
    return Device(total, total - free, *sizes)


def begin_device() -> None:
    if device() is not None:
        torch.cuda.reset_peak_memory_stats()
