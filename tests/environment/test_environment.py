"""The environment of this machine, and what breaks on a machine, from its facts alone."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from aoti_debug.answers import EnvironmentAnswer, Problem
from aoti_debug.environment import environment, installed
from aoti_debug.environment.machine import Compiler, Environment, Folder, GpuFacts
from aoti_debug.environment.rules import GIB, problems
from aoti_debug.environment.toolkit import (
    cuda_header,
    folders,
    toolkit,
    triton_wanted,
    try_compiler,
    variable_problems,
    variables,
)
from programs import torch_python


def ask(python: str | None = None, **env: str) -> EnvironmentAnswer:
    return anyio.run(environment, python or torch_python(), env)


def compiler(folder: Path, body: str) -> str:
    path = folder / "g++"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_the_tests_own_torch_is_described(tmp_path: Path) -> None:
    found = ask(TORCHINDUCTOR_NAN_ASSERTS="1", TMPDIR=str(tmp_path / "none"))
    assert found.torch is not None and found.torch[0].isdigit()
    assert found.torch_path is not None and Path(found.torch_path, "version.py").is_file()
    assert found.compiler is not None
    assert found.python == torch_python()
    told = {p.what.partition("=")[0]: p for p in found.problems}
    assert told["TORCHINDUCTOR_NAN_ASSERTS"].severity == "changes"
    assert found.variables["TORCHINDUCTOR_NAN_ASSERTS"] == "1"
    assert "Error generating temporary directory" in [p.message for p in found.problems]


def test_a_static_compiler_is_predicted_before_anything_is_compiled(tmp_path: Path) -> None:
    static = compiler(tmp_path, 'exec /usr/bin/env -u CXX c++ "$@" -static-libstdc++')
    found = ask(CXX=static)
    problem = next(p for p in found.problems if p.category == "toolchain")
    assert (problem.severity, problem.confidence) == ("breaks", "proved")
    assert "links libstdc++ statically" in problem.what


def test_an_interpreter_without_torch_is_said_to_have_none(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    found = ask(str(bare))
    assert found.torch is None
    assert found.problems[0].message == "ModuleNotFoundError: No module named 'torch'"


def test_an_interpreter_that_is_not_there_is_an_answer_too(tmp_path: Path) -> None:
    found = ask(str(tmp_path / "nothing"))
    assert found.problems[0].severity == "breaks"
    assert installed(str(tmp_path / "nothing")).torch is None


SMI = """#!/bin/sh
case "$*" in
*memory*) echo "0, GPU-aaaa, NVIDIA A, 81920, 80000"; echo "1, GPU-bbbb, NVIDIA B, 40960, 9";;
*) echo "0, 9.0"; echo "1, 8.0";;
esac
"""


@pytest.mark.parametrize("visible", ["1", "GPU-bbbb", "1,9,0"])
def test_the_quick_half_sees_the_gpus_that_torch_would(tmp_path: Path, visible: str) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2.13.0'\ncuda = '13.0'\n")
    smi = tmp_path / "nvidia-smi"
    smi.write_text(SMI)
    smi.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    env = {"PYTHONPATH": str(tmp_path), "PATH": path, "CUDA_VISIBLE_DEVICES": visible}
    assert installed(sys.executable, env).devices == ["cuda:0 NVIDIA B (sm_80, 40 GiB)"]


def test_the_quick_half_knows_torch_without_importing_it() -> None:
    found = installed(torch_python())
    assert found.torch is not None
    assert found.torch_path is not None


def test_a_missing_compiler_is_no_compiler() -> None:
    found = try_compiler({"PATH": "/none"})
    assert (found.path, found.asked) == (None, "g++")
    assert try_compiler({**os.environ, "CXX": "g++ -O2"}).path is None  # options do not work


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("echo 'x.cpp:1: error: broken' >&2; exit 1", "error"),
        ('for a in "$@"; do [ "$a" = -fopenmp ] && exit 1; done; exec c++ "$@"', "without_openmp"),
    ],
)
def test_a_broken_compiler_says_how(tmp_path: Path, body: str, field: str) -> None:
    found = try_compiler({**os.environ, "CXX": compiler(tmp_path, body)})
    assert getattr(found, field)


def test_folders_are_judged_where_they_would_be(tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "a" / "b")}
    temporary, cache = folders(env)
    assert (temporary.role, temporary.exists, temporary.writable) == ("temporary", True, True)
    assert (cache.path, cache.exists, cache.writable) == (str(tmp_path / "a" / "b"), True, True)
    assert not (tmp_path / "a").exists()
    assert temporary.free is not None and temporary.free > 0


def test_a_toolkit_is_read_from_its_own_version_file(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cuda.h").touch()
    (tmp_path / "version.json").write_text('{"cuda": {"version": "12.8.1"}}')
    env = {"CUDA_HOME": str(tmp_path), "PATH": ""}
    assert toolkit(env).version == "12.8"
    assert cuda_header(env, tmp_path / "site" / "torch") is True
    os.truncate(tmp_path / "version.json", 1 << 40)
    assert toolkit(env).version != "12.8"
    (tmp_path / "version.json").unlink()
    os.mkfifo(tmp_path / "version.json")
    assert toolkit(env).version != "12.8"


def test_the_wanted_triton_is_read_from_torchs_metadata(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    info = tmp_path / "torch-2.9.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        'Name: torch\nRequires-Dist: triton==3.5.1; platform_system == "Linux"\n'
    )
    assert triton_wanted(tmp_path / "torch") == "3.5.1"


def test_variables_of_torch_are_told_with_what_they_do() -> None:
    env = {
        "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER": "2",
        "AOTI_PRINT_EVERYTHING": "1",
        "AOTI_DEBUG_HOME": "/x",
        "CXX": "g++",
        "SECRET_TOKEN": "hidden",
    }
    assert "SECRET_TOKEN" not in variables(env) and "AOTI_DEBUG_HOME" not in variables(env)
    found = [p.what for p in variable_problems(env, "2.13.0")]
    assert len(found) == 2
    assert any("AOTI_PRINT_EVERYTHING" in w and "not among" in w for w in found)


def test_a_switch_that_is_off_changes_nothing() -> None:
    assert variable_problems({"TORCHINDUCTOR_NAN_ASSERTS": "0"}, "2.13.0") == []


LOST = """
import os, subprocess, sys
child = "import os; from aoti_debug.environment.toolkit import not_inherited as n;"
child += "print(n(dict(os.environ)))"
env = {k: v for k, v in os.environ.items() if k != sys.argv[1]}
subprocess.run([sys.executable, "-c", child], env=env, check=True)
"""


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "AOTI_DEBUG_PYTHON", "AOTI_DEBUG_HOME"])
def test_what_a_client_did_not_pass_on_is_named(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST, name],
        env={**os.environ, name: "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"'{name}=3'" in done.stdout


H200 = GpuFacts(0, "NVIDIA H200", (9, 0), 139 * GIB)
GOOD = Environment(
    torch="2.13.0+cu130",
    torch_cuda="13.0",
    architectures=("sm_75", "sm_80", "sm_90", "sm_100", "compute_120"),
    gpus=(H200,),
    driver_cuda="13.0",
    nvidia_smi=True,
    toolkit="13.0",
    toolkit_path="/usr/local/cuda",
    cuda_header=True,
    triton="3.6.0",
    triton_wanted="3.6.0",
    compiler=Compiler("/usr/bin/g++", version="13.2"),
    headers={"Python.h": True, "ATen/ATen.h": True},
    folders=(Folder("temporary", "/tmp", free=50 * GIB), Folder("cache", "/tmp/c", free=50 * GIB)),
)


def test_a_good_machine_has_no_problem() -> None:
    assert problems(GOOD) == []


def folder(**changes: object) -> tuple[Folder, ...]:
    return (replace(Folder("temporary", "/scratch", free=50 * GIB), **changes),)  # type: ignore[arg-type]


BAD: dict[str, tuple[Environment, str, str]] = {
    "no torch": (
        Environment(torch_error="ModuleNotFoundError: No module named 'torch'"),
        "breaks",
        "ModuleNotFoundError: No module named 'torch'",
    ),
    "no compiler": (
        replace(GOOD, compiler=Compiler(None)),
        "breaks",
        "InvalidCxxCompiler: No working C++ compiler found in "
        "torch._inductor.config.cpp.cxx: (None, 'g++')",
    ),
    "a compiler that fails": (
        replace(GOOD, compiler=Compiler("/c++", error="error: no input")),
        "breaks",
        "CppCompileError: C++ compile error … error: no input",
    ),
    "a static C++ runtime": (
        replace(GOOD, compiler=Compiler("/g++", static_libstdcxx=True)),
        "breaks",
        "Segmentation fault (core dumped); or, with other",
    ),
    "no OpenMP": (
        replace(GOOD, compiler=Compiler("/g++", without_openmp=True)),
        "breaks",
        "fatal error: omp.h: No such file or directory",
    ),
    "no Python headers": (
        replace(GOOD, headers={"Python.h": False}),
        "may_break",
        "fatal error: Python.h: No such file or directory",
    ),
    "no CUDA headers": (
        replace(GOOD, cuda_header=False),
        "breaks",
        "fatal error: cuda.h: No such file or directory",
    ),
    "an older toolkit": (
        replace(GOOD, toolkit="12.4"),
        "may_break",
        "The detected CUDA version (12.4) mismatches the version that was used to "
        "compile PyTorch (13.0).",
    ),
    "an older driver": (
        replace(GOOD, gpus=(), driver_cuda="12.2"),
        "may_break",
        "The NVIDIA driver on your system is too old",
    ),
    "no visible GPU": (
        replace(GOOD, gpus=(), visible="-1"),
        "may_break",
        "RuntimeError: 0 active drivers ([]). There should only be one.",
    ),
    "a GPU torch has no code for": (
        replace(GOOD, gpus=(GpuFacts(0, "Old", (7, 0)),)),
        "breaks",
        "CUDA error: no kernel image is available for execution on the device",
    ),
    "no triton": (
        replace(GOOD, triton=None, triton_error="No module named 'triton'"),
        "breaks",
        "TritonMissing: Cannot find a working triton installation.",
    ),
    "another triton": (
        replace(GOOD, triton="3.2.0"),
        "may_break",
        "CompilationError or AttributeError inside triton",
    ),
    "no temporary directory": (
        replace(GOOD, folders=folder(exists=False)),
        "breaks",
        "Error generating temporary directory",
    ),
    "a read-only directory": (
        replace(GOOD, folders=folder(writable=False)),
        "breaks",
        "PermissionError: [Errno 13] Permission denied",
    ),
    "a noexec directory": (
        replace(GOOD, folders=folder(noexec=True)),
        "breaks",
        "Error in dlopen: …: failed to map segment from shared object",
    ),
    "a full disk": (
        replace(GOOD, folders=folder(free=GIB // 8)),
        "may_break",
        "OSError: [Errno 28] No space left on device",
    ),
    "no file entries": (
        replace(GOOD, folders=folder(inodes_left=False)),
        "breaks",
        "OSError: [Errno 28] No space left on device",
    ),
    "a CPU build beside a GPU": (
        replace(GOOD, torch_cuda=None, gpus=()),
        "limits",
        "AssertionError: Torch not compiled with CUDA enabled",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_machine_is_named_with_the_words_of_the_failure(name: str) -> None:
    machine, severity, words = BAD[name]
    found: list[Problem] = problems(machine)
    assert len(found) == 1
    assert found[0].severity == severity
    assert (found[0].message or "").startswith(words)


def test_ptx_covers_newer_gpus() -> None:
    newer = GpuFacts(0, "Newer", (12, 1))
    assert problems(replace(GOOD, gpus=(newer,))) == []


def test_an_architecture_with_its_own_features_counts_as_its_number() -> None:
    assert problems(replace(GOOD, architectures=("sm_90a",))) == []


def test_an_unexamined_release_is_said_to_be_one() -> None:
    found = problems(replace(GOOD, torch="2.4.1"))
    assert [p.severity for p in found] == ["limits"]


def test_the_worst_comes_first() -> None:
    machine = replace(GOOD, toolkit="12.4", triton=None)
    assert [p.severity for p in problems(machine)] == ["breaks", "may_break"]
