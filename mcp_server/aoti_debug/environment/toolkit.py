"""Look at what compiles here: the CUDA toolkit, its triton, and the C++ compiler, by a trial."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.environment.rules import Compiler
from aoti_debug.package.elf import read_library
from aoti_debug.run.machine import Answer, ask, version

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
        without = False
        if answer is None or answer.code != 0:
            again = _build(found, library, env, openmp=False)
            without = again is not None and again.code == 0
            if not without:
                return Compiler(found, asked, number, error=_why(again or answer))
        with library.open("rb") as stream:
            built = read_library(library.name, stream, library.stat().st_size)
    static = built.static_libstdcxx
    return Compiler(found, asked, number, static_libstdcxx=static, without_openmp=without)


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
    compiler = shutil.which("nvcc", path=env.get("PATH", ""))
    if compiler:
        yield Path(compiler).resolve().parent.parent
    yield Path("/usr/local/cuda")


def _version_file(root: Path) -> str | None:
    try:
        text = (root / "version.json").read_text(encoding="utf-8")[:200_000]
        number = json.loads(text)["cuda"]["version"]
    except (OSError, ValueError, KeyError, TypeError):
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
    packages = torch.parent
    patterns = ("nvidia/*/include/cuda.h", "triton/backends/nvidia/include/cuda.h")
    return any(True for pattern in patterns for _ in packages.glob(pattern))


def triton_wanted(torch: Path | None) -> str | None:
    """Return the triton version in the requirements of the installed torch."""
    if torch is None:
        return None
    for folder in torch.parent.glob("torch-*.dist-info"):
        try:
            text = (folder / "METADATA").read_text(encoding="utf-8", errors="replace")[:100_000]
        except OSError:
            continue
        if found := _WANTED.search(text):
            return found[1]
    return None
