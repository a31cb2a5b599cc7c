"""Tell whether the process that wrote a record still runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def this_process() -> dict[str, Any]:
    """Return what identifies this process, also after its number was given to another one."""
    pid = os.getpid()
    return {"pid": pid, "start": _start(pid), "place": _place()}


def is_alive(recorded: object) -> bool | None:
    """Tell whether a recorded process runs; None when this cannot be seen from here."""
    if not isinstance(recorded, dict) or not 0 < _pid(recorded) < 1 << 32:
        return False
    if recorded.get("place") != _place():
        return None
    start = _start(_pid(recorded))
    return start is not None and start == recorded.get("start")


def _pid(recorded: dict[str, Any]) -> int:
    pid = recorded.get("pid")
    return pid if isinstance(pid, int) else 0


def _start(pid: int) -> str | None:
    # Clock ticks since boot do not move with the clock, as psutil's time of creation does.
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        pass
    import psutil

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _place() -> str:
    """Name the boot and the PID namespace: elsewhere the same number is another process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        import psutil

        return f"{os.uname().nodename} {int(psutil.boot_time())}"
