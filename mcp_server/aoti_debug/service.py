"""The runs of this process: they live here, not in the call that started them."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import anyio
import anyio.abc

from aoti_debug.errors import AotiDebugError, UnknownRun, WrongUse, in_words
from aoti_debug.kinds import A, Kind, R, kind_named
from aoti_debug.model import ANSWER, RunModel
from aoti_debug.run.directory import RunDirectory, prune
from aoti_debug.run.files import read_regular
from aoti_debug.run.kept import Kept, named_in
from aoti_debug.run.share import GOING, going
from aoti_debug.run.turns import Turns
from aoti_debug.triage.run_state import Cancelled, Request, RunState

__all__ = ["Request", "Service"]

OnProgress = Callable[[str], None]
RUNS = 8  # of one client at a time
ANSWER_BYTES = 1 << 18  # no run of ours leaves more; what has it read holds the event loop
REMEMBERED = 32  # runs that have ended, of which the answer stays here; the others' are read again


@dataclass
class _Live:
    kind: Kind[Any, Any]
    work: RunState
    used: list[Kept]  # what must be there until it ends
    ended: anyio.Event = field(default_factory=anyio.Event)
    answer: RunModel | None = None
    error: BaseException | None = None
    listeners: list[OnProgress] = field(default_factory=list)

    def tell(self) -> None:
        for listener in tuple(self.listeners):
            listener(self.work.doing)

    def now(self) -> RunModel:
        """Return the answer, or what is known of it."""
        return self.answer or self.kind.answer(**_known(self.kind, self.work))


class Service:
    """Start runs, wait for them, end them; leaving the context ends all. Clients take turns at the
    GPUs; `gpu_wait_s` is for other processes'. `apart`: a process of its own reads a target."""

    def __init__(
        self,
        home: Path | None = None,
        gpu_wait_s: float = 0.0,
        *,
        prunes: bool = True,
        apart: bool = False,
    ) -> None:
        self._home = home
        self._apart = apart
        self._prunes = prunes  # False: who started this process counts the runs that are kept
        self._gpus: defaultdict[Hashable, Turns] = defaultdict(Turns)
        self._gpu_wait_s = gpu_wait_s
        self._live: dict[str, _Live] = {}

    async def __aenter__(self) -> Service:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        self._tasks.cancel_scope.cancel()
        if isinstance(error, Exception):  # of the caller's own: it goes on as it is, in no group
            await self._tasks.__aexit__(None, None, None)
            return False
        return await self._tasks.__aexit__(kind, error, trace)

    async def start(self, kind: Kind[R, A], request: R, owner: str | None = None) -> str:
        """Start a run and return its id; only its owner then sees it. Raise RunDirectoryError,
        UnreadableInput for another owner's files, WrongUse where the owner has too many runs."""
        if owner is not None and GOING[owner] >= RUNS:
            raise WrongUse(
                f"{RUNS} of your runs are going on, which is the most",
                help="Wait for one (wait_run), or end one (cancel_run).",
            )
        GOING[owner] += 1
        try:
            return await self._started(kind, request, owner)
        except BaseException:
            GOING[owner] -= 1
            raise

    async def _started(self, kind: Kind[R, A], request: R, owner: str | None) -> str:
        used = await anyio.to_thread.run_sync(_held, request, owner, self._home)
        if self._prunes:
            await anyio.to_thread.run_sync(lambda: prune(at=self._home, owner=owner))
        directory = await anyio.to_thread.run_sync(RunDirectory.create, self._home, owner)
        work = RunState(
            request,
            directory,
            kind.name,
            client=owner,
            gpus=self._gpus,
            gpu_wait_s=self._gpu_wait_s,
        )
        work.record()
        live = self._live[directory.id] = _Live(kind, work, used)
        work.on_change = live.tell
        self._tasks.start_soon(self._run, live, request)
        return directory.id

    async def wait(
        self,
        run: str,
        wait_s: float | None = None,
        on_progress: OnProgress | None = None,
        owner: str | None = None,
    ) -> RunModel:
        """Return the run's answer, or what is known after `wait_s` with status `running`. Raise
        UnknownRun, and the AotiDebugError that made the run impossible."""
        live = self._live.get(run)
        if live is None or not live.work.directory.belongs_to(owner):
            return await anyio.to_thread.run_sync(self._kept, run, owner)
        if on_progress is not None:
            live.listeners.append(on_progress)
        try:
            with anyio.move_on_after(wait_s):
                await live.ended.wait()
        finally:
            if on_progress is not None:
                live.listeners.remove(on_progress)
        if live.error is not None:
            raise live.error
        return await anyio.to_thread.run_sync(live.now)

    async def cancel(self, run: str, owner: str | None = None) -> RunModel:
        """End the run; its processes are gone when this returns."""
        live = self._live.get(run)
        if live is None or not live.work.directory.belongs_to(owner):
            return await anyio.to_thread.run_sync(self._kept, run, owner)
        live.work.stop.set()
        await live.ended.wait()
        return await anyio.to_thread.run_sync(live.now)

    def suffice(self, run: str) -> bool:
        """End the watching of a run's target, and go on with what was seen; False where that has
        been asked for before, or is over, or nothing was seen yet."""
        live = self._live.get(run)
        if live is None or live.work.enough.is_set() or live.work.steps or not live.work.calls:
            return False
        live.work.enough.set()
        return True

    def running(self) -> list[str]:
        return [run for run, live in self._live.items() if not live.ended.is_set()]

    async def _run(self, live: _Live, request: Request) -> None:
        work = live.work
        work.status = "cancelled"  # what it is if this task is ended from outside
        try:
            work.status = "running"
            with going(work.client, short=False):
                live.answer = await self._answer(live.kind, work, request)
            work.status = "done"
        except Cancelled:
            work.status = "cancelled"
        except Exception as error:  # a fault of ours ends this run, not the server and its others
            work.status, live.error = "failed", error
            work.notes.append(in_words(error))
        except BaseException:
            work.status = "failed" if work.status != "running" else "cancelled"
            raise
        finally:
            try:
                self._write(live)
            finally:  # whatever that met: who waits must not wait for ever
                live.ended.set()
                GOING[work.client] -= 1
                for kept in (work.directory, *live.used):
                    kept.release()
                self._forget()

    async def _answer(self, kind: Kind[R, A], work: RunState, request: R) -> A:
        if not self._apart or kind.apart:
            return await kind.start(work, request)
        from aoti_debug.apart import apart

        return await apart(kind, work, request)

    def _forget(self) -> None:
        for run in [run for run, live in self._live.items() if live.ended.is_set()][:-REMEMBERED]:
            del self._live[run]

    def _write(self, live: _Live) -> None:
        work = live.work
        with contextlib.suppress(AotiDebugError, OSError, RecursionError):
            work.keep(ANSWER, {"kind": live.kind.name, "answer": live.now().document()})
            work.record()

    def _kept(self, run: str, owner: str | None) -> RunModel:
        """Return the answer of a run of another process, or of an earlier one."""
        directory = RunDirectory.open(run, self._home, owner)
        try:
            kept = json.loads(read_regular(directory.path / ANSWER, ANSWER_BYTES))
            answer: RunModel = kind_named(kept["kind"]).answer.model_validate(kept["answer"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, AotiDebugError) as error:
            what = "goes on in another process" if directory.is_running() else "left no answer"
            raise UnknownRun(
                f"run {run} {what}",
                help="Read its artifacts (read_artifact), such as run.json and stderr.log.",
            ) from error
        return answer


def _held(request: Request, owner: str | None, home: Path | None) -> list[Kept]:
    """Hold the folders of the home that a request names, so that no other one removes them."""
    target = request.target
    given = (value for name, value in target.env.items() if os.environ.get(name) != value)
    named = named_in((str(target.cwd), *target.argv, *given), target.cwd, owner, home)
    return [kept for kept in (*request.uses, *named) if kept.hold()]


def _known(kind: Kind[Any, Any], work: RunState) -> dict[str, Any]:
    """Return the fields of the answer of a run that has none yet: it goes on, or was ended."""
    now = [f"now: {work.doing}"] if work.status == "running" else []
    known = {
        "run": work.directory.id,
        "status": work.status,
        "stage": kind.name,
        "diagnosis": work.diagnosis,
        "steps": list(work.steps),
        "artifacts": work.artifacts(),
        "notes": [*work.notes, *now],
    }
    return {name: value for name, value in known.items() if name in kind.answer.model_fields}
