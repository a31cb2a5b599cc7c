"""Do a run in a process of its own, which its target's files may hold, fill or end."""

from __future__ import annotations

if __name__ == "__main__":  # started without what the environment and the folder could put there
    import json
    import sys

    sys.path[:] = json.loads(sys.argv[1])

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import anyio
import anyio.abc
import psutil
from anyio.streams.buffered import BufferedByteReceiveStream
from pydantic import TypeAdapter

from aoti_debug import errors
from aoti_debug.kinds import A, Kind, R, kind_named
from aoti_debug.model import Diagnosis, Model, Step
from aoti_debug.reading import begin, say, start
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.launcher import leave_processors_to_others
from aoti_debug.run.share import counted
from aoti_debug.run.target import Exit
from aoti_debug.triage.run_state import Cancelled, RunState
from aoti_debug.triage.spawn import hold_gpus

MEMORY = 4 << 30  # bytes that such a process may take, without those that it starts
CPU_S = 1800.0
LOOK_S = 0.5
GRACE_S = 15.0  # to end what it has started
SAID_BYTES = 16 << 20
STOP, ENOUGH = b"stop\n", b"enough\n"
GONE = (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound, OSError)


class _Told(Model):
    """What the process says of its run while that goes on."""

    doing: str
    steps: list[Step]
    notes: list[str]
    diagnosis: Diagnosis | None
    process_runs: int
    calls: int
    recompiles: int
    peak_rss: int
    torch: str | None
    ended: Exit | None


async def apart(kind: Kind[R, A], work: RunState, request: R) -> A:
    """Return the answer of a run that a process of its own does; this one holds the GPUs. Raise
    Cancelled, and the AotiDebugError that it raises or that says that it took too much."""
    async with hold_gpus(work):
        said = await _done(kind, work, request)
    if "answer" in said:
        return kind.answer.model_validate(said["answer"])
    if work.stop.is_set() or said.get("error") == Cancelled.__name__:
        raise Cancelled
    raise errors.told(said)


async def _done(kind: Kind[R, A], work: RunState, request: R) -> dict[str, Any]:
    own = replace(request, target=replace(request.target, env={}), uses=(), holds_gpus=False)
    order = {
        "kind": kind.name,
        "run": work.directory.id,
        "home": str(work.home),
        "client": work.client,
        "type": f"{type(request).__module__}:{type(request).__qualname__}",
        "request": TypeAdapter(type(request)).dump_python(own, mode="json"),
        "env": dict(request.target.env),  # which need not be Unicode
    }
    said: dict[str, Any] = {}
    async with _started() as process:
        why: list[str] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_tell, process, work.stop, STOP)
            tasks.start_soon(_tell, process, work.enough, ENOUGH)
            tasks.start_soon(_watch, process, work.stop, why)
            with suppress(*GONE):
                await _send(process, json.dumps(order).encode() + b"\n")
                said = await _heard(process, work)
            tasks.cancel_scope.cancel()
    if said:
        return said
    what = why[0] if why else "the process of this run ended without an answer"
    return {"error": "", "message": what, "help": "Read its files with read_artifact."}


@asynccontextmanager
async def _started() -> AsyncIterator[anyio.abc.Process]:
    process = await start(__file__)
    try:
        with counted(process.pid):
            yield process
    finally:
        with anyio.CancelScope(shield=True):
            assert process.stdin is not None
            with suppress(anyio.BrokenResourceError, OSError):
                await process.stdin.aclose()  # which tells it to end
            with anyio.move_on_after(GRACE_S):
                await process.wait()
            _kill(process)
            await process.aclose()


async def _heard(process: anyio.abc.Process, work: RunState) -> dict[str, Any]:
    """Follow what the process says up to its answer."""
    assert process.stdout is not None
    stream = BufferedByteReceiveStream(process.stdout)
    while True:
        said: dict[str, Any] = json.loads(await stream.receive_until(b"\n", SAID_BYTES))
        if "told" not in said:
            return said
        told = _Told.model_validate(said["told"])
        for name in _Told.model_fields:
            setattr(work, name, getattr(told, name))
        work.on_change()


async def _send(process: anyio.abc.Process, data: bytes) -> None:
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.send(data)


async def _tell(process: anyio.abc.Process, when: anyio.Event, what: bytes) -> None:
    await when.wait()
    await _send(process, what)


async def _watch(process: anyio.abc.Process, stop: anyio.Event, why: list[str]) -> None:
    """End the process when it takes too much, or does not end although it was told to."""
    left = GRACE_S
    while left > 0 and not why:
        await anyio.sleep(LOOK_S)
        left -= LOOK_S if stop.is_set() else 0.0
        with suppress(psutil.Error):
            one = psutil.Process(process.pid)
            used = one.cpu_times()
            if one.memory_info().rss > MEMORY:
                why.append(f"reading the run's files takes more than {MEMORY >> 30} GiB of memory")
            elif used.user + used.system > CPU_S:
                why.append(f"reading the run's files takes more than {CPU_S:.0f} s")
    _kill(process)


def _kill(process: anyio.abc.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


def main() -> None:
    """Do one run: its order is the first line of standard input, and its end ends the run."""
    answers = begin()
    unread = b""
    while b"\n" not in unread and (block := os.read(0, 1 << 16)):
        unread += block
    line, _, unread = unread.partition(b"\n")
    if line:
        anyio.run(_do, json.loads(line), answers, unread)


async def _do(order: dict[str, Any], answers: int, unread: bytes) -> None:
    os.environ["AOTI_DEBUG_HOME"] = order["home"]
    leave_processors_to_others()
    kind = kind_named(order["kind"])
    asked = TypeAdapter(resolve_name(order["type"])).validate_python(order["request"])
    request = replace(asked, target=replace(asked.target, env=order["env"]))
    directory = RunDirectory.open(order["run"], Path(order["home"]))
    work = RunState(request, directory, kind.name, client=order["client"])

    def tell() -> None:
        told = _Told.model_validate({name: getattr(work, name) for name in _Told.model_fields})
        say(answers, {"told": told.model_dump(mode="json")})

    work.on_change = tell
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_obey, work, unread)
        try:
            found = await kind.start(work, request)
            tell()
            said = {"answer": found.model_dump(mode="json")}
        except Exception as error:  # a fault of ours is told as well, in its own words
            tell()
            said = errors.document(error)
        say(answers, said)
        tasks.cancel_scope.cancel()


async def _obey(work: RunState, unread: bytes) -> None:
    while True:
        *lines, unread = unread.split(b"\n")
        for line in lines:
            (work.enough if line + b"\n" == ENOUGH else work.stop).set()
        await anyio.wait_readable(0)
        block = os.read(0, 4096)
        if not block:
            work.stop.set()
            return
        unread += block


if __name__ == "__main__":
    main()
