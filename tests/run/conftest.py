from __future__ import annotations

import os
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from aoti_debug.run.process import Command, Exit, run_process

PATIENCE_S = 60.0


class Mailbox:
    """A named pipe through which the programs of a test tell it where they are."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._file = os.open(path, os.O_RDWR)
        self._unread = b""

    def read(self) -> str:
        """Return the next line that a program has written."""
        while b"\n" not in self._unread:
            if not select.select([self._file], [], [], PATIENCE_S)[0]:
                raise TimeoutError(f"nothing came through {self.path}")
            self._unread += os.read(self._file, 4096)
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    async def pid(self) -> int:
        return int(await anyio.to_thread.run_sync(self.read))

    def close(self) -> None:
        os.close(self._file)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def mailbox(tmp_path):
    box = Mailbox(tmp_path / "mailbox")
    yield box
    box.close()


@pytest.fixture
def spawn(tmp_path) -> Callable[..., subprocess.Popen[str]]:
    """Start Python source in a process of its own, in `tmp_path`."""

    def start(source: str, *args: object) -> subprocess.Popen[str]:
        argv = [sys.executable, "-c", source, *map(str, args)]
        return subprocess.Popen(argv, cwd=tmp_path, stdin=-1, stdout=-1, text=True)

    return start


@pytest.fixture
def command(tmp_path) -> Callable[..., Command]:
    """Make a command of Python source, or of `argv`."""

    def make(source: str = "", *args: object, argv: tuple[str, ...] = (), **options) -> Command:
        if not argv:
            argv = (sys.executable, "-c", textwrap.dedent(source), *map(str, args))
        options.setdefault("env", dict(os.environ))
        options.setdefault("timeout_s", PATIENCE_S)
        options.setdefault("cwd", tmp_path)
        return Command(argv, **options)

    return make


@pytest.fixture
def program(tmp_path) -> Callable[..., Path]:
    """Write an executable file below `tmp_path` and return its path."""

    def write(name: str, text: str = "#!/bin/sh\n") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def logs(tmp_path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def finish(command, logs) -> Callable[..., Exit]:
    """Run Python source (or `argv`) to its end; its logs are in `logs`."""

    def run(source: str = "", *args: object, **options) -> Exit:
        told = ("on_progress", "on_timeout", "serving")
        more = {name: options.pop(name) for name in told if name in options}

        async def main() -> Exit:
            return await run_process(command(source, *args, **options), logs, **more)

        return anyio.run(main)

    return run
