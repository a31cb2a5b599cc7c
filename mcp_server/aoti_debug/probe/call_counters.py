"""Count calls in a small file that stays as it is when the process dies: 64-bit numbers in memory
that is shared with a file of fixed size. Nothing is flushed, nothing grows.
"""

from __future__ import annotations

import mmap
import os
from typing import Optional

FORMAT = 2
GROUPS = 2048
NUMBERS = 16  # call numbers that are kept of a group: the first ones after its first
ROW = 1 + NUMBERS  # calls, their numbers
HEAD = 16
# Places of the head. The call under way has begun and not returned; 0: none is.
VERSION, RETURNED, FAILED, OUTPUTS_READ, UNDER_WAY, LAST, LAST_GROUP = range(7)
HELD = 7  # the call whose inputs are in the shared memory; 0 while they are written
OTHERS, OTHERS_JUDGED = 8, 9  # calls of no group: there were too many
LATEST_KEPT = 10  # the call whose inputs are in call-latest
BROKEN, UNJUDGED = 11, 12  # calls that break something; calls with nothing to hold them against
NOT_FINITE = 13  # calls whose outputs were read and hold NaN or infinities
BYTES = 8 * (HEAD + GROUPS * ROW)

_own: list[Tally | None] = []


class Tally:
    """The numbers of one process."""

    def __init__(self, path: str) -> None:
        self.path = path
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.ftruncate(descriptor, BYTES)
            self.numbers = memoryview(mmap.mmap(descriptor, BYTES)).cast("q")
        finally:
            os.close(descriptor)
        self.numbers[VERSION] = FORMAT

    @property
    def name(self) -> str:
        return os.path.basename(self.path)  # noqa: PTH119 - pathlib is slow to import


def row(group: int) -> int:
    """Return the place of a group's first number."""
    return HEAD + group * ROW


def note(numbers: memoryview[int], group: int, call: int) -> None:
    """Remember the number of a call, if it is among the first of its group."""
    place = row(group) + 1
    for at in range(place, place + NUMBERS):
        if not numbers[at]:
            numbers[at] = call
            return


def forget() -> None:
    """Count into another file, in a process that was forked."""
    _own.clear()


def of_process() -> Optional[Tally]:  # noqa: UP045 - Python 3.9
    """Return the tally of this process, made at its first call; None where none can be."""
    if not _own:
        _own.append(_made())
    return _own[0]


def _made() -> Tally | None:
    events = os.environ.get("AOTI_DEBUG_EVENTS")
    if not events:
        return None
    folder = os.path.join(os.path.dirname(events), "calls")  # noqa: PTH118, PTH120
    for number in range(100):  # a process may get the number of one that has ended
        try:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
            return Tally(os.path.join(folder, f"{os.getpid()}-{number}.bin"))  # noqa: PTH118
        except FileExistsError:
            continue
        except (OSError, ValueError):
            return None
    return None
