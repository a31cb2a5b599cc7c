"""Drive the fork server: give it orders, wait for their ends, read what they left."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio

from aoti_debug.diagnose import Ending
from aoti_debug.errors import AotiDebugError
from aoti_debug.facts.stages import ALWAYS
from aoti_debug.run.executor import Demand, Here, Machine, dispatch
from aoti_debug.run.files import folder, open_regular, write_atomically, write_new
from aoti_debug.run.process import Command, run_process
from aoti_debug.triage.environment import SCRIPT
from aoti_debug.triage.fingerprint import of_reproduction
from aoti_debug.triage.observe import observe
from aoti_debug.triage.run_state import Cancelled
from aoti_debug.vocabulary import Fingerprint

EVERY_S = 0.03
RUN_S = 30.0  # for a call, whatever its compile took; a hang costs as much
START_S = 180.0  # to import torch on a busy machine
TEXT_BYTES = 1 << 20
KEPT = ("result.json", "order.json", "repro.py", "stdout.log", "stderr.log", "began")
DAY_S = 86_400.0


class NoWorker(AotiDebugError):
    help = "Read fork-server.log of the run: the interpreter could not import torch."


@dataclass(frozen=True, slots=True)
class OrderOutcome:
    """How one order ended, and what it left in its directory."""

    directory: Path
    fingerprint: Fingerprint
    wall_s: float
    stdout: str
    stderr: str
    cached: bool = False


class WorkerPool:
    """Orders to the fork server of one search; their results are kept by content."""

    def __init__(self, root: Path, cache: Path, stop: anyio.Event, machine: Machine) -> None:
        self._stop = stop
        self.root = root
        self.cache = cache
        self.machine = machine
        self.run_s = RUN_S
        self.ran = 0
        self.alive = True  # until the fork server ends
        self._going: dict[str, anyio.Event] = {}

    async def do(
        self, order: Mapping[str, Any], timeout_s: float, script: str = "", number: int = 0
    ) -> OrderOutcome:
        """Have one order done, or read the result of an earlier one; `number` separates
        repetitions. Raise NoWorker where the fork server has ended, Cancelled where the user
        stops."""
        document = {**order, "timeout_s": timeout_s}
        key = json.dumps([{**order, "number": number}, script], sort_keys=True)
        name = hashlib.sha256(key.encode()).hexdigest()[:20]
        directory = self.root / name
        if name in self._going:
            await self._going[name].wait()
        if (directory / "result.json").is_file():
            return replace(await anyio.to_thread.run_sync(outcome, directory), cached=True)
        self._going[name] = anyio.Event()
        try:
            shutil.rmtree(directory, ignore_errors=True)  # a half of an earlier, killed search
            folder(directory)
            if script:
                write_new(directory / "repro.py", script.encode())
            write_atomically(directory / "order.json", json.dumps(document).encode())
            self.ran += 1
            await self._end_of(directory)
        finally:
            self._going.pop(name).set()
        found = await anyio.to_thread.run_sync(outcome, directory)
        if order["kind"] in ("script", "program"):
            await anyio.to_thread.run_sync(_trim, directory)
        return found

    async def _end_of(self, directory: Path) -> None:
        while not (directory / "result.json").is_file():
            if self._stop.is_set():
                raise Cancelled
            if not self.alive:
                raise NoWorker("the processes that try candidates have ended")
            await anyio.sleep(EVERY_S)


@contextlib.asynccontextmanager
async def worker_pool(
    root: Path,
    log: Path,
    python: str,
    env: Mapping[str, str],
    cache: Path,
    stop: anyio.Event,
    machine: Machine,
    vec_isa: Sequence[str] | None = None,
) -> AsyncIterator[WorkerPool]:
    """Start a fork server below `root` and end it, with all that it started, on leaving or when
    this process is killed. Raise NoWorker where it cannot be started."""
    folder(root)
    (root / "ready.json").unlink(missing_ok=True)
    for left in root.iterdir():  # of a search that was killed
        if left.is_dir() and not (left / "result.json").is_file():
            shutil.rmtree(left, ignore_errors=True)
    found = WorkerPool(root, cache, stop, machine)
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        given = {"AOTI_DEBUG_VEC_ISA": ";".join(vec_isa)} if vec_isa is not None else {}
        tasks.start_soon(_serve, found, log, python, {**environment(env, cache), **given})
        try:
            with anyio.move_on_after(START_S):
                while not (root / "ready.json").is_file() and found.alive:
                    await anyio.sleep(EVERY_S)
            if not (root / "ready.json").is_file():
                raise NoWorker("no process could be started that imports torch")
            yield found
        except Exception as error:  # raised outside the group, which would wrap it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _serve(found: WorkerPool, log: Path, python: str, env: Mapping[str, str]) -> None:
    argv = (python, SCRIPT, "fork_server", str(found.root))
    command = Command(argv=argv, env=env, cwd=found.root, timeout_s=30 * DAY_S, grace_s=0.2)
    try:
        await run_process(command, log)
    finally:
        found.alive = False


def environment(env: Mapping[str, str], cache: Path) -> dict[str, str]:
    """Return the environment of candidates: the target's, unwatched, with a cache they share."""
    watching = ("AOTI_DEBUG_EVENTS", "AOTI_DEBUG_CAPTURE", "AOTI_DEBUG_RUN")
    return {
        **{name: value for name, value in env.items() if name not in watching},
        **ALWAYS,
        "TORCHINDUCTOR_CACHE_DIR": str(cache),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",  # candidates run side by side
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def outcome(directory: Path) -> OrderOutcome:
    result = json.loads((directory / "result.json").read_bytes())
    late = bool(result["timed_out"])
    ending = Ending(code=result["code"], signal=result["signal"], timed_out=late)
    observations = observe(directory, "", ending)
    stdout, stderr = text_of(directory / "stdout.log"), text_of(directory / "stderr.log")
    signature = of_reproduction(observations, stdout, stderr)
    return OrderOutcome(directory, signature, float(result["wall_s"]), stdout, stderr)


def text_of(path: Path) -> str:
    """Return the first and last bytes of a text that may be of any length."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            first = file.read(TEXT_BYTES)
            if size > 2 * TEXT_BYTES:
                file.seek(size - TEXT_BYTES)
            last = file.read(TEXT_BYTES)
    except OSError:
        return ""
    return (first + last).decode("utf-8", "replace")


def _trim(directory: Path) -> None:
    for path in directory.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name not in KEPT:
            path.unlink(missing_ok=True)


CANDIDATE = Demand(gpus=0, cores=1)  # GPUs are held by the search as a whole

T = TypeVar("T")


async def first(
    choices: Sequence[T], test: Callable[[T], Awaitable[bool]], machine: Machine
) -> int | None:
    """Return the number of the first interesting choice. They are tried in order, side by side;
    none is begun once one is interesting, and the answer does not depend on which ends first."""
    found: list[int] = []
    stop = anyio.Event()

    async def one(number: int) -> int | None:
        return number if await test(choices[number]) else None

    def on_result(number: int | None) -> None:
        if number is not None:
            found.append(number)
            stop.set()

    await dispatch(iter(range(len(choices))), Here(machine, one, CANDIDATE), on_result, stop)
    return min(found, default=None)


async def together(calls: Sequence[Callable[[], Awaitable[T]]], machine: Machine) -> list[T]:
    """Await all, each in a place of the machine; return their answers in order."""
    found: list[tuple[int, T]] = []

    async def one(number: int) -> tuple[int, T]:
        return number, await calls[number]()

    numbers = iter(range(len(calls)))
    await dispatch(numbers, Here(machine, one, CANDIDATE), found.append, anyio.Event())
    return [answer for _, answer in sorted(found, key=lambda one: one[0])]
