"""Read foreign files for a server, in processes that these may hold, fill or end."""

from __future__ import annotations

if __name__ == "__main__":  # started without what the environment and the folder could put there
    import json
    import sys

    sys.path[:] = json.loads(sys.argv[1])

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import anyio
import anyio.abc
import psutil
from anyio.streams.buffered import BufferedByteReceiveStream

from aoti_debug import errors
from aoti_debug.errors import AotiDebugError, UnreadableInput
from aoti_debug.model import Model
from aoti_debug.run.launcher import PR_SET_PDEATHSIG, leave_processors_to_others, prctl
from aoti_debug.run.share import IDLE, READS, counted, is_modest, level, restored
from aoti_debug.run.turns import Turn, Turns

A = TypeVar("A", bound=Model)
Document = dict[str, Any]
PLACES, LONG, OWN = 8, 4, 2  # such processes at a time, those that take long, and of one client
MEMORY = 2 << 30  # bytes of its own that one may take
TIME_S = 60.0  # for an answer, and a second more for so many bytes of the file
BYTES_A_SECOND = 20_000_000
MOST_S = 600.0
SHORT_S = 10.0  # of those further seconds: a file that needs more takes long
SLOW_S, LOOK_S = 2.0, 0.5  # of a processor: a reading that needs more takes long as well
ANSWER_BYTES = 64 << 20


class Readers:
    """The processes of one server; one is kept ready, once there are readings one more, for their
    start takes longer than a file."""

    def __init__(self) -> None:
        self._places, self._long = Turns(PLACES, OWN), Turns(LONG, OWN)
        self._ready: list[_Reader] = []
        self._all: set[_Reader] = set()

    async def prepare(self) -> None:
        """Start the first one; it imports while the client connects."""
        self._ready.append(await self._started())

    async def read(
        self, client: str | None, answer: type[A], do: str, file: Path | None, **more: object
    ) -> A:
        """Return what `do`, a function of `api`, answers for the client. Raise the AotiDebugError
        that it raises, or UnreadableInput where it takes too much."""
        limit = min(MOST_S, TIME_S + await anyio.to_thread.run_sync(_size, file) / BYTES_A_SECOND)
        order = json.dumps({"do": do, "with": more}).encode()
        said: Document | None = None
        if limit <= TIME_S + SHORT_S:
            async with self._places.take(client) as turn:
                said = await self._said(order, limit, turn)
        if said is None:
            async with self._long.take(client) as turn:
                said = await self._said(order, limit, turn)
        assert said is not None
        if "error" in said:
            raise errors.told(said)
        return answer.model_validate(said["answer"])

    async def _said(self, order: bytes, limit: float, turn: Turn) -> Document | None:
        """Return what a process says; None where it takes long and there is no place for that."""
        # The last one is for who has nothing else going on, and none for who is to leave the
        # processors to others.
        spare = len(self._ready) > (not is_modest()) and level() < IDLE
        reader = self._ready.pop() if spare else await self._started()
        try:
            with counted(reader.pid), anyio.fail_after(limit):
                await reader.ask(order)
                if len(self._ready) < OWN:
                    await self.prepare()
                said: Document | None = None
                before = reader.used()
                while said is None and turn.place is self._places:
                    with anyio.move_on_after(LOOK_S):
                        said = await reader.said()
                    slow = said is None and reader.used() - before > SLOW_S
                    if slow and not turn.move(self._long):
                        return None
                said = said or await reader.said()
        except TimeoutError:
            raise UnreadableInput(
                f"reading it takes longer than {limit:.0f} s", help="Give a part of it."
            ) from None
        except (
            anyio.EndOfStream,
            anyio.IncompleteRead,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
            OSError,
        ):
            raise UnreadableInput(
                f"reading it ended its process, which may take {MEMORY >> 30} GiB of memory",
                help="Give a part of it.",
            ) from None
        except anyio.DelimiterNotFound:
            raise UnreadableInput("its content is too long", help="Give a part.") from None
        else:
            if restored(reader.pid, READS):
                self._ready.append(reader)
            return said
        finally:
            if reader not in self._ready:
                await self._end(reader)
            while len(self._ready) > OWN + 1:
                await self._end(self._ready.pop(0))

    async def _started(self) -> _Reader:
        reader = _Reader(await start(__file__))
        self._all.add(reader)
        return reader

    async def _end(self, reader: _Reader) -> None:
        with anyio.CancelScope(shield=True):
            self._all.discard(reader)
            await reader.end()

    async def close(self) -> None:
        """End all of them, with what they started; later ones are new."""
        self._ready.clear()
        for reader in tuple(self._all):
            await self._end(reader)


@cache
def readers() -> Readers:
    return Readers()


async def start(module: str) -> anyio.abc.Process:
    """Start the file of a module as a program that imports what this process does."""
    return await anyio.open_process(
        [sys.executable, "-I", module, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def begin() -> int:
    """End with the server that has started this; return the descriptor for what it is told."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    answers = os.dup(1)
    os.dup2(2, 1)  # what is printed by mistake is no answer
    return answers


def say(answers: int, said: Document) -> None:
    left = memoryview(json.dumps(said).encode() + b"\n")
    while left:
        left = left[os.write(answers, left) :]


class _Reader:
    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.pid = process.pid
        self._process, self._stdin = process, process.stdin
        self._stdout = BufferedByteReceiveStream(process.stdout)

    async def ask(self, order: bytes) -> None:
        await self._stdin.send(order + b"\n")

    async def said(self) -> Document:
        said: Document = json.loads(await self._stdout.receive_until(b"\n", ANSWER_BYTES))
        return said

    def used(self) -> float:
        """Return the seconds of a processor that it has taken."""
        with contextlib.suppress(psutil.Error):
            return sum(psutil.Process(self.pid).cpu_times()[:2])
        return 0.0

    async def end(self) -> None:
        with contextlib.suppress(psutil.Error):
            for started in psutil.Process(self._process.pid).children(recursive=True):
                started.kill()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.aclose()


def _size(file: Path | None) -> int:
    """Return the bytes of a file on disk: a hole is read in no time."""
    with contextlib.suppress(OSError, ValueError):
        if file is not None:
            found = file.stat()
            return min(found.st_size, found.st_blocks * 512)
    return 0


def main() -> NoReturn:
    """Answer orders, one a line, until there are no more."""
    from aoti_debug import api

    answers = begin()
    leave_processors_to_others(max(0, READS - os.nice(0)))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    api.preload()
    for line in sys.stdin.buffer:
        order = json.loads(line)
        used = int(sum(os.times()[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (used + int(MOST_S), resource.RLIM_INFINITY))
        say(answers, _answered(getattr(api, order["do"]), order["with"]))
    sys.exit()


def _answered(do: Any, given: Mapping[str, object]) -> Document:
    try:
        found = do(**given)
        if asyncio.iscoroutine(found):
            found = anyio.run(lambda: found)
        return {"answer": found.model_dump(mode="json")}
    except AotiDebugError as error:
        return errors.document(error)
    except OSError as error:
        if (refused := errors.refused_by_system(error)) is None:
            raise
        return errors.document(refused)


if __name__ == "__main__":
    main()
