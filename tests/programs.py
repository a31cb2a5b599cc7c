"""The interpreter that has torch, which need not be the one of the tests; what is made once for
all workers of a session; real scripts triaged in this process, several side by side; files
watched."""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.answers import TriageAnswer
from aoti_debug.kinds import TRIAGE
from aoti_debug.model import Diagnosis
from aoti_debug.run.target import resolve_target
from aoti_debug.service import Request, Service
from filelock import FileLock

# Coding agents, with a Node that is new enough for them.
CLIENTS = ("@anthropic-ai/claude-code@2.1.197", "@openai/codex@0.169.0", "node@22.23.3")


def torch_python() -> str:
    """Return $AOTI_DEBUG_PYTHON, else the interpreter of the tests."""
    return os.environ.get("AOTI_DEBUG_PYTHON") or sys.executable


def torch_version() -> str:
    """Return the version of the torch that the tests run."""
    return asked("import importlib.metadata as m; print(m.version('torch'))")


def torch_folder() -> str:
    """Return where that torch is installed."""
    return asked(
        "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    )


@cache
def asked(program: str) -> str:
    """Return what a one-line program prints under the interpreter that has torch."""
    words = [torch_python(), "-c", program]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def once(
    name: str,
    factory: pytest.TempPathFactory,
    make: Callable[[Path], object],
    root: Path | None = None,
) -> Path:
    """Return a directory that `make` has filled: the first worker that asks fills it, the others
    wait. It stands in `root` if that is given, where it outlives the session."""
    if root is None:
        root = factory.getbasetemp()
        if os.environ.get("PYTEST_XDIST_WORKER"):
            root = root.parent  # each worker has a directory of its own in that of the session
    root.mkdir(parents=True, exist_ok=True)
    directory, complete = root / name, root / f"{name}.complete"
    with FileLock(root / f"{name}.lock"):
        if not complete.exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            make(directory)
            complete.touch()
    return directory


CALL = Path(__file__).parent / "targets" / "call.py"
AT_ONCE = 2
QUICK = {"TORCHINDUCTOR_VEC_ISA_OK": "1"}  # a load looks for vector instructions otherwise: 20 s


@dataclass(frozen=True)
class Triaged:
    answer: TriageAnswer
    directory: Path  # of the run

    @property
    def best(self) -> Diagnosis:
        assert self.answer.diagnosis is not None
        return self.answer.diagnosis


Job = tuple[Path, Sequence[str], Mapping[str, str]]  # script, arguments, environment


def triage_all(jobs: Mapping[str, Job], home: Path, python: str) -> dict[str, Triaged]:
    """Triage the scripts, AT_ONCE at a time, in one home."""
    found: dict[str, Triaged] = {}
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def one(service: Service, name: str, job: Job) -> None:
        script, arguments, environment = job
        target = resolve_target(
            script=str(script),
            args=tuple(arguments),
            python=python,
            env={**QUICK, **environment},
            cwd=script.parent,
        )
        async with limit:
            run = await service.start(TRIAGE, Request(target=target, timeout_s=300, python=python))
            answer = await service.wait(run)
        assert isinstance(answer, TriageAnswer)
        found[name] = Triaged(answer, home / "runs" / run)

    async def main() -> None:
        async with Service(home) as service, anyio.create_task_group() as tasks:
            for name, job in jobs.items():
                tasks.start_soon(one, service, name, job)

    anyio.run(main)
    return found


def calls(built, *cases: str) -> dict[str, Job]:
    return {case: (CALL, (str(built.directory), case), {}) for case in cases}


READ = 0x1  # IN_ACCESS
CLOSED = 0x10  # IN_CLOSE_NOWRITE
_HEAD = struct.Struct("iIII")
_PATIENCE_S = 60.0


ENDLESS = Path(f"/proc/{os.getpid()}/pagemap")  # a file without holes: minutes to read


class FileWatch:
    """What happens to one file from now on."""

    def __init__(self, path: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._file = libc.inotify_init1(os.O_CLOEXEC)
        if libc.inotify_add_watch(self._file, os.fsencode(path), READ | CLOSED) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")

    def wait(self, wanted: int) -> None:
        """Return when it is read, or closed."""
        seen = 0
        while not seen & wanted:
            if not select.select([self._file], [], [], _PATIENCE_S)[0]:
                raise TimeoutError("nothing happened to the file")
            events = os.read(self._file, 4096)
            for at in range(0, len(events), _HEAD.size):
                seen |= _HEAD.unpack_from(events, at)[1]

    def close(self) -> None:
        os.close(self._file)


def told(folder: Path, *words: str) -> dict[str, Any]:
    """Return what a command answers about a script of a folder, with a home beside that."""
    home = {"AOTI_DEBUG_HOME": str(folder.parent / "home")}
    ran = subprocess.run(
        [sys.executable, "-m", "aoti_debug", words[0], "--json", *words[1:]],
        cwd=folder,
        env={**os.environ, **home},
        capture_output=True,
        text=True,
    )
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def changed(text: str, changes: Iterable[tuple[str, str]]) -> str:
    """Return a text with changes made, of which each is of one place."""
    for old, new in changes:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text


def diff(name: str, before: str, after: str) -> str:
    """Return the changes of a file as a patch."""
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(unified_diff(old, new, name, name))
