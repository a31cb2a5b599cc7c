"""Inspect the CUDA toolkit, triton, the C++ compiler, and torch's variables and folders."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psutil

from aoti_debug.answers import Problem, problem
from aoti_debug.environment.machine import Compiler, Folder
from aoti_debug.facts.flags import effect, flag
from aoti_debug.package.elf import read_library
from aoti_debug.run.files import read_regular
from aoti_debug.run.machine import Answer, ask, version


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
    found = Folder(role, str(path), writable=os.access(place, os.W_OK | os.X_OK))
    try:
        status = os.statvfs(place)
    except OSError:
        return found
    return replace(
        found,
        noexec=bool(status.f_flag & os.ST_NOEXEC),
        free=status.f_bavail * status.f_frsize,
        inodes_left=status.f_favail > 0 or status.f_files == 0,
    )


PREFIXES = tuple(
    """
    TORCHINDUCTOR_ AOT_INDUCTOR_ AOTINDUCTOR_ AOTI_ DUMP_AOTI_ INDUCTOR_ TORCH_COMPILE_
    TORCH_LOGS TRITON_ TORCH_CUDA_ARCH_LIST PYTORCH_ CUDA_
    """.split()
)
NAMES = tuple(
    """
    CXX CC CPATH LD_LIBRARY_PATH LD_PRELOAD TMPDIR VIRTUAL_ENV CONDA_PREFIX PYTHONPATH
    ATEN_CPU_CAPABILITY OMP_NUM_THREADS
    """.split()
)
OURS = "AOTI_DEBUG_"
# What a shell usually sets and a client of this server may not pass on.
INHERITED = tuple(
    """
    CUDA_VISIBLE_DEVICES VIRTUAL_ENV CONDA_PREFIX LD_LIBRARY_PATH LD_PRELOAD CUDA_HOME
    PYTHONPATH TMPDIR CXX TORCHINDUCTOR_CACHE_DIR AOTI_DEBUG_PYTHON AOTI_DEBUG_HOME
    """.split()
)
ANCESTORS = 6
_SWITCH_PREFIXES = ("TORCHINDUCTOR_", "AOT_INDUCTOR_", "AOTINDUCTOR_", "AOTI_")


def variables(env: Mapping[str, str]) -> dict[str, str]:
    wanted = (k for k in sorted(env) if k.startswith(PREFIXES) or k in NAMES)
    return {k: env[k][:200] for k in wanted if not k.startswith(OURS)}


def variable_problems(env: Mapping[str, str], torch: str | None) -> list[Problem]:
    """Return what each set variable of torch does in this release, or that it does nothing."""
    if torch is None:
        return []
    found: list[Problem] = []
    changes = partial(problem, message=None, severity="changes", category=None)
    for name in sorted(env):
        known = flag(name)
        if name.startswith(OURS):
            continue
        if known is None and name.startswith(_SWITCH_PREFIXES):
            what = f"{name}={env[name][:60]!r} is set, and is not among the variables known to"
            found.append(changes(f"{what} matter", confidence="possible"))
        # Others are listed among the variables; what they do is the user's choice.
        elif known is not None and known.owner == "torch" and name not in NAMES:
            told = effect(name, env[name], torch)
            if not told.acts or told.on is not False:
                what = f"{told.says} {known.does if told.acts else ''}".strip()[:400]
                found.append(changes(what, fix=f"Unset {name} unless you want this."))
    return found


def not_inherited(env: Mapping[str, str]) -> list[str]:
    """Return `NAME=value` of what a parent process has set and this one was not given."""
    lost: dict[str, str] = {}
    for theirs in _ancestors():
        for name in INHERITED:
            if name not in env and name not in lost and theirs.get(name):
                lost[name] = theirs[name][:200]
    return [f"{name}={value}" for name, value in lost.items()]


def _ancestors() -> Iterator[dict[str, str]]:
    # Of another user's process no more can be known.
    with contextlib.suppress(psutil.Error, OSError, UnicodeError):
        for process in psutil.Process().parents()[:ANCESTORS]:
            yield process.environ()


TRIAL_S = 60.0
SOURCE = """\
#include <iostream>
#include <sstream>
#include <string>
{openmp}
extern "C" int aoti_debug_trial(const char* text) {{
  std::ostringstream out;
  out << std::string(text) << {threads};
  std::cerr << out.str();
  return static_cast<int>(out.str().size());
}}
"""


def try_compiler(env: Mapping[str, str]) -> Compiler:
    """Compile and link ten lines in a directory of their own; read what came out. Blocks."""
    # Inductor looks the whole of $CXX up as one name: options in it do not work there either.
    asked = env.get("CXX") or "g++"
    found = shutil.which(asked, path=env.get("PATH", os.defpath))
    if found is None:
        return Compiler(None, asked)
    number = version(Path(found), env)
    with tempfile.TemporaryDirectory(prefix="aoti-debug-") as folder:
        library = Path(folder) / "trial.so"
        answer = _build(found, library, env, openmp=True)
        without = answer is None or answer.code != 0
        if without:
            again = _build(found, library, env, openmp=False)
            if again is None or again.code != 0:
                return Compiler(found, asked, number, error=_why(again or answer))
        with library.open("rb") as stream:
            built = read_library(library.name, stream, library.stat().st_size)
    return Compiler(found, asked, number, built.static_libstdcxx, without_openmp=without)


def _build(compiler: str, library: Path, env: Mapping[str, str], *, openmp: bool) -> Answer | None:
    source = library.with_suffix(".cpp")
    header = "#include <omp.h>" if openmp else ""
    threads = "omp_get_max_threads()" if openmp else "1"
    source.write_text(SOURCE.format(openmp=header, threads=threads), encoding="ascii")
    flags = ["-fopenmp"] if openmp else []
    command = [compiler, "-std=c++17", "-shared", "-fPIC", *flags, str(source), "-o", str(library)]
    return ask(command, env=env, timeout_s=TRIAL_S)


def _why(answer: Answer | None) -> str:
    if answer is None:
        return f"it did not start, or did not end within {TRIAL_S:.0f} s"
    lines = [line for line in answer.stderr.splitlines() if "error" in line.lower()]
    return "\n".join((lines or answer.stderr.splitlines() or [f"exit {answer.code}"])[:3])[:500]


FILE_BYTES = 1 << 20  # of a file that says a version
_WANTED = re.compile(r"^Requires-Dist: (?:pytorch-)?triton ?\(?==([\w.]{1,40})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Toolkit:
    version: str | None = None
    path: str | None = None


def toolkit(env: Mapping[str, str]) -> Toolkit:
    """Return the CUDA toolkit that a compile with `env` finds. Blocks."""
    for root in _roots(env):
        if number := _version_file(root):
            return Toolkit(number, str(root))
        compiler = root / "bin" / "nvcc"
        if compiler.is_file():
            return Toolkit(_minor(version(compiler, env)), str(root))
    return Toolkit()


def _roots(env: Mapping[str, str]) -> Iterator[Path]:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if env.get(name):
            yield Path(env[name])
    if compiler := shutil.which("nvcc", path=env.get("PATH", "")):
        yield Path(compiler).resolve().parent.parent
    yield Path("/usr/local/cuda")


def _version_file(root: Path) -> str | None:
    try:
        data = read_regular(root / "version.json", FILE_BYTES, follow=True)
        number = json.loads(data)["cuda"]["version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return _minor(number) if isinstance(number, str) else None


def _minor(number: str | None) -> str | None:
    return ".".join(number.split(".")[:2]) if number else None


def cuda_header(env: Mapping[str, str], torch: Path | None) -> bool | None:
    """Tell whether cuda.h is where a compile looks; None without a torch."""
    if torch is None:
        return None
    places = [root / "include" / "cuda.h" for root in _roots(env)]
    places += [Path(part) / "cuda.h" for part in env.get("CPATH", "").split(":") if part]
    places += [Path("/usr/include/cuda.h")]
    if any(place.is_file() for place in places):
        return True
    patterns = ("nvidia/*/include/cuda.h", "triton/backends/nvidia/include/cuda.h")
    return any(True for pattern in patterns for _ in torch.parent.glob(pattern))


def triton_wanted(torch: Path | None) -> str | None:
    """Return the triton version in the requirements of the installed torch."""
    if torch is None:
        return None
    for folder in torch.parent.glob("torch-*.dist-info"):
        with contextlib.suppress(OSError):
            data = read_regular(folder / "METADATA", FILE_BYTES, follow=True)
            if found := _WANTED.search(data.decode("utf-8", "replace")):
                return found[1]
    return None
