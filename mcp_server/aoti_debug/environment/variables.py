"""The environment variables that change what torch does, set here or lost on the way here."""

from __future__ import annotations

import os
from collections.abc import Mapping

import psutil

from aoti_debug.facts.flags import effect, flag
from aoti_debug.model import Problem

PREFIXES = (
    "TORCHINDUCTOR_", "AOT_INDUCTOR_", "AOTINDUCTOR_", "AOTI_", "DUMP_AOTI_", "INDUCTOR_",
    "TORCH_COMPILE_", "TORCH_LOGS", "TRITON_", "TORCH_CUDA_ARCH_LIST", "PYTORCH_", "CUDA_",
)  # fmt: skip
NAMES = (
    "CXX", "CC", "CPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "VIRTUAL_ENV",
    "CONDA_PREFIX", "PYTHONPATH", "ATEN_CPU_CAPABILITY", "OMP_NUM_THREADS",
)  # fmt: skip
OURS = "AOTI_DEBUG_"
# What a shell usually sets and a client of this server may not pass on.
INHERITED = (
    "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "CUDA_HOME", "PYTHONPATH", "TMPDIR", "CXX", "TORCHINDUCTOR_CACHE_DIR", "AOTI_DEBUG_PYTHON",
    "AOTI_DEBUG_HOME",
)  # fmt: skip
ANCESTORS = 6
_SWITCH_PREFIXES = ("TORCHINDUCTOR_", "AOT_INDUCTOR_", "AOTINDUCTOR_", "AOTI_")


def variables(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `env` that matter, values cut."""
    wanted = (k for k in sorted(env) if k.startswith(PREFIXES) or k in NAMES)
    return {k: env[k][:200] for k in wanted if not k.startswith(OURS)}


def variable_problems(env: Mapping[str, str], torch: str | None) -> list[Problem]:
    """Return what each set variable of torch does in this release, or that it does nothing."""
    if torch is None:
        return []
    found: list[Problem] = []
    for name in sorted(env):
        if name.startswith(OURS) or (flag(name) is None and not name.startswith(_SWITCH_PREFIXES)):
            continue
        known = flag(name)
        if known is None:
            found.append(_unknown(name, env[name]))
            continue
        if known.owner != "torch" or name in NAMES:
            continue  # listed among the variables; what it does is the user's choice
        told = effect(name, env[name], torch)
        if not told.acts or told.on is not False:
            found.append(_set(name, env[name], told.says, known.does if told.acts else ""))
    return found


def _unknown(name: str, value: str) -> Problem:
    return Problem(
        what=f"{name}={value[:60]!r} is set, and is not among the variables known to matter",
        severity="changes", confidence="possible", message=None,
    )  # fmt: skip


def _set(name: str, value: str, says: str, does: str) -> Problem:
    return Problem(
        what=f"{says} {does}".strip()[:400], severity="changes", confidence="proved", message=None,
        fix=f"Unset {name} unless you want this.",
    )  # fmt: skip


def not_inherited(env: Mapping[str, str]) -> list[str]:
    """Return `NAME=value` of what a parent process has set and this one was not given."""
    lost: dict[str, str] = {}
    for theirs in _ancestors():
        for name in INHERITED:
            if name not in env and name not in lost and theirs.get(name):
                lost[name] = theirs[name][:200]
    return [f"{name}={value}" for name, value in lost.items()]


def _ancestors() -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    try:
        for process in psutil.Process(os.getpid()).parents()[:ANCESTORS]:
            found.append(process.environ())
    except (psutil.Error, OSError, UnicodeError):
        pass  # another user's process: no more can be known
    return found
