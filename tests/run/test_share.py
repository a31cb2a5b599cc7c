"""The processors are shared between clients by what each has going on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import anyio
import anyio.lowlevel
import pytest
from aoti_debug.model import DiagnoseAnswer
from aoti_debug.reading import Readers
from aoti_debug.run.launcher import descendants
from aoti_debug.run.share import (
    BESIDE,
    IDLE,
    READS,
    SEVERAL,
    Share,
    _level_of,
    _more,
    _threads,
    counted,
    going,
    levels,
)

TREE = """
import subprocess, sys, threading
threading.Thread(target=sys.stdin.read, daemon=True).start()
with subprocess.Popen(["cat"], start_new_session=True):
    pass
"""
PROCESSES = 4 * (os.cpu_count() or 1)
BUSY = f"""
import subprocess, sys
loop = ["sh", "-c", "while :; do :; done"]
for _ in range({PROCESSES}):
    subprocess.Popen(loop, start_new_session=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a"], [0]),
        (["a", "a", "a read", "a read"], [0, BESIDE, 0, 0]),
        (["a", "b"], [0, 0]),
        (["a", "a", "b"], [SEVERAL, IDLE, 0]),
        (["a", "a read", "b read"], [0, BESIDE, READS]),
        (["a read", "a read", "a read", "b"], [READS, BESIDE, IDLE, 0]),
        (["a stuck", "a", "b"], [IDLE, SEVERAL, 0]),
    ],
)
def test_each_client_has_one_run_and_two_readings_with_a_weight(
    given: list[str], expected: list[int]
) -> None:
    shares = [Share(text[0], "read" in text, stuck="stuck" in text) for text in given]
    assert levels(shares) == expected


@contextmanager
def going_on(client: str, source: str = TREE) -> Iterator[list[int]]:
    """Have a program of several processes going on for a client."""
    words, count = [sys.executable, "-c", source], PROCESSES if source == BUSY else 1
    with (
        subprocess.Popen(words, stdin=-1, start_new_session=True) as process,
        going(client, short=False),
        counted(process.pid),
    ):
        while len(below := descendants(process.pid)) < count:
            pass
        yield [process.pid, *below]
        for pid in (process.pid, *below):
            os.kill(pid, 9)


async def reach(pids: list[int], level: int) -> None:
    """Wait until each has the level."""
    with anyio.fail_after(60):
        while {_level_of(thread) for pid in pids for thread in _threads(pid)} != {level}:
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_all_threads_and_sessions_of_a_run_give_way() -> None:
    with ExitStack() as both:
        first, second = (both.enter_context(going_on("a")) for _ in range(2))
        with going_on("b") as other:
            await reach(second, IDLE)
            await reach(first, max(os.nice(0), SEVERAL))
            await reach(other, os.nice(0))
        if os.geteuid() == 0:
            await reach(first, os.nice(0))
            await reach(second, max(os.nice(0), BESIDE))


@pytest.mark.anyio
async def test_many_busy_processes_of_one_run_weigh_as_much_as_one() -> None:
    """Each in a session of its own, for a kernel may compare only these."""
    with going_on("a", source=BUSY) as many, going_on("b") as other:
        with anyio.fail_after(60):
            while min(map(_level_of, many)) < os.nice(0) + _more(PROCESSES, 2) - 1:
                await anyio.lowlevel.checkpoint()
        await reach(other, os.nice(0))


@pytest.mark.anyio
async def test_the_last_ready_process_is_for_who_has_nothing_going_on() -> None:
    readers = Readers()
    try:
        await readers.prepare()
        (ready,) = (reader.pid for reader in readers._ready)

        async def used(client: str) -> bool:
            with going(client, short=True):
                asked = {"text": "RuntimeError: no"}
                await readers.read(client, DiagnoseAnswer, "diagnose_log", None, **asked)
            return readers._ready[-1].pid == ready

        with going_on("a"):
            assert not await used("a")
        readers._ready.sort(key=lambda reader: reader.pid == ready)
        assert await used("b")
        with going_on("b"), going_on("a"), going("a", short=True), counted(os.getpid()):
            assert await used("a")  # the second of two at a time
    finally:
        await readers.close()
