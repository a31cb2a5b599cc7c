"""The memory that devices wrote to until a process ended: which call they did not come to the end
of, and its inputs. What it holds is said in `probe/device.py`."""

from __future__ import annotations

import struct
from dataclasses import dataclass

MARKS, WORDS = 1024, 8
BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that was on a device. `inputs` is empty where they are kept elsewhere."""

    call: int
    group: int | None
    inputs: bytes


def pending(data: bytes) -> Pending | None:
    """Return the first call that a device began and did not come to the end of."""
    if len(data) != BYTES:
        return None
    marks = struct.unpack_from(f"={MARKS * WORDS}Q", data)
    slots = (marks[at : at + WORDS] for at in range(0, MARKS * WORDS, WORDS))
    open_ = [one for one in slots if one[3] and one[0] == one[3] != one[1]]
    if not open_:
        return None
    _, _, _, call, group, begin, size, _ = min(open_, key=lambda one: one[3])
    inputs = data[begin : begin + size] if begin + size <= BYTES else b""
    return Pending(call, group - 1 if 0 < group < BYTES else None, inputs if begin else b"")
