"""Lines that were wrapped in the middle of a word."""

from __future__ import annotations

import io

import pytest
from aoti_debug import api
from aoti_debug.read.blocks import LIMIT, unwrapped


def test_only_lines_that_may_be_cut_in_a_word_are_joined() -> None:
    joined = unwrapped(io.BytesIO(b"error: invalid user-d\nefined conversion\n\nA line.\nNext\n"))
    assert joined is not None
    assert joined.read().split(b"\n")[:2] == [b"error: invalid user-defined conversion", b""]
    assert unwrapped(io.BytesIO(b"A line.\nAnother line.\n")) is None
    assert unwrapped(io.BytesIO(b"a\nb" * LIMIT)) is None


@pytest.mark.anyio
async def test_a_message_cut_in_a_word_is_recognised() -> None:
    text = (
        "x\nMemory access fault by GPU no\nde-1 (Agent handle: 0x55) on address 0x7f. Reason: Unk"
    )
    found = (await api.diagnose(text=text)).diagnoses[0]
    assert found.category == "illegal_memory_access"
    assert found.evidence[0].lines == (2, 2)
