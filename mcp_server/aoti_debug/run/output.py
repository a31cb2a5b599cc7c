"""Take a program's output from its pipes into capped logs, as fast as it comes."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.plain import last_line

BLOCK = 1 << 20
LINE = 1 << 16  # a longer line may be cut where the tail begins
RECENT = 2048  # enough for a last line of 120 characters behind escape codes
DRAIN_S = 5.0


@dataclass(frozen=True, slots=True)
class Stream:
    """What came on one stream: all of its bytes, and how many the log leaves out."""

    bytes: int = 0
    dropped: int = 0  # by the cap
    lost: int = 0  # could not be written
    why_lost: str | None = None
    last_words: str = ""  # its last line, also when that was lost


class Log:
    """A file that keeps head and tail of what is written, `cap` bytes in all. Its second half is
    overwritten in a circle, which `close` puts in order. Write errors are counted, not raised."""

    def __init__(self, path: Path, cap: int) -> None:
        self._cap = max(cap, 4096)
        self._head = self._cap // 2
        self._at = 0
        self._floor = 0  # where the round part begins, once there is one
        self._dropped = 0
        self._lost = 0
        self._unsaid = 0  # lost, and no line in the log says so yet
        self._why: str | None = None
        self.bytes = 0
        self.recent = b""
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file: int | None = os.open(path, flags, 0o600)

    def write(self, data: memoryview) -> None:
        size = len(data)
        self.bytes += size
        if size >= RECENT:
            self.recent = bytes(data[-RECENT:])
        else:
            self.recent = (self.recent + bytes(data))[-RECENT:]
        if self._unsaid:
            self._say_lost()
        while len(data):
            if self._at == self._cap:
                self._turn()
            part = data[: self._cap - self._at]
            written = self._put(part, self._at)
            self._at += written
            if written < len(part):
                self._lost += len(data) - written
                self._unsaid += len(data) - written
                return
            data = data[len(part) :]

    def _put(self, data: memoryview | bytes, at: int) -> int:
        assert self._file is not None
        done = 0
        try:
            while done < len(data):
                done += os.pwrite(self._file, data[done:], at + done)
        except OSError as error:
            self._why = os.strerror(error.errno or 0)
        return done

    def _say_lost(self) -> None:
        line = f"\n[aoti-debug: {self._unsaid:,} bytes lost here: {self._why}]\n".encode()
        if self._cap - self._at > len(line) and self._put(line, self._at) == len(line):
            self._at += len(line)
            self._unsaid = 0

    def _turn(self) -> None:
        if not self._floor:
            note = b"\n[aoti-debug: bytes dropped here; what follows begins in its middle]\n"
            self._put(note, self._head)
            self._floor = self._head + len(note)
            self._dropped += self._floor - self._head
        self._at = self._floor

    def close(self) -> Stream:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._unroll()
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None
        why = self._why if self._lost else None
        return Stream(self.bytes, self._dropped, self._lost, why, last_line(self.recent))

    def _unroll(self) -> None:
        assert self._file is not None
        if self._floor:
            first = os.pread(self._file, self._cap - self._at, self._at)
            then = os.pread(self._file, self._at - self._floor, self._floor)
            skip = first.find(b"\n", 0, LINE) + 1  # begin the tail with a whole line
            kept = len(first) - skip + len(then)
            self._dropped = self.bytes - self._lost - self._head - kept
            line = f"[aoti-debug: {self._dropped:,} bytes dropped here]\n".encode()
            if os.pread(self._file, 1, self._head - 1) != b"\n":
                line = b"\n" + line
            self._at = self._head
            for part in (line, memoryview(first)[skip:], then):
                self._at += self._put(part, self._at)
            os.ftruncate(self._file, self._at)
        if self._unsaid:
            self._say_lost()


class ProcessOutput:
    """Both pipes of a program and their logs; `pump` runs in a thread of its own."""

    def __init__(self, directory: Path, cap: int) -> None:
        self._logs: list[Log] = []
        self._pipes: dict[int, Log] = {}
        self._ends: list[int] = []
        self._latest: Log | None = None
        self._stop, self._stopper = os.pipe()
        for name in ("stdout.log", "stderr.log"):
            log = Log(directory / name, cap)
            ours, theirs = os.pipe()
            _widen(ours)
            self._logs.append(log)
            self._pipes[ours] = log
            self._ends.append(theirs)

    @property
    def ends(self) -> tuple[int, int]:
        return self._ends[0], self._ends[1]

    def close_ends(self) -> None:
        while self._ends:
            os.close(self._ends.pop())

    @property
    def bytes(self) -> int:
        return sum(log.bytes for log in self._logs)

    def last_line(self) -> str:
        return last_line(self._latest.recent) if self._latest else ""

    def pump(self) -> None:
        """Copy until both pipes have ended, or until `stop` and nothing more is there."""
        poll = select.poll()
        for descriptor in (*self._pipes, self._stop):
            poll.register(descriptor, select.POLLIN)
        buffer = bytearray(BLOCK)
        view = memoryview(buffer)
        open_pipes = set(self._pipes)
        deadline = 0.0
        while open_pipes:
            ready = [d for d, _ in poll.poll(0 if deadline else None)]
            if self._stop in ready:
                poll.unregister(self._stop)
                deadline = time.monotonic() + DRAIN_S
            elif deadline and (not ready or time.monotonic() > deadline):
                return
            for descriptor in open_pipes.intersection(ready):
                count = os.readv(descriptor, [buffer])
                if count:
                    self._latest = self._pipes[descriptor]
                    self._latest.write(view[:count])
                else:
                    poll.unregister(descriptor)
                    open_pipes.discard(descriptor)

    def stop(self) -> None:
        if self._stopper >= 0:
            os.close(self._stopper)
            self._stopper = -1

    def close(self) -> tuple[Stream, Stream]:
        self.close_ends()
        self.stop()
        for descriptor in (*self._pipes, self._stop):
            os.close(descriptor)
        out, err = (log.close() for log in self._logs)
        return out, err


def _widen(descriptor: int) -> None:
    if sys.platform.startswith("linux"):
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, BLOCK)
