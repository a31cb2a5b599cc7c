"""Hold the time of a fixed package's calls against that of the package before, in pairs."""

from __future__ import annotations

import filecmp
from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread

from aoti_debug.examine.process import unwatched
from aoti_debug.read.event_records import Call
from aoti_debug.read.timing_report import TimingReport
from aoti_debug.read.typed import take
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.replay import probed
from aoti_debug.triage.run_state import RunState

SLOWER = 1.1  # than before: what is less is not said


async def slower(
    state: RunState, old: Path | None, new: Captured, before: Sequence[Call], now: Sequence[Call]
) -> str:
    """Say by how much the calls of a fix are slower; "" unless by more than a tenth in the median
    and in most pairs. Calls are measured only where the fastest recorded call became slower."""
    was, seconds = ([c.seconds for c in calls if c.seconds and c.ok] for calls in (before, now))
    may_be = not was or not seconds or min(seconds) > SLOWER * min(was)
    if old is None or new.package is None or new.inputs is None or not may_be:
        return ""
    if await anyio.to_thread.run_sync(same_file, old, new.package):
        return ""
    words = ("--pairs-only", "--against", str(old))
    _, document, _ = await probed(
        state, "time of a call", "timing", new, *words, flags=unwatched(state)
    )
    pairs = take(TimingReport, document or {}).against
    if pairs is None or len(pairs.ratios) < 5 or pairs.ratio >= 1 / SLOWER:
        return ""
    low, high = pairs.spread
    if high >= 1:
        return ""
    return (
        f"its calls take {1 / pairs.ratio:.1f} times as long as before ({len(pairs.ratios)} pairs, "
        f"half of them {1 / high:.1f} to {1 / low:.1f})"
    )


def same_file(one: Path, other: Path) -> bool:
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return True
