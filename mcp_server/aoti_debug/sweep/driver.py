"""The road of a sweep: plan, run what has no row yet, group the failures, judge, write results."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from aoti_debug.errors import AotiDebugError
from aoti_debug.model import Next
from aoti_debug.plain import times
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.executor import Executor, dispatch
from aoti_debug.run.files import copy, folder, remove_tree, write_atomically
from aoti_debug.run.kept import make, own_name
from aoti_debug.signals import in_thread
from aoti_debug.sweep.answer import SweepAnswer
from aoti_debug.sweep.buckets import Groups, compare, regressed
from aoti_debug.sweep.files import write_results
from aoti_debug.sweep.plan import Planned
from aoti_debug.sweep.request import HISTORY, KEEP, SweepRequest, dry_run, earlier, history, slug
from aoti_debug.sweep.row import (
    LEDGER,
    Done,
    End,
    Head,
    Ledger,
    LedgerError,
    Row,
    end_of,
    read_head,
    rows_of,
)
from aoti_debug.sweep.workers import local
from aoti_debug.triage.run_state import Cancelled, RunState

SAY_S = 0.5
SHOWN = 50  # buckets of an answer; the others stand in the results
COUNTED = ("targets", "finished", "ok", "failed", "errors", "flaky_targets")


class Workers(Executor[Planned, Row], Protocol):
    @property
    def workers(self) -> str: ...


@dataclass(slots=True)
class Count:
    targets: int
    ok: int = 0
    failed: int = 0
    errors: int = 0
    flaky_targets: int = 0
    proved: int = 0
    seconds: float = 0.0

    @property
    def finished(self) -> int:
        return self.ok + self.failed + self.errors

    def add(self, row: Row) -> None:
        self.ok += row.outcome == "ok"
        self.failed += row.outcome == "failed"
        self.errors += row.outcome == "error"
        self.flaky_targets += row.flaky
        self.proved += row.outcome == "failed" and row.confidence == "proved"
        self.seconds += row.wall_s

    def __str__(self) -> str:
        bad = "".join(
            f", {count:,} {what}"
            for count, what in ((self.failed, "failed"), (self.errors, "could not be run"))
            if count
        )
        return f"{self.finished:,} of {times(self.targets, 'target')}{bad}"


class Sweep:
    def __init__(self, work: RunState, request: SweepRequest) -> None:
        self.work = work
        self.request = request
        self.plan = request.plan
        self.count = Count(self.plan.count)
        self.groups = Groups()
        self.began = time.monotonic()
        self._said = 0.0
        self._new = 0
        self._runs: set[str | None] = set()  # of the targets that this process had run
        before = request.resume.parent if request.resume else None
        self.out: Path = request.out or before or work.directory.path

    async def run(self, executor: Workers, ledger: Ledger, done: Done) -> None:
        """Run every target that has no row yet."""
        measured, _ = await anyio.to_thread.run_sync(
            earlier, self.plan.manifest.name, self.plan.count, self.work.client
        )

        def left() -> Iterator[Planned]:
            for planned in self.plan.targets():
                if planned.index not in done:
                    yield with_measured(planned, measured.get(planned.name))

        def on_row(row: Row) -> None:
            if self.work.stop.is_set():
                return  # it was ended, and is run again by who resumes
            if done.add(row.index):
                ledger.add(row)
                self._new += 1
                self._runs.add(row.run)
                for path in self.add(row):
                    tasks.start_soon(anyio.to_thread.run_sync, remove_tree, path)
                self.request.watch(row)
                self.say()

        self.work.say(f"{self.count}; {executor.workers}")
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            try:
                await dispatch(left(), executor, on_row, self.work.stop)
            except Exception as error:  # outside the group it keeps its own type
                failure = error
        if failure is not None:
            raise failure
        if self.work.stop.is_set():
            raise Cancelled

    def add(self, row: Row) -> list[Path]:
        """Count a row; return the runs that are not needed any more, for there are others alike."""
        self.count.add(row)
        found: list[Path] = []
        for run in self.groups.add(row):
            if run in self._runs:  # and not one that an old row names
                with contextlib.suppress(AotiDebugError):
                    found.append(RunDirectory.open(run, owner=self.work.client).path)
        return found

    def say(self) -> None:
        now = time.monotonic()
        if now - self._said < SAY_S:
            return
        self._said = now
        rate = self._new / (now - self.began)
        left = (self.count.targets - self.count.finished) / rate if rate else 0.0
        left_in = f"{left / 60:.0f} min" if left > 120 else f"{left:.0f} s"
        self.work.say(f"{self.count}, {60 * rate:.1f} a minute, {left_in} left")

    def answer(self, baseline: Path | None, stop: threading.Event) -> SweepAnswer:
        count, request = self.count, self.request
        gone = Groups()
        if baseline is not None:
            head = read_head(baseline)
            here = request.revision or self.work.directory.id
            before = Groups(takewhile(lambda _: not stop.is_set(), rows_of(baseline)))
            end = end_of(baseline)
            was = head.revision or head.sweep
            gone = compare(self.groups, before, end.since if end else {}, here, was)
        new = sum(group.state != "still" for group in self.groups)
        bad, reason = {
            "any": (count.failed, f"{times(count.failed, 'target')} failed"),
            "proved": (count.proved, f"{times(count.proved, 'diagnosis', 'diagnoses')} proved"),
            "new": (new, times(new, "new bucket")),
        }[request.fail_on]
        undecided = count.errors and not bad
        if undecided:
            reason = f"{times(count.errors, 'target')} could not be run"
        buckets = [group.answer() for group in self.groups]
        notes = [*(regressed(self.groups, baseline) if baseline else ()), *self.work.notes]
        if len(buckets) > SHOWN:
            notes.append(f"{len(buckets) - SHOWN} more buckets in buckets.jsonl")
        return SweepAnswer(
            run=self.work.directory.id,
            status="done",
            name=self.plan.manifest.name,
            **{name: getattr(count, name) for name in COUNTED},
            result="bad" if bad else "undecided" if undecided else "good",
            reason=reason,
            buckets=buckets[:SHOWN],
            gone=[group.answer() for group in islice(gone, SHOWN)],
            next=next_steps(self.groups),
            notes=notes,
        )


def with_measured(planned: Planned, row: Row | None) -> Planned:
    """Add what the last sweep measured of a target to what it is said to need."""
    if row is None:
        return planned
    said = planned.demand
    memory, on_gpu = said.memory or row.memory, said.gpu_memory or row.gpu_memory
    return replace(planned, demand=replace(said, memory=memory, gpu_memory=on_gpu))


def next_steps(groups: Groups) -> list[Next]:
    found = []
    for group in list(groups)[:3]:
        run = group.smallest.run or group.first.run
        if run and group.first.category not in ("user_code", None):
            why = f"a reproduction of {group.id}, of {times(group.targets, 'target')}"
            found.append(Next(tool="minify", arguments={"what": run}, why=why))
    return found


async def sweep(work: RunState, request: SweepRequest) -> SweepAnswer:
    """Do the whole of it; what has a row stays. Raise LedgerError or Cancelled."""
    work.notes.extend(request.said)
    if request.dry:
        return await anyio.to_thread.run_sync(dry_run, work, request)
    this = Sweep(work, request)
    head = Head(
        sweep=work.directory.id,
        name=this.plan.manifest.name,
        plan=this.plan.digest,
        targets=this.plan.count,
        manifest=request.target.argv[-1],
        revision=request.revision,
        began=time.time(),
    )
    if this.out != work.directory.path:
        try:
            folder(this.out)
        except OSError as error:
            raise LedgerError(f"cannot write into {this.out}: {error.strerror}") from error
        write_atomically(work.directory.path / "out.txt", str(this.out).encode())
    path = request.resume or this.out / LEDGER
    opened = Ledger.resume(path) if request.resume else Ledger.create(path, head)
    with contextlib.closing(opened) as ledger:
        done = Done(this.plan.count)
        if request.resume:
            await anyio.to_thread.run_sync(_read_done, this, done, path)
        if done.rows < this.plan.count:
            async with executor_for(work, request) as executor:
                await this.run(executor, ledger, done)
        answer = await in_thread(partial(this.answer, request.baseline))
        since = {group.id: group.since or head.revision or head.sweep for group in this.groups}
        ledger.add(End(ended=time.time(), since=since))
    work.say("writing the results")
    files = await anyio.to_thread.run_sync(
        write_results,
        answer,
        path,
        this.out,
        this.groups,
        request.plan.manifest.root,
        history(answer.name or "sweep", work.client),
    )
    await anyio.to_thread.run_sync(_remember, path, this.plan.manifest.name, work)
    return answer.model_copy(update={"files": [str(file) for file in files]})


def executor_for(work: RunState, request: SweepRequest) -> AbstractAsyncContextManager[Workers]:
    if request.ray is not None:
        from aoti_debug.sweep.workers import on_ray

        return on_ray(request.ray, request.jobs, work.say)
    return local(work, request.jobs)


def _read_done(this: Sweep, done: Done, path: Path) -> None:
    for row in rows_of(path):
        done.add(row.index)
        this.add(row)
    before = times(done.rows, "target")
    this.work.notes.append(f"{before} had been run before, each counted once")


def _remember(path: Path, name: str, work: RunState) -> None:
    """Keep the rows of a sweep that ended, for the next one's baseline, cost and history."""
    with contextlib.suppress(OSError, AotiDebugError):
        kept = make(HISTORY, own_name(slug(name), work.client), work.client)
        temporary = kept.path / f".{work.directory.id}"
        copy(path, temporary)
        temporary.replace(kept.path / f"{work.directory.id}.jsonl")
        with kept.alone() as free:  # one of them may be another sweep's baseline
            for old in history(name, work.client)[:-KEEP] if free else ():
                old.unlink()
