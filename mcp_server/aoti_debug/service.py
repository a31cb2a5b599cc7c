"""The runs of this process: they live here, not in the call that started them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import anyio
import anyio.abc

from aoti_debug.errors import AotiDebugError, UnknownRun
from aoti_debug.facts.stages import stage_named
from aoti_debug.model import StageAnswer, TriageAnswer
from aoti_debug.run.directory import RunDirectory, prune
from aoti_debug.triage.pipeline import run_named_stage, triage
from aoti_debug.triage.run_state import Cancelled, Request, RunState, so_far

__all__ = ["Answer", "Request", "Service"]

Answer = StageAnswer | TriageAnswer
OnProgress = Callable[[str], None]
ANSWER = "answer.json"


@dataclass
class _Live:
    work: RunState
    ended: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None
    error: BaseException | None = None


class Service:
    """Start runs, wait for them, end them. Leaving the context ends every run that goes on."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
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

    async def start_stage(self, request: Request, stage: str) -> str:
        """Start one stage and return the run's id.

        Raises:
            UnknownStage, RunDirectoryError
        """
        found = stage_named(stage)
        return await self._start(request, found.name, lambda work: run_named_stage(work, found))

    async def start_triage(self, request: Request) -> str:
        """Start a triage and return the run's id."""
        return await self._start(request, "triage", triage)

    async def wait(
        self, run: str, wait_s: float | None = None, on_progress: OnProgress | None = None
    ) -> Answer:
        """Return the run's answer, or what is known after `wait_s` with status `running`.

        Raises:
            UnknownRun: there is none of that id, here or in the run directories.
            AotiDebugError: what made the run impossible.
        """
        live = self._live.get(run)
        if live is None:
            return self._kept(run)
        if on_progress is not None:
            live.work.on_change = lambda: on_progress(live.work.doing)
        with anyio.move_on_after(wait_s):
            await live.ended.wait()
        if live.error is not None:
            raise live.error
        return live.answer or so_far(live.work)

    async def cancel(self, run: str) -> Answer:
        """End the run; its processes are gone when this returns."""
        live = self._live.get(run)
        if live is None:
            return self._kept(run)
        live.work.stop.set()
        await live.ended.wait()
        return live.answer or so_far(live.work)

    def running(self) -> list[str]:
        return [run for run, live in self._live.items() if not live.ended.is_set()]

    async def _start(
        self, request: Request, kind: str, road: Callable[[RunState], Awaitable[Answer]]
    ) -> str:
        await anyio.to_thread.run_sync(lambda: prune(at=self._home))
        work = RunState(request, RunDirectory.create(self._home), kind)
        work.record()
        live = self._live[work.directory.id] = _Live(work)
        self._tasks.start_soon(self._run, live, road)
        return work.directory.id

    async def _run(self, live: _Live, road: Callable[[RunState], Awaitable[Answer]]) -> None:
        work = live.work
        work.status = "cancelled"  # what it is if this task is ended from outside
        try:
            work.status = "running"
            live.answer = await road(work)
            work.status = "done"
        except Cancelled:
            work.status = "cancelled"
        except AotiDebugError as error:
            work.status, live.error = "failed", error
            work.notes.append(str(error))
        except Exception as error:  # a fault of ours ends this run, not the server and its others
            work.status, live.error = "failed", error
            work.notes.append(f"{type(error).__name__}: {error}")
        except BaseException:
            work.status = "failed" if work.status != "running" else "cancelled"
            raise
        finally:
            self._write(live)
            live.ended.set()

    def _write(self, live: _Live) -> None:
        work = live.work
        answer = live.answer or so_far(work)
        with contextlib.suppress(AotiDebugError, OSError):
            work.keep(ANSWER, {"kind": work.kind, "answer": answer.document()})
            work.record()

    def _kept(self, run: str) -> Answer:
        """Return the answer of a run of another process, or of an earlier one."""
        directory = RunDirectory.open(run, self._home)
        try:
            kept = json.loads((directory.path / ANSWER).read_bytes())
            model = TriageAnswer if kept["kind"] == "triage" else StageAnswer
            return model.model_validate(kept["answer"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            going = directory.is_running()
            what = "goes on in another process" if going else "left no answer"
            raise UnknownRun(
                f"run {run} {what}",
                help="Read its artifacts (read_artifact), such as run.json and stderr.log.",
            ) from error
