"""What breaks on a machine, from its facts alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aoti_debug.environment.rules import GIB, Compiler, Folder, Gpu, Machine, problems
from aoti_debug.model import Problem

H200 = Gpu(0, "NVIDIA H200", (9, 0), 139 * GIB)
GOOD = Machine(
    torch="2.13.0+cu130",
    torch_cuda="13.0",
    architectures=("sm_75", "sm_80", "sm_90", "sm_100", "compute_120"),
    gpus=(H200,),
    cuda_available=True,
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


BAD: dict[str, tuple[Machine, str, str]] = {
    "no torch": (Machine(torch_error="ModuleNotFoundError: No module named 'torch'"), "breaks",
                 "ModuleNotFoundError: No module named 'torch'"),
    "no compiler": (replace(GOOD, compiler=Compiler(None)), "breaks",
                    "InvalidCxxCompiler: No working C++ compiler found in "
                    "torch._inductor.config.cpp.cxx: (None, 'g++')"),
    "a compiler that fails": (replace(GOOD, compiler=Compiler("/c++", error="error: no input")),
                              "breaks", "CppCompileError: C++ compile error … error: no input"),
    "a static C++ runtime": (replace(GOOD, compiler=Compiler("/g++", static_libstdcxx=True)),
                             "breaks", "Segmentation fault (core dumped); or, with other"),
    "no OpenMP": (replace(GOOD, compiler=Compiler("/g++", without_openmp=True)), "breaks",
                  "fatal error: omp.h: No such file or directory"),
    "no Python headers": (replace(GOOD, headers={"Python.h": False}), "may_break",
                          "fatal error: Python.h: No such file or directory"),
    "no CUDA headers": (replace(GOOD, cuda_header=False), "breaks",
                        "fatal error: cuda.h: No such file or directory"),
    "an older toolkit": (replace(GOOD, toolkit="12.4"), "may_break",
                         "The detected CUDA version (12.4) mismatches the version that was used to "
                         "compile PyTorch (13.0)."),
    "an older driver": (replace(GOOD, gpus=(), driver_cuda="12.2"), "may_break",
                        "The NVIDIA driver on your system is too old"),
    "no visible GPU": (replace(GOOD, gpus=(), visible="-1"), "may_break",
                       "RuntimeError: 0 active drivers ([]). There should only be one."),
    "a GPU torch has no code for": (
        replace(GOOD, gpus=(Gpu(0, "Old", (7, 0)),)), "breaks",
        "CUDA error: no kernel image is available for execution on the device"),
    "no triton": (replace(GOOD, triton=None, triton_error="No module named 'triton'"), "breaks",
                  "TritonMissing: Cannot find a working triton installation."),
    "another triton": (replace(GOOD, triton="3.2.0"), "may_break",
                       "CompilationError or AttributeError inside triton"),
    "no temporary directory": (replace(GOOD, folders=folder(exists=False)), "breaks",
                               "Error generating temporary directory"),
    "a read-only directory": (replace(GOOD, folders=folder(writable=False)), "breaks",
                              "PermissionError: [Errno 13] Permission denied"),
    "a noexec directory": (replace(GOOD, folders=folder(noexec=True)), "breaks",
                           "Error in dlopen: …: failed to map segment from shared object"),
    "a full disk": (replace(GOOD, folders=folder(free=GIB // 8)), "may_break",
                    "OSError: [Errno 28] No space left on device"),
    "no file entries": (replace(GOOD, folders=folder(inodes_left=False)), "breaks",
                        "OSError: [Errno 28] No space left on device"),
    "a CPU build beside a GPU": (replace(GOOD, torch_cuda=None, gpus=()), "limits",
                                 "AssertionError: Torch not compiled with CUDA enabled"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_machine_is_named_with_the_words_of_the_failure(name: str) -> None:
    machine, severity, words = BAD[name]
    found: list[Problem] = problems(machine)
    assert len(found) == 1
    assert found[0].severity == severity
    assert (found[0].message or "").startswith(words)


def test_ptx_covers_newer_gpus() -> None:
    newer = Gpu(0, "Newer", (12, 1))
    assert problems(replace(GOOD, gpus=(newer,))) == []


def test_an_architecture_with_its_own_features_counts_as_its_number() -> None:
    assert problems(replace(GOOD, architectures=("sm_90a",))) == []


def test_an_unexamined_release_is_said_to_be_one() -> None:
    found = problems(replace(GOOD, torch="2.4.1"))
    assert [p.severity for p in found] == ["limits"]


def test_the_worst_comes_first() -> None:
    machine = replace(GOOD, toolkit="12.4", triton=None)
    assert [p.severity for p in problems(machine)] == ["breaks", "may_break"]
