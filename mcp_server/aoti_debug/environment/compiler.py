"""Try the compiler that Inductor would take on a small shared library."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from aoti_debug.environment.rules import Compiler
from aoti_debug.package.elf import read_library
from aoti_debug.run.ask import Answer, ask
from aoti_debug.run.machine import version

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
