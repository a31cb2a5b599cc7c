"""Run the GPU and native debuggers on what a run left; their text goes to its directory."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import anyio
import psutil

from aoti_debug.read import gpu_core
from aoti_debug.run.files import write_new
from aoti_debug.run.machine import find_tool
from aoti_debug.triage.environment import CORE
from aoti_debug.triage.observe import STACKS

CUDA_GDB_S = 120.0
CUDA_GDB = (
    "info cuda kernels",
    "bt",
    "print $errorpc",
    "info symbol $errorpc",
    "x/4i $errorpc",
    "info line *$errorpc",
)


def gpu_cores(directory: Path) -> list[Path]:
    """Return the GPU core dumps of a run, oldest first: the first fault is the cause."""
    folder = directory / CORE
    if not folder.is_dir():
        return []
    cores = [p for p in folder.glob("core.*") if p.is_file() and p.stat().st_size]
    return sorted(cores, key=lambda path: path.stat().st_mtime)


async def read_core(core: Path, to: Path, env: Mapping[str, str]) -> str | None:
    """Write the content of a GPU core dump to `to`, from its own tables or with cuda-gdb, which
    takes seconds. Return why neither could read it, if so."""
    if (told := await anyio.to_thread.run_sync(gpu_core.told, core)) is not None:
        write_new(to, told.encode())
        return None
    tool = find_tool("cuda-gdb", env)
    if tool is None:
        return "cuda-gdb is not on this machine (it comes with the CUDA toolkit)"
    commands = (f"target cudacore {core}", *CUDA_GDB)
    argv = [str(tool), "-nx", "-batch", *(word for one in commands for word in ("-ex", one))]
    with anyio.move_on_after(CUDA_GDB_S) as clock:
        done = await anyio.run_process(argv, check=False, env=dict(env))
        write_new(to, done.stdout + b"\n" + done.stderr)
    return f"cuda-gdb did not end within {CUDA_GDB_S:.0f} s" if clock.cancelled_caught else None


def sanitizer(tool: Path, check: str, xml: Path) -> tuple[str, ...]:
    """Return the words that run a command under compute-sanitizer, with its report in `xml`.
    Blocking launches would lower the number and precision of reports."""
    words = f"--tool {check} --print-limit 3 --show-backtrace device --xml".split()
    bounds = "--target-processes application-only --launch-timeout 60".split()
    return (str(tool), *words, "--save", str(xml), *bounds)


CORE_DUMPS = ("CUDA_ENABLE_COREDUMP", "CUDA_COREDUMP")
ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def sanitizer_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` without the caching allocator, so that each tensor is its own allocation, and
    without variables that conflict with the sanitizer."""
    kept = {
        name: value
        for name, value in env.items()
        if not name.startswith((*CORE_DUMPS, *ALLOCATOR)) and name != "CUDA_LAUNCH_BLOCKING"
    }
    return {**kept, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}


QUIET = ("-nx", "-batch", "-q", "-ex", "set debuginfod enabled off", "-ex", "set pagination off")


def gdb(tool: Path) -> tuple[str, ...]:
    signals = "handle SIGUSR1 SIGUSR2 SIGPIPE nostop noprint pass"
    stack = "bt 150"  # a Python operator has many frames between it and the model
    return (str(tool), *QUIET, "-ex", signals, "-ex", "run", "-ex", stack, "--args")


SAMPLE_S = 10.0
NATIVE_S = 70.0  # gdb first reads the symbols of torch, and of CUDA where torch has it
EVERY_STACK = "thread apply all -ascending bt 100"
SHELLS = ("sh", "bash", "dash", "zsh", "env")
SETTLE_S = 2.0
CORE_S = 40.0
REQUEST = bytes(1 << 16)  # what they are does not matter


def stacks_into(directory: Path, env: Mapping[str, str]) -> Callable[[int], Awaitable[None]]:
    """Return a function that writes the stacks of a hanging process tree to `directory`, with gdb
    and py-spy where they are installed. It then aborts Python processes, whose faulthandler prints
    the stack of each thread to stderr."""

    async def take(pid: int) -> None:
        await trigger_core(directory / CORE)
        tree = process_tree(pid)
        # The outermost Python alone: what it starts (compile workers) waits for it.
        processes = [one for one in tree if "python" in program_of(one)][:1]
        others = [one for one in tree if program_of(one) not in ("", *SHELLS)][:1]
        await dump(processes or others, directory / STACKS, env, python=bool(processes))
        for process in processes:
            abort(process)
        with anyio.move_on_after(SETTLE_S):
            wait = partial(psutil.wait_procs, processes, timeout=SETTLE_S)
            await anyio.to_thread.run_sync(wait, abandon_on_cancel=True)

    return take


async def trigger_core(folder: Path) -> None:
    """Ask the CUDA driver for a core dump of what runs on the GPU, and wait until it is written.
    Writing to the pipe that the driver made is the request."""
    pipes = [path for path in folder.glob("pipe.*") if path.is_fifo()]
    for pipe in pipes:
        with contextlib.suppress(OSError):
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(descriptor, REQUEST)
            finally:
                os.close(descriptor)
    if not pipes:
        return
    size = -1
    with anyio.move_on_after(CORE_S):
        while size <= 0 or size != core_size(folder):
            size = core_size(folder)
            await anyio.sleep(1.0)


def core_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("core.*"))


def process_tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def program_of(process: psutil.Process) -> str:
    try:
        return Path(process.exe()).name
    except psutil.Error:
        return ""


async def dump(
    processes: list[psutil.Process], to: Path, env: Mapping[str, str], *, python: bool
) -> None:
    """Write the stacks of all threads, as far as a tool for it is there."""
    found: list[bytes] = []
    for process in processes:
        for limit, argv in samplers(process.pid, env, python=python):
            with anyio.move_on_after(limit) as clock:
                done = await anyio.run_process(argv, check=False, stderr=subprocess.STDOUT)
                found.append(done.stdout)
            if clock.cancelled_caught:
                found.append(f"{argv[0]} did not end within {limit:.0f} s\n".encode())
    if found:
        write_new(to, b"\n".join(found))


def samplers(
    pid: int, env: Mapping[str, str], *, python: bool
) -> Iterator[tuple[float, list[str]]]:
    if (gdb := find_tool("gdb", env) or find_tool("cuda-gdb", env)) is not None:
        yield NATIVE_S, [str(gdb), *QUIET, "-p", str(pid), "-ex", EVERY_STACK]
    if python and (py_spy := find_tool("py-spy", env)) is not None:
        yield SAMPLE_S, [str(py_spy), "dump", "--native", "--pid", str(pid)]


def abort(process: psutil.Process) -> None:
    """Make a process print its stacks and end, without a core file in the user's directory."""
    with contextlib.suppress(psutil.Error, OSError):
        if hasattr(process, "rlimit"):
            process.rlimit(psutil.RLIMIT_CORE, (0, 0))
        process.send_signal(signal.SIGABRT)
