"""Find the debugging tools, compilers and living processes of this machine."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aoti_debug.run.share import counted

ANSWER_BYTES = 16 << 20
# Ends the program with this process, which may be killed; the second line is for one that was.
_WITH_US = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    stdout: str
    stderr: str


def ask(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, timeout_s: float = 10.0
) -> Answer | None:
    """Return what a program prints; None if it cannot start, is late or prints too much. Blocks."""
    if shutil.which(argv[0], path=(os.environ if env is None else env).get("PATH")) is None:
        return None
    with_us = [sys.executable, "-I", "-S", "-c", _WITH_US, str(os.getpid())]
    try:
        process = subprocess.Popen(
            [*(with_us if sys.platform == "linux" else ()), *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            cwd=os.sep,  # a module of the current folder is not to be imported
            start_new_session=True,
        )
    except (OSError, ValueError):  # a NUL in `env` is the latter
        return None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr, counted(process.pid):
        with contextlib.suppress(subprocess.TimeoutExpired):
            said = _said((process.stdout.fileno(), process.stderr.fileno()), timeout_s)
            if said is not None:
                code = process.wait(timeout_s)
                return Answer(code, *(text.decode("utf-8", "replace") for text in said))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # A tool that hangs in a driver does not die of SIGKILL: do not wait for it for ever.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    return None


def _said(pipes: Sequence[int], timeout_s: float) -> list[bytearray] | None:
    """Return the output of each pipe; None if it takes too long or is too much."""
    end = time.monotonic() + timeout_s
    said = {pipe: bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as waiting:
        for pipe in pipes:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            left = end - time.monotonic()
            if left <= 0 or sum(map(len, said.values())) > ANSWER_BYTES:
                return None
            for key, _ in waiting.select(left):
                if part := os.read(key.fd, 1 << 16):
                    said[key.fd] += part
                else:
                    waiting.unregister(key.fd)
    return list(said.values())


CUDA_TOOLS = ("cuda-gdb", "compute-sanitizer", "nvdisasm", "cuobjdump", "ptxas")
TOOLS = (*CUDA_TOOLS, "gdb", "nvidia-smi", "py-spy")

# Where the wheels of NVIDIA put a tool, below site-packages.
_IN_WHEELS = (
    "nvidia/cu*/compute-sanitizer/{name}",
    "nvidia/cu*/bin/{name}",
    "nvidia/*/compute-sanitizer/{name}",
    "nvidia/*/bin/{name}",
    "triton/backends/nvidia/bin/{name}",
)
_RELEASE = re.compile(r"python3\.\d+t?")
_SEES_ALL = re.compile(r"^include-system-site-packages\s*=\s*true", re.M | re.I)
_NUMBER = re.compile(r"\d+(?:\.\d+)+")


def find_tool(
    name: str, env: Mapping[str, str] | None = None, python: Path | None = None
) -> Path | None:
    """Return where a tool is: on PATH, in the CUDA toolkit, or in the packages of `python`."""
    env = os.environ if env is None else env
    on_path = shutil.which(name, path=env.get("PATH", os.defpath))
    if on_path:
        return Path(on_path).absolute()
    return next((path for path in _places(name, env, python) if is_executable(path)), None)


def is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _places(name: str, env: Mapping[str, str], python: Path | None) -> Iterator[Path]:
    if name == "nvidia-smi":
        yield Path("/usr/lib/wsl/lib/nvidia-smi")
        return
    if python is not None:
        yield python.parent / name
    if name in CUDA_TOOLS:
        for root in _toolkits(env):
            yield root / "bin" / name
            yield root / "compute-sanitizer" / name
    if python is not None and name in CUDA_TOOLS:
        for packages in site_packages(python):
            for pattern in _IN_WHEELS:
                yield from sorted(packages.glob(pattern.format(name=name)), reverse=True)


def _toolkits(env: Mapping[str, str]) -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if env.get(variable):
            yield Path(env[variable])
    yield Path("/usr/local/cuda")
    numbered = Path("/usr/local").glob("cuda-*")
    yield from sorted(numbered, key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)])[::-1]
    yield Path("/opt/cuda")


def site_packages(python: Path) -> list[Path]:
    """Return the directories of an interpreter's packages, without asking it."""
    base = python.resolve()
    release = base.name if _RELEASE.fullmatch(base.name) else "python3*"
    names = (f"{release}/site-packages", f"{release}/dist-packages", "python3/dist-packages")
    roots = [python.parent.parent]
    if not _is_closed(roots[0]):
        user = Path(os.environ.get("HOME") or os.sep, ".local")
        roots += [base.parent.parent, base.parent.parent / "local", user]
    found = (path for root in roots for name in names for path in sorted(root.glob(f"lib*/{name}")))
    return list(dict.fromkeys(found))


def _is_closed(environment: Path) -> bool:
    """Say whether it is a virtual environment that does not see the packages of its base."""
    settings = environment / "pyvenv.cfg"
    try:
        if not settings.is_file():
            return False
        with settings.open(encoding="utf-8", errors="replace") as file:
            return not _SEES_ALL.search(file.read(4096))
    except OSError:
        return False


def version(tool: Path, env: Mapping[str, str] | None = None) -> str | None:
    """Return the version that a tool tells, as digits and dots; None if it does not. Blocks."""
    answer = ask([str(tool), "--version"], env=env)
    if answer is None:
        return None
    lines = (answer.stdout or answer.stderr).splitlines()
    # cuobjdump and nvdisasm name their release last, gdb and compilers first.
    for line in (*(at for at in lines if "release" in at), *lines):
        if found := _NUMBER.findall(line):
            return str(found[-1])
    return None


def this_process() -> dict[str, Any]:
    """Return what identifies this process, also after its number was given to another one."""
    pid = os.getpid()
    return {"pid": pid, "start": _start(pid), "place": _place()}


def is_alive(recorded: object) -> bool | None:
    """Tell whether a recorded process runs; None when this cannot be seen from here."""
    pid = recorded.get("pid") if isinstance(recorded, dict) else None
    if not isinstance(recorded, dict) or not isinstance(pid, int) or not 0 < pid < 1 << 32:
        return False
    if recorded.get("place") != _place():
        return None
    start = _start(pid)
    return start is not None and start == recorded.get("start")


def _start(pid: int) -> str | None:
    # Clock ticks since boot do not move with the clock, as psutil's time of creation does.
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    import psutil

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _place() -> str:
    """Name the boot and the PID namespace: elsewhere the same number is another process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        import psutil

        return f"{os.uname().nodename} {int(psutil.boot_time())}"
