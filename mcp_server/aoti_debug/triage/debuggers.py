"""Run the GPU and native debuggers on what a run left; their text goes to its directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio

from aoti_debug.run.files import write_new
from aoti_debug.run.machine import find_tool
from aoti_debug.triage.environment import CORE

CUDA_GDB_S = 120.0
CUDA_GDB = (
    "info cuda kernels",
    "bt",
    "print $errorpc",
    "info symbol $errorpc",
    "x/4i $errorpc",
    "info line *$errorpc",
)
PRINT_LIMIT = "3"


def gpu_cores(directory: Path) -> list[Path]:
    """Return the GPU core dumps of a run, oldest first: the first fault is the cause."""
    folder = directory / CORE
    if not folder.is_dir():
        return []
    cores = [p for p in folder.glob("core.*") if p.is_file() and p.stat().st_size]
    return sorted(cores, key=lambda path: path.stat().st_mtime)


async def read_core(core: Path, to: Path, env: Mapping[str, str]) -> str | None:
    """Have cuda-gdb read a GPU core dump into `to`; return why it could not, if so."""
    tool = find_tool("cuda-gdb", env)
    if tool is None:
        return "cuda-gdb is not on this machine (it comes with the CUDA toolkit)"
    argv = [str(tool), "-nx", "-batch", "-ex", f"target cudacore {core}"]
    for command in CUDA_GDB:
        argv += ["-ex", command]
    with anyio.move_on_after(CUDA_GDB_S) as clock:
        done = await anyio.run_process(argv, check=False, env=dict(env))
        write_new(to, done.stdout + b"\n" + done.stderr)
    return f"cuda-gdb did not end within {CUDA_GDB_S:.0f} s" if clock.cancelled_caught else None


def sanitizer(tool: Path, check: str, xml: Path) -> tuple[str, ...]:
    """Return the words that run a command under compute-sanitizer; its report goes to `xml`.

    Launches are not made blocking: that lowers the number and precision of reports.
    """
    return (
        str(tool),
        "--tool",
        check,
        "--print-limit",
        PRINT_LIMIT,
        "--show-backtrace",
        "device",
        "--xml",
        "--save",
        str(xml),
        "--target-processes",
        "application-only",
        "--launch-timeout",
        "60",
    )


CORE_DUMPS = ("CUDA_ENABLE_COREDUMP", "CUDA_COREDUMP")
ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def sanitizer_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` with the caching allocator off, so that each tensor is an allocation of its
    own, and without what does not go together with the sanitizer."""
    kept = {
        name: value
        for name, value in env.items()
        if not name.startswith((*CORE_DUMPS, *ALLOCATOR)) and name != "CUDA_LAUNCH_BLOCKING"
    }
    return {**kept, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}


def gdb(tool: Path) -> tuple[str, ...]:
    """Return the words that run a command under gdb and print the stack where it dies."""
    return (
        str(tool),
        "-nx",
        "-batch",
        "-q",
        "-ex",
        "set pagination off",
        "-ex",
        "set debuginfod enabled off",
        "-ex",
        "handle SIGUSR1 SIGUSR2 SIGPIPE nostop noprint pass",
        "-ex",
        "run",
        "-ex",
        "bt 150",  # a Python operator has many frames between it and the model
        "--args",
    )
