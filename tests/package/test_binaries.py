"""Libraries and GPU binaries, some of them built here, and packages held against machines that they
were not made for."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from aoti_debug.answers import EnvironmentAnswer
from aoti_debug.package.compatibility import will_it_load
from aoti_debug.package.elf import read_binary, read_library, runs_on
from aoti_debug.package.here import Here, here
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import Library
from package_archives import change, members, write

MODEL = """
#include <iostream>
#include <sstream>
extern "C" void aoti_torch_delete_tensor_object(void*);
extern "C" int AOTInductorModelContainerRun(void* p) {
  std::ostringstream text; text << p; std::cerr << text.str();
  aoti_torch_delete_tensor_object(p);
  return 0;
}
"""


def build(folder: Path, *flags: str) -> Path:
    compiler = shutil.which("g++")
    assert compiler is not None
    (folder / "model.cpp").write_text(MODEL)
    library = folder / "model.so"
    command = [compiler, "-shared", "-fPIC", "-Os", "-s", str(folder / "model.cpp"), *flags]
    subprocess.run([*command, "-o", str(library)], check=True, timeout=120)
    return library


def read(path: Path) -> Library:
    with path.open("rb") as stream:
        return read_library(path.name, stream, path.stat().st_size)


def test_a_shared_libstdcxx_is_no_fault(tmp_path: Path) -> None:
    library = read(build(tmp_path, "-Wl,-rpath,/opt/one:/opt/two"))
    assert (library.static_libstdcxx, library.model, library.error) == (False, True, None)
    assert "libstdc++.so.6" in library.needed
    assert library.rpath == ("/opt/one", "/opt/two")
    assert "aoti_torch_delete_tensor_object" in library.undefined


@pytest.mark.parametrize("hidden", [(), ("-Wl,--exclude-libs,ALL",)])
def test_a_static_libstdcxx_is_predicted_from_the_package_alone(
    packages: Path, tmp_path: Path, hidden: tuple[str, ...]
) -> None:
    built = build(tmp_path, "-static-libstdc++", *hidden)
    assert read(built).static_libstdcxx
    entries = change(
        members(packages / "torch-2.13" / "dyn.pt2"), ".so", lambda d: built.read_bytes()
    )
    flaw = inspect(write(tmp_path / "static.pt2", entries)).flaws[0]
    assert (flaw.category, flaw.confidence, flaw.severity) == ("toolchain", "proved", "breaks")
    assert "Segmentation fault" in (flaw.message or "")
    assert "/usr/bin/g++" in (flaw.fix or "")


def test_a_text_is_no_library(tmp_path: Path) -> None:
    path = tmp_path / "model.so"
    path.write_text("hello " * 100)
    assert read(path).error == "invalid ELF header"
    path.write_text("")
    assert read(path).error == "file too short"


@pytest.mark.parametrize(
    ("name", "architectures"),
    [
        ("k75.cubin", ("sm_75",)),
        ("k90.cubin", ("sm_90",)),
        ("k100.cubin", ("sm_100",)),
        ("k.fatbin", ("sm_80", "compute_90", "sm_90")),
    ],
)
def test_binaries_name_their_architectures(
    packages: Path, name: str, architectures: tuple[str, ...]
) -> None:
    data = (packages / "cuda" / name).read_bytes()
    assert read_binary(name, data).architectures == architectures
    assert read_binary(name, data[:4096]).error is None or name == "k.fatbin"


def test_older_cubins_keep_their_architecture_in_the_low_byte(packages: Path) -> None:
    data = bytearray((packages / "cuda" / "k90.cubin").read_bytes())
    data[8] = 7  # ABI version of CUDA 12
    data[48:52] = (0x00560556).to_bytes(4, "little")
    assert read_binary("old.cubin", bytes(data)).architectures == ("sm_86",)


def test_what_is_no_gpu_binary_is_said_so() -> None:
    assert read_binary("x.cubin", b"").error == "the file is empty"
    assert read_binary("x.cubin", b"hello").error == "it is no GPU binary"
    assert read_binary("x.cubin", b"\x7fELF\x02").error == "the file is cut off"


@pytest.mark.parametrize(
    ("architecture", "capability", "runs"),
    [
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),
        ("sm_90", (10, 0), False),
        ("compute_80", (12, 0), True),
        ("compute_90", (8, 9), False),
        ("gfx90a", (9, 0), None),
    ],
)
def test_which_device_runs_a_binary(
    architecture: str, capability: tuple[int, int], runs: bool | None
) -> None:
    assert runs_on(architecture, capability) is runs


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
