"""Count calls in a small file that stays as it is when the process dies: 64-bit numbers in memory
that is shared with a file of fixed size. Nothing is flushed, nothing grows.
"""

from __future__ import annotations

import mmap
import os

FORMAT = 3
GROUPS = 2048
NUMBERS = 16  # call numbers that are kept of a group: the first ones after its first
ROW = 1 + NUMBERS  # calls, their numbers
HEAD = 16
# Places of the head. The call under way has begun and not returned; 0: none is.
VERSION, RETURNED, FAILED, UNREAD, UNDER_WAY, LAST, LAST_GROUP = range(7)  # unread: outputs
HELD = 7  # the call whose inputs are in the shared memory; 0 while they are written
OTHERS, OTHERS_JUDGED = 8, 9  # calls of no group: there were too many
LATEST_KEPT = 10  # the call whose inputs are in call-latest
BROKEN, UNJUDGED = 11, 12  # calls that break something; calls with nothing to hold them against
ON_DEVICE, ON_DEVICE_GROUP = 13, 14  # the first call that is on a device for long
ON_DEVICE_KEPT = 15  # it, where its inputs are in call-pending
# Of each model, what the outputs of its calls hold. A signature has three bits for each output,
# the last of them for all further ones.
MODELS, SIGNATURES, PLACES = 32, 16, 20
NAN, POSITIVE, NEGATIVE = 1, 2, 4
UNLIKE = 1 << 60  # the outputs are not what the exported program promises
SIGNED = 2 + NUMBERS  # the signature, how many calls have it, the first of them
MODEL = SIGNATURES * SIGNED
OUTPUTS = HEAD + GROUPS * ROW
BYTES = 8 * (OUTPUTS + MODELS * MODEL)

_own: list[CallCounters | None] = []


class CallCounters:
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
        return os.path.basename(self.path)


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


def signed(model: int, at: int) -> int:
    """Return the place of a signature of a model; its count and the numbers follow."""
    return OUTPUTS + model * MODEL + at * SIGNED


def forget() -> None:
    """Count into another file, in a process that was forked."""
    _own.clear()


def of_process() -> CallCounters | None:
    """Return the counters of this process, made at its first call; None where none can be."""
    if not _own:
        _own.append(_made())
    return _own[0]


def _made() -> CallCounters | None:
    events = os.environ.get("AOTI_DEBUG_EVENTS")
    if not events:
        return None
    folder = os.path.join(os.path.dirname(events), "calls")
    for number in range(100):  # a process may get the number of one that has ended
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            return CallCounters(os.path.join(folder, f"{os.getpid()}-{number}.bin"))
        except FileExistsError:
            continue
        except (OSError, ValueError):
            return None
    return None
