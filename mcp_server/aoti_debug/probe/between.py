"""Find the lines at which a script spends its time between the calls of packages, by looking at its
main thread some times a second. Only a run that is asked where its time goes does this."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from . import call_counters, watch

WANTED = bool(os.environ.get("AOTI_DEBUG_LINES"))
INTERVAL_S = 0.005
MOST_S = 120.0
LINES = 5  # that are reported
_LIBRARIES = (os.path.dirname(os.__file__), *{p for p in sys.path if p.endswith("-packages")})
_found: list[Between] = []


class Between:
    """The seconds of each of the user's lines from the end of the first call to that of the last.

    C code that holds the interpreter's lock lets nobody look: what has passed since the last look
    belongs to the line at which the lock is free again.
    """

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], float] = {}
        self.calls = 0
        self._since: dict[tuple[str, int], float] = {}  # the last call
        self._first, self._last = 0, 0.0
        self._thread = threading.main_thread().ident
        threading.Thread(target=self._look, name="aoti-debug lines", daemon=True).start()

    def _look(self) -> None:
        until = time.monotonic() + MOST_S
        while time.monotonic() < until:
            time.sleep(INTERVAL_S)
            self.look()

    def look(self) -> None:
        """Note the user's line, and the calls that have returned by now."""
        counted = call_counters.of_process()
        if counted is None or not counted.numbers[call_counters.RETURNED]:
            return
        returned, now = counted.numbers[call_counters.RETURNED], time.monotonic()
        passed, self._last = now - self._last, now
        if not self._first:
            self._first = returned
            return
        frame = sys._current_frames().get(self._thread or 0)
        at = watch.users(frame) if frame is not None else None
        while at is not None and at.f_code.co_filename.startswith(_LIBRARIES):
            at = at.f_back  # to the user's line that calls it
        own = counted.numbers[call_counters.UNDER_WAY] or watch.is_probes(frame, at)
        if at is not None and not own:
            line = at.f_code.co_filename, at.f_lineno
            self._since[line] = self._since.get(line, 0.0) + passed
        if returned - self._first > self.calls:
            self.calls = returned - self._first
            for line, seconds in self._since.items():
                self.lines[line] = self.lines.get(line, 0.0) + seconds
            self._since.clear()


def begin() -> None:
    """Look from now on; once in a process."""
    if not _found:
        _found.append(Between())


def report() -> dict[str, Any]:
    """Return what the end of the process says of it."""
    if not _found or not _found[0].calls:
        return {}
    seen = _found[0]
    longest = sorted(seen.lines.items(), key=lambda one: -one[1])[:LINES]
    lines = [[file, line, seconds] for (file, line), seconds in longest]
    outside = sum(seen.lines.values())
    return {"between": {"calls": seen.calls, "outside": outside, "lines": lines}}
