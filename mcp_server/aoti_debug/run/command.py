"""What is run, how it goes on, how it ended."""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aoti_debug.run.output import Stream

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    env: Mapping[str, str]  # complete, nothing is inherited
    cwd: Path
    timeout_s: float = 900.0
    watch_for_s: float = math.inf  # then it is ended as one that went well
    output_cap: int = 64 * MIB  # bytes of each log
    grace_s: float = 2.0  # between SIGTERM and SIGKILL
    on_timeout_s: float = 30.0  # how long `on_timeout` may take


@dataclass(frozen=True, slots=True)
class Progress:
    elapsed_s: float
    bytes: int
    last_line: str  # at most 120 characters, no control codes


@dataclass(frozen=True, slots=True)
class Exit:
    """How a program ended.

    `strays` counts the processes that outlived the program or its SIGTERM and were ended. `notes`
    says what went wrong with the supervision itself: output lost, processes that cannot be ended.
    """

    code: int | None
    signal: str | None  # SIGSEGV, ...
    core: bool
    timed_out: bool
    cancelled: bool
    enough: bool  # it went on until it had been watched long enough
    wall_s: float
    cpu_s: float
    peak_rss: int  # bytes
    pid: int
    strays: int
    stdout: Stream
    stderr: Stream
    timeout_s: float = math.inf
    notes: tuple[str, ...] = field(default=())

    @property
    def how(self) -> str:
        if self.cancelled:
            return "cancelled"
        if self.enough:
            return f"watched for {self.wall_s:.0f} s"
        if self.timed_out:
            return f"timed out after {self.timeout_s:g} s"
        if self.signal:
            return f"{self.signal} (core dumped)" if self.core else self.signal
        return f"exit {self.code}"

    @property
    def ok(self) -> bool:
        return self.code == 0 and not self.timed_out and not self.cancelled


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
