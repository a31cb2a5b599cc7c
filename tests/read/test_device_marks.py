"""The memory that devices wrote to: which call they did not come to the end of."""

from __future__ import annotations

import struct

import pytest
from aoti_debug.read.device_marks import BYTES, WORDS, Pending, pending

INPUTS = bytes(range(64))
BEGIN = 100_000


def memory(*slots: tuple[int, ...]) -> bytes:
    """Return such memory: of each call begun, judged, signature, call, group + 1, place, bytes."""
    data = bytearray(BYTES)
    for at, words in enumerate(slots):
        struct.pack_into(f"={WORDS}Q", data, 8 * WORDS * at, *words, 0)
    data[BEGIN : BEGIN + len(INPUTS)] = INPUTS
    return bytes(data)


def test_the_first_call_that_was_begun_and_not_judged_is_pending():
    done, faulted = (4, 4, 0, 4, 1, 0, 0), (5, 1, 0, 5, 3, BEGIN, 64)
    waiting, queued = (6, 0, 0, 6, 1, 0, 0), (2, 2, 0, 7, 1, 0, 0)
    found = pending(memory(waiting, done, queued, faulted))
    assert found == Pending(5, 2, INPUTS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        memory(),
        memory((4, 4, 0, 4, 1, 0, 0)),  # judged
        memory((4, 0, 0, 0, 1, 0, 0)),  # it raised before it was launched
        memory((3, 3, 0, 4, 1, 0, 0)),  # not begun
    ],
)
def test_nothing_is_pending_where_all_is_judged_or_nothing_has_begun(data: bytes):
    assert pending(data) is None


def test_inputs_that_lie_elsewhere_are_not_made_up():
    assert pending(memory((5, 0, 0, 5, 1, 0, 0))) == Pending(5, 0, b"")
    assert pending(memory((5, 0, 0, 5, 1, BYTES, 64))) == Pending(5, 0, b"")
