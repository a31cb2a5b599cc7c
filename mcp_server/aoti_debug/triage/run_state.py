"""One run in progress: its directory, steps, calls and costs so far, its stop, what is known."""

from __future__ import annotations

import contextlib
import math
import shlex
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import anyio
import psutil
from pydantic import ConfigDict

from aoti_debug.diagnose import Observations
from aoti_debug.errors import RunDirectoryError
from aoti_debug.model import Cost, Diagnosis, Step
from aoti_debug.record.counts import CallCounts, read_call_counts
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import is_regular, read_regular
from aoti_debug.run.kept import Kept
from aoti_debug.run.process import Command, Exit, OnStart, OnTimeout, Progress, run_process
from aoti_debug.run.target import Target
from aoti_debug.run.turns import Turns
from aoti_debug.triage.debuggers import process_tree
from aoti_debug.triage.observe import SANITIZER, STACKS, TOLD, observe

CALLS = "calls"
FILES = 256  # of processes, that are read each second
RECENT_S = 10.0


class Counter:
    """Reads the call counters in a run's directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / CALLS
        self.calls = 0
        self.bad = False  # a call broke the contract, or gave NaN or Inf that others did not
        self._changed = 0.0
        self._grew = False  # between two looks: one burst of calls is no traffic

    def words(self) -> str:
        """Return ", 4,210 calls (13 break the contract)"; nothing before the first call."""
        found = self._read()
        if not self.calls:
            return ""
        bad, unjudged = sum(one.broken for one in found), sum(one.unjudged for one in found)
        more = [f"{bad:,} break{'s' * (bad == 1)} the contract"] if bad else []
        more += [f"{unjudged:,} not judged"] if unjudged else []
        calls = f", {self.calls:,} call{'s' * (self.calls > 1)}"
        return calls + (f" ({', '.join(more)})" if more else "")

    def going_on(self, pid: int) -> bool:
        """Tell whether the program makes calls, or listens for requests that would make it."""
        found = self._read()
        recent = time.monotonic() - self._changed < RECENT_S
        # Where nothing but calls under way is left, each process waits in one.
        stuck = not recent and all(one.under_way for one in found)
        return bool(self.calls) and not stuck and ((recent and self._grew) or listens(pid))

    def _read(self) -> list[CallCounts]:
        found: list[CallCounts] = []
        with contextlib.suppress(OSError):
            for path in sorted(self._directory.glob("*.bin"))[:FILES]:
                counts = read_call_counts(0, read_regular(path)) if is_regular(path) else None
                found += [counts] if counts is not None else []
        self.bad = self.bad or any(one.odd or one.broken > 0 for one in found)
        groups = sum(count for one in found for count, _ in one.groups.values())
        calls = groups + sum(one.others for one in found)
        if calls != self.calls:
            self._grew = self._grew or self.calls > 0
            self.calls, self._changed = calls, time.monotonic()
        return found


def listens(pid: int) -> bool:
    for process in process_tree(pid):
        with contextlib.suppress(psutil.Error, OSError):
            if any(c.status == psutil.CONN_LISTEN for c in process.net_connections("tcp")):
                return True
    return False


DIAGNOSIS = "diagnosis.json"
HIDDEN = frozenset(("cache", "calls", ".key"))
ON_TIMEOUT_S = 125.0  # for the stacks and the GPU core of a hang


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks for. `imports` are modules that register the model's custom ops."""

    __pydantic_config__: ClassVar = ConfigDict(arbitrary_types_allowed=True)  # of `uses`

    target: Target
    _: KW_ONLY
    timeout_s: float = 900.0
    capture: bool = True
    python: str | None = None
    imports: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    watch_for_s: float | None = None  # a target that does not end by itself
    stop_at_first: bool = False  # bad call: what is known is diagnosed
    search_s: float | None = None  # for the compiles of a search; None: one compile
    verifies: bool = False  # the patch that a triage proposes
    holds_gpus: bool = True  # False: who started it holds them
    uses: tuple[Kept, ...] = ()  # not to be removed meanwhile


class Cancelled(Exception):
    """The user asked for the end of the run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One process that has ended, and what it left."""

    directory: Path
    exit: Exit
    observations: Observations


@dataclass
class RunState:
    """The state of one run, which its waiters read while it goes on."""

    request: Request
    directory: RunDirectory
    kind: str  # "triage" or the name of a stage
    stop: anyio.Event = field(default_factory=anyio.Event)
    enough: anyio.Event = field(default_factory=anyio.Event)  # of watching; on with what was seen
    bad_enough: Callable[[], bool] = lambda: True  # a bad call, to stop there; asked each second
    began: float = field(default_factory=time.time)
    doing: str = "starting"
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    diagnosis: Diagnosis | None = None
    found: str = ""  # in place of a diagnosis
    directories: int = 0  # of steps that were made
    process_runs: int = 0
    calls: int = 0  # of loaded models, by the process that runs now
    recompiles: int = 0
    peak_rss: int = 0  # bytes, of the largest process
    torch: str | None = None
    status: str = "running"
    ended: Exit | None = None  # the target itself
    on_change: Callable[[], None] = lambda: None
    client: str | None = None  # whose run it is, where a server has several clients
    gpus: defaultdict[Hashable, Turns] = field(default_factory=lambda: defaultdict(Turns))
    gpu_wait_s: float = 0.0  # for runs of other processes

    @property
    def home(self) -> Path:
        return self.directory.path.parent.parent

    def say(self, doing: str) -> None:
        known = self.diagnosis
        if known is not None and known.found_fault and known.confidence != "possible":
            doing = f"{doing}; so far {known.confidence}: {known.summary}"
        self.doing = doing
        self.on_change()

    def record(self) -> None:
        """Write run.json, so that a killed server leaves a readable directory."""
        document = {
            "status": self.status,
            "kind": self.kind,
            "command": shlex.join(self.request.target.argv),
            "label": self.request.target.label,
            "cwd": str(self.request.target.cwd),
            "started": self.began,
            "wall_s": round(time.time() - self.began, 3),
            "exit": self.ended.how if self.ended else None,
            "ended": self.ended.ending.model_dump() if self.ended else None,
            "script_s": self.ended.wall_s if self.ended else None,
            "peak_rss": self.ended.peak_rss if self.ended else self.peak_rss,
            "torch": self.torch,
            "summary": self.found or (self.diagnosis.summary if self.diagnosis else None),
            "steps": [step.document() for step in self.steps],
            "notes": self.notes,
        }
        self.written(lambda: self.directory.write_record(document))

    def written(self, write: Callable[[], None]) -> None:
        """Write what the answer also tells; a disk that is full takes nothing of it."""
        try:
            write()
        except RunDirectoryError as error:
            if str(error) not in self.notes:
                self.notes.append(str(error))

    def cost(self) -> Cost:
        return Cost(
            process_runs=self.process_runs,
            recompiles=self.recompiles,
            wall_s=round(time.time() - self.began, 1),
        )

    def done(self, step: Step) -> None:
        self.steps.append(step)
        self.record()

    def impossible(self, name: str, why: str, why_not: str) -> None:
        self.done(Step(name=name, status="impossible", why=why, finding=why_not))

    def below(self, directory: Path) -> str:
        return directory.relative_to(self.directory.path).as_posix()

    def step(self, name: str, why: str, ran: Ran, finding: str | None = None) -> Step:
        """Return the step that a process was."""
        return Step(
            name=name,
            status="done",
            why=why,
            finding=finding,
            exit=ran.exit.how,
            ended_well=ran.exit.ok or None,
            wall_s=round(ran.exit.wall_s, 2),
            artifact=None if ran.directory == self.directory.path else self.below(ran.directory),
        )

    def artifacts(self) -> list[str]:
        """List the run's files for a reader, without compile caches and the probe's counters."""
        return [name for name in self.directory.artifacts() if HIDDEN.isdisjoint(name.split("/"))]

    def keep(self, name: str, document: Mapping[str, Any]) -> None:
        self.written(lambda: self.directory.write(name, document))

    def subdirectory(self, name: str) -> Path:
        """Make the directory of the next step; steps side by side have numbers of their own."""
        self.directories += 1
        return self.directory.subdirectory(f"steps/{self.directories + 1:02d}-{name}", new=True)

    async def run(
        self,
        name: str,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        directory: Path,
        *,
        cwd: Path | None = None,
        timeout_s: float | None = None,
        watch_for_s: float | None = None,
        on_timeout: OnTimeout | None = None,
        on_start: OnStart | None = None,
        torch: str | None = None,
    ) -> Ran:
        """Run one process within its limits and read what it left; raise Cancelled on a stop."""
        command = Command(
            argv,
            env,
            cwd or self.request.target.cwd,
            self.request.timeout_s if timeout_s is None else timeout_s,
            watch_for_s=math.inf if watch_for_s is None else watch_for_s,
            on_timeout_s=ON_TIMEOUT_S,
        )
        self.process_runs += 1
        self.say(name)
        self.record()
        counter, first = Counter(directory), not self.steps  # the target itself, and not a replay
        ended = await run_process(
            command,
            directory,
            on_progress=lambda now: self._progress(name, counter, now, first=first),
            on_timeout=on_timeout,
            on_start=on_start,
            stop=self.stop,
            enough=self.enough if first else None,
            serving=counter.going_on,
        )
        self.peak_rss, self.torch = max(self.peak_rss, ended.peak_rss), torch or self.torch
        self.directory.check(f"{name} ended with {ended.how}, and ")
        self.notes.extend(f"{name}: {note}" for note in (*ended.notes, *dropped(ended)))
        if ended.cancelled or self.stop.is_set():
            raise Cancelled
        asked = {*argv, *env.values()}  # files that we had other programs write
        ours = {name for name in (*TOLD, SANITIZER) if str(directory / name) in asked}
        if ended.timed_out and on_timeout is not None:
            ours.add(STACKS)
        below = self.below(directory)
        prefix = "" if below == "." else f"{below}/"
        left = directory, prefix, ended.ending, torch, ours
        return Ran(directory, ended, await anyio.to_thread.run_sync(observe, *left))

    def _progress(self, name: str, counter: Counter, now: Progress, *, first: bool) -> None:
        """Say how far a process is; end the first one after a bad call where that is enough."""
        tail = f": {now.last_line}" if now.last_line else ""
        known = counter.bad  # a second ago: its inputs are kept by now
        calls = counter.words()
        if known and first and self.request.stop_at_first and self.bad_enough():
            self.enough.set()
        self.calls = counter.calls
        self.say(f"{name}, {now.elapsed_s:.0f} s{calls}{tail}")


def dropped(ended: Exit) -> list[str]:
    """Say what of a process's output was not kept."""
    return [
        f"{kept.dropped:,} of {kept.bytes:,} bytes of {stream} were dropped from its middle"
        for stream, kept in (("stdout", ended.stdout), ("stderr", ended.stderr))
        if kept.dropped
    ]
