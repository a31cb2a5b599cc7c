"""Run one command: its tree of processes, its time, its output, its end."""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from anyio import CancelScope, to_thread

from aoti_debug.errors import CannotStart, RunDirectoryError
from aoti_debug.run import launcher
from aoti_debug.run.files import folder
from aoti_debug.run.output import ProcessOutput, Stream
from aoti_debug.run.share import counted
from aoti_debug.run.target import Command as Command
from aoti_debug.run.target import Exit as Exit
from aoti_debug.run.target import Progress as Progress
from aoti_debug.run.target import signal_name

PROGRESS_S = 1.0
LINE_LIMIT = 4096  # bytes of a line of the launcher
START_S = 60.0  # for the launcher on a busy machine; the program's own time begins after it
OnTimeout = Callable[[int], Awaitable[None]]
OnStart = Callable[[int], None]


async def run_process(
    command: Command,
    directory: Path,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    on_timeout: OnTimeout | None = None,
    on_start: OnStart | None = None,
    stop: anyio.Event | None = None,
    enough: anyio.Event | None = None,
    serving: Callable[[int], bool] = lambda _: False,
) -> Exit:
    """Run `command` and write stdout.log and stderr.log into `directory`; no process of the tree is
    left. Cancelling ends the tree and raises. `stop` ends it as `cancelled`; `enough`,
    `watch_for_s`, or a time-out while `serving` as watched long enough. Raise CannotStart or
    RunDirectoryError."""
    try:
        folder(directory)
        output = ProcessOutput(directory, command.output_cap)
    except OSError as error:
        raise RunDirectoryError(f"cannot write logs in {directory}: {error.strerror}") from error
    run = _Run(command, output, on_timeout, on_start)
    try:
        async with run.launched(), anyio.create_task_group() as tasks:
            if on_progress is not None:
                tasks.start_soon(run.report, on_progress)
            if stop is not None:
                tasks.start_soon(run.obey, stop)
            if enough is not None:
                tasks.start_soon(run.suffice, enough)
            await run.watch(serving)
            tasks.cancel_scope.cancel()
    finally:
        with CancelScope(shield=True):  # in a thread, since it may move half a cap of bytes
            streams = await to_thread.run_sync(output.close)
    return run.exit(*streams)


@dataclass
class _Run:
    """One run from its launch to its end; `launched` must enclose the rest."""

    _command: Command
    _output: ProcessOutput
    _on_timeout: OnTimeout | None
    _on_start: OnStart | None
    _mark: str = field(default_factory=lambda: secrets.token_hex(8))
    _secret: str = field(default_factory=lambda: secrets.token_hex(16))
    _began: float = field(default_factory=anyio.current_time)
    _facts: dict[str, Any] = field(default_factory=dict)  # all that the launcher has said
    _unread: bytes = b""
    _timed_out: bool = False
    _enough: bool = False
    _stopped: bool = False
    _notes: list[str] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def launched(self) -> AsyncIterator[None]:
        out, err = self._output.ends
        # Not inherited: an LD_PRELOAD or PYTHON* meant for the program must not reach the launcher.
        argv = [sys.executable, "-I", "-S", launcher.__file__, str(out)]
        try:
            self._process = await anyio.open_process(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=err,
                pass_fds=(out,),
                start_new_session=True,
            )
        except OSError as error:
            raise CannotStart(f"cannot start {argv[0]}: {error.strerror}") from error
        self._output.close_ends()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pump)
            try:
                with counted(self._process.pid):
                    yield
            finally:
                with CancelScope(shield=True):
                    await self._end()

    async def _pump(self) -> None:
        with CancelScope(shield=True):
            await to_thread.run_sync(self._output.pump, limiter=anyio.CapacityLimiter(1))

    async def watch(self, serving: Callable[[int], bool]) -> None:
        await self._order()
        limit = START_S
        with anyio.move_on_after(START_S) as clock:
            await self._until("pid", "errno")
            if "errno" in self._facts:
                return
            limit = min(self._command.timeout_s, self._command.watch_for_s)
            clock.deadline = anyio.current_time() + limit
            if self._on_start is not None:
                self._on_start(self._facts["pid"])
            await self._until("status")
        if clock.cancelled_caught:
            pid = self._facts.get("pid", 0)
            if limit == self._command.watch_for_s or await to_thread.run_sync(serving, pid):
                self._enough = True
            else:
                self._timed_out = True
                await self._ask_for_stacks()

    async def _order(self) -> None:
        command = self._command
        env = {**command.env, launcher.MARK: self._mark}
        what = (list(command.argv), env, str(command.cwd), command.grace_s)
        data = marshal.dumps((*what, self._mark, self._secret))
        assert self._process.stdin is not None
        with contextlib.suppress(anyio.BrokenResourceError):
            await self._process.stdin.send(len(data).to_bytes(8, "big") + data)

    async def _until(self, *keys: str) -> None:
        """Read what the launcher says until it has said one of `keys`, or has ended."""
        assert self._process.stdout is not None
        while not any(key in self._facts for key in keys):
            try:
                self._unread += await self._process.stdout.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return
            *lines, self._unread = self._unread.split(b"\n")
            self._unread = self._unread[-LINE_LIMIT:]
            for line in lines:
                secret, _, said = line.partition(b" ")
                if secret == self._secret.encode():
                    self._facts.update(_numbers(said))

    async def _ask_for_stacks(self) -> None:
        if self._on_timeout is None or "pid" not in self._facts:
            return
        try:
            with anyio.move_on_after(self._command.on_timeout_s) as clock:
                await self._on_timeout(self._facts["pid"])
            if clock.cancelled_caught:
                self._notes.append(f"gave up on stacks after {self._command.on_timeout_s:g} s")
        except Exception as error:  # the tree must be ended and the result told all the same
            self._notes.append(f"no stacks: {type(error).__name__}: {error}"[:300])

    async def report(self, on_progress: Callable[[Progress], None]) -> None:
        while True:
            await anyio.sleep(PROGRESS_S)
            output = self._output
            try:
                on_progress(Progress(self._elapsed(), output.bytes, output.last_line()))
            except Exception as error:  # who listens must not end what it listens to
                self._notes.append(f"progress ended: {type(error).__name__}: {error}"[:300])
                return

    async def obey(self, stop: anyio.Event) -> None:
        await stop.wait()
        self._stopped = "status" not in self._facts
        await self._close_control()

    async def suffice(self, enough: anyio.Event) -> None:
        await enough.wait()
        self._enough = "status" not in self._facts
        await self._close_control()

    async def _close_control(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await self._process.stdin.aclose()

    async def _end(self) -> None:
        """End the tree, then the launcher, then the copying of output."""
        await self._close_control()
        limit = launcher.SETTLE_S + self._command.grace_s + launcher.KILL_S + 0.5
        with anyio.move_on_after(limit):
            await self._until("left", "errno")
            await self._process.wait()
        if "left" not in self._facts and "errno" not in self._facts:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            self._facts["strays"] = await to_thread.run_sync(launcher.sweep, self._mark)
            if not self._stopped:
                self._notes.append("the process that watched the program was ended from outside")
        if left := self._facts.get("left"):
            self._notes.append(f"{left} processes could not be ended, even with SIGKILL")
        self._output.stop()
        await self._process.aclose()

    def _elapsed(self) -> float:
        return anyio.current_time() - self._began

    def exit(self, stdout: Stream, stderr: Stream) -> Exit:
        facts = self._facts
        if "errno" in facts:  # raised here because a task group would wrap it
            argv, cwd = self._command.argv, self._command.cwd
            what = f"in {cwd}" if facts["step"] == launcher.STEP_CHDIR else argv[0]
            raise CannotStart(f"cannot start {what}: {os.strerror(facts['errno'])}")
        status = facts.get("status")
        signalled = status is None or os.WIFSIGNALED(status)
        number = os.WTERMSIG(status) if status is not None else signal.SIGKILL
        for name, stream in (("stdout", stdout), ("stderr", stderr)):
            if stream.lost:
                lost = f"{stream.lost:,} bytes of {name} were lost"
                ended = f"; its last line was: {stream.last_words}" if stream.last_words else ""
                self._notes.append(f"{lost}: {stream.why_lost}{ended}")
        return Exit(
            code=None if signalled else os.WEXITSTATUS(status or 0),
            signal=signal_name(number) if signalled else None,
            core=signalled and status is not None and os.WCOREDUMP(status),
            timed_out=self._timed_out,
            enough=self._enough,
            cancelled=self._stopped and not self._timed_out,
            wall_s=facts.get("wall") or self._elapsed(),
            peak_rss=facts.get("rss", 0),
            pid=facts.get("pid", 0),
            strays=facts.get("strays", 0),
            stdout=stdout,
            stderr=stderr,
            timeout_s=self._command.timeout_s,
            notes=tuple(self._notes),
        )


def _numbers(line: bytes) -> dict[str, Any]:
    """Read what a line of the launcher says; nothing of one that it cannot have written."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(said, dict):
        return {}
    exact = {key: value for key, value in said.items() if isinstance(value, int)}
    wall = {"wall": said["wall"]} if isinstance(said.get("wall"), float) else {}
    return {**exact, **wall, **({"status": None} if said.get("status", 0) is None else {})}
