"""What a watched program does while it runs: the calls that it has made so far, and whether it goes
on making them, or waits for requests."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import psutil

from aoti_debug.read.traffic import read_tally
from aoti_debug.run.files import is_regular, read_regular

CALLS = "calls"
FILES = 256  # of processes, that are read each second
RECENT_S = 10.0


class Counter:
    """Reads the tallies in a run's directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / CALLS
        self.calls = 0
        self._changed = 0.0

    def words(self) -> str:
        """Return ", 4,210 calls (13 break the contract)"; nothing before the first call."""
        calls, bad, unjudged = self._read()
        if not calls:
            return ""
        more = [f"{bad:,} break the contract"] if bad else []
        more += [f"{unjudged:,} not judged"] if unjudged else []
        return f", {calls:,} calls" + (f" ({', '.join(more)})" if more else "")

    def going_on(self, pid: int) -> bool:
        """Tell whether the program makes calls, or listens for requests that would make it."""
        calls, _, _ = self._read()
        recent = time.monotonic() - self._changed < RECENT_S
        return bool(calls) and not self._stuck() and (recent or listens(pid))

    def _read(self) -> tuple[int, int, int]:
        calls = bad = unjudged = 0
        for data in self._files():
            tally = read_tally(0, data)
            if tally is not None:
                calls += sum(count for count, _ in tally.groups.values()) + tally.others
                bad += tally.broken
                unjudged += tally.unjudged
        if calls != self.calls:
            self.calls, self._changed = calls, time.monotonic()
        return calls, bad, unjudged

    def _stuck(self) -> bool:
        """Tell whether nothing but calls under way is left: each process waits in one."""
        tallies = [tally for data in self._files() if (tally := read_tally(0, data))]
        recent = time.monotonic() - self._changed < RECENT_S
        return not recent and bool(tallies) and all(tally.under_way for tally in tallies)

    def _files(self) -> list[bytes]:
        found = []
        with contextlib.suppress(OSError):
            for path in sorted(self._directory.glob("*.bin"))[:FILES]:
                if is_regular(path):
                    found.append(read_regular(path))
        return found


def listens(pid: int) -> bool:
    """Tell whether a process or one that it started waits for connections."""
    try:
        root = psutil.Process(pid)
        tree = [root, *root.children(recursive=True)]
    except psutil.Error:
        return False
    for process in tree:
        with contextlib.suppress(psutil.Error, OSError):
            if any(c.status == psutil.CONN_LISTEN for c in process.net_connections("tcp")):
                return True
    return False
