"""The environment of a watched run: what only looks and does not change the outcome."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import aoti_debug
from aoti_debug.facts.stages import ALWAYS
from aoti_debug.run.files import folder, is_regular, write_atomically

PROBE = Path(aoti_debug.__file__).parent / "probe"
SITE = PROBE / "site"
SCRIPT = str(PROBE / "script.py")  # runs a program of the probe by its name
EVENTS = "events.jsonl"
KEY = ".key"  # beside it
CAPTURE = "capture"
CORE, TRACE = "core", "trace"
LEFT_OUT = "nonrelocated_elf_images global_memory shared_memory local_memory constbank_memory"
CORE_FLAGS = ",".join(f"skip_{part}" for part in LEFT_OUT.split())


def watched(base: Mapping[str, str], directory: Path, run: str, *, capture: bool) -> dict[str, str]:
    """Return `base` with the probe in it, writing to `directory`. `capture` keeps the package, the
    exported program and the inputs of calls. PYTHONPATH is extended, not replaced."""
    path = base.get("PYTHONPATH", "")
    write_key(directory)
    environment = {
        **base,
        **ALWAYS,
        "PYTHONPATH": f"{SITE}{os.pathsep}{path}" if path else str(SITE),
        "AOTI_DEBUG_EVENTS": str(directory / EVENTS),
        "AOTI_DEBUG_RUN": run,
    }
    for name in ("AOTI_DEBUG_REUSE", "AOTI_DEBUG_CAPTURE"):
        environment.pop(name, None)
    return environment | ({"AOTI_DEBUG_CAPTURE": str(directory / CAPTURE)} if capture else {})


def write_key(directory: Path) -> None:
    """Write the run's secret, which every event carries, to a file for the target's processes, so
    that a line printed by chance is no event. It does not stop a program that reads this file or
    its own memory."""
    if not is_regular(directory / KEY):
        folder(directory)
        write_atomically(directory / KEY, secrets.token_hex(16).encode())


def core_dumps(directory: Path) -> dict[str, str]:
    """Return what makes the CUDA driver write a small core dump at the first GPU exception, and
    its plain-text log of failed API calls. Without a GPU these do nothing."""
    return {
        "CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1",
        "CUDA_COREDUMP_SHOW_PROGRESS": "1",
        "CUDA_COREDUMP_GENERATION_FLAGS": CORE_FLAGS,
        "CUDA_COREDUMP_FILE": str(directory / CORE / "core.%p"),
        "CUDA_ENABLE_USER_TRIGGERED_COREDUMP": "1",
        "CUDA_COREDUMP_PIPE": str(directory / CORE / "pipe.%p"),
        "CUDA_LOG_FILE": str(directory / "cuda.log"),
    }


def tracing(directory: Path) -> dict[str, str]:
    """Return what makes a compile leave more behind: the map from kernels to the model's lines
    in the package (torch 2.9 and later), and torch's structured trace for tlparse."""
    return {"INDUCTOR_PROVENANCE": "1", "TORCH_TRACE": str(directory / TRACE)}
