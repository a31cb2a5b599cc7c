"""Libraries and GPU binaries, some of them built here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from aoti_debug.package.cubin import read_binary, runs_on
from aoti_debug.package.elf import read_library
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
