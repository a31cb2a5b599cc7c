"""The environment variables that change what torch does, and the folders that it uses by them."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from aoti_debug.environment.rules import Folder
from aoti_debug.facts.flags import effect, flag
from aoti_debug.model import Problem


def folders(env: Mapping[str, str]) -> tuple[Folder, ...]:
    """Return the temporary and cache directories that a run with `env` would use."""
    seen: dict[str, Folder] = {}
    for role, path in _wanted(env):
        seen.setdefault(str(path), _folder(role, path))
    return tuple(seen.values())


def _wanted(env: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    temporary = Path(env.get("TMPDIR") or "/tmp")
    yield "temporary", temporary
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    default = temporary / f"torchinductor_{user}"
    yield "cache", Path(env.get("TORCHINDUCTOR_CACHE_DIR") or default)


def _folder(role: str, path: Path) -> Folder:
    """Describe a directory; a cache that does not exist yet is judged by where it would be."""
    place = path
    while role == "cache" and not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return Folder(role, str(path), exists=False)
    try:
        status = os.statvfs(place)
    except OSError:
        return Folder(role, str(path), writable=os.access(place, os.W_OK | os.X_OK))
    return Folder(
        role=role,
        path=str(path),
        writable=os.access(place, os.W_OK | os.X_OK),
        noexec=bool(status.f_flag & os.ST_NOEXEC),
        free=status.f_bavail * status.f_frsize,
        inodes_left=status.f_favail > 0 or status.f_files == 0,
    )


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
