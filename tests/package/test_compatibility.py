"""A package held against machines that it was not made for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from aoti_debug.model import EnvironmentAnswer
from aoti_debug.package.compatibility import will_it_load
from aoti_debug.package.here import Here, here
from aoti_debug.package.inspect import inspect

GOOD = Here(torch="2.13.0", gpus=(), machine="x86_64", platform="linux", glibc="2.36")


def words(path: Path, machine: Here) -> list[str]:
    return [p.message or "" for p in will_it_load(inspect(path), machine)]


def test_the_machine_that_compiled_it_loads_it(packages: Path) -> None:
    assert words(packages / "torch-2.13" / "dyn.pt2", GOOD) == []


def test_an_older_c_library_is_named_with_the_version(packages: Path) -> None:
    found = words(packages / "torch-2.13" / "dyn.pt2", replace(GOOD, glibc="2.28"))
    assert len(found) == 1
    assert "version `GLIBC_2.34' not found (required by" in found[0]


def test_an_older_cpp_runtime_is_named_with_the_version(packages: Path, tmp_path: Path) -> None:
    runtime = tmp_path / "libstdc++.so.6"
    runtime.write_bytes(b"\0GLIBCXX_3.4\0GLIBCXX_3.4.9\0GLIBCXX_3.4.28\0CXXABI_1.3.12\0")
    found = words(packages / "torch-2.13" / "dyn.pt2", replace(GOOD, libstdcxx=runtime))
    assert [f for f in found if "version `GLIBCXX_3.4.30' not found" in f]


def test_a_processor_without_the_instructions_is_named(packages: Path) -> None:
    old = replace(GOOD, cpu_flags=frozenset({"avx2", "fma"}))
    for release in ("2.13", "2.9", "2.6"):
        found = words(packages / f"torch-{release}" / "dyn.pt2", replace(old, torch=None))
        assert found[0] == "Illegal instruction (core dumped)"


@pytest.mark.parametrize(
    ("release", "torch", "message"),
    [
        ("2.9", "2.6.0", "No AOTInductor generate cpp file or so file found in zip archive."),
        ("2.13", "2.7.1", "No AOTInductor generate cpp file or so file found in zip archive."),
        ("2.6", "2.13.0", "Loading outdated pt2 file. Please regenerate your package."),
    ],
)
def test_layouts_of_other_releases_are_judged(
    packages: Path, release: str, torch: str, message: str
) -> None:
    assert words(packages / f"torch-{release}" / "dyn.pt2", replace(GOOD, torch=torch)) == [message]


@pytest.mark.parametrize(("release", "torch"), [("2.9", "2.13.0"), ("2.13", "2.9.1")])
def test_releases_with_one_layout_read_each_other(packages: Path, release: str, torch: str) -> None:
    assert words(packages / f"torch-{release}" / "dyn.pt2", replace(GOOD, torch=torch)) == []


def test_this_machine_is_described_by_its_environment() -> None:
    known = EnvironmentAnswer(
        torch="2.13.0",
        torch_path="/none/torch",
        torch_cuda="13.0",
        devices=["cuda:0 NVIDIA H200 (sm_90, 139 GiB)", "cuda:1 Some (sm_120, 96 GiB)"],
        compiler="/usr/bin/g++",
    )
    found = here(known)
    assert found.gpus == ((9, 0), (12, 0))
    assert found.torch_libraries() == []
    assert here(None).gpus is None
