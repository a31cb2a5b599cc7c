"""Libraries and GPU binaries, some of them built here; packages held against machines that they
were not made for; wrappers for CUDA, as the code generators of torch write them.

Every way a package breaks, with the category and the words the user sees.
"""

from __future__ import annotations

import gzip
import struct
import subprocess
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.answers import EnvironmentAnswer
from aoti_debug.model import Category
from aoti_debug.package.compatibility import will_it_load
from aoti_debug.package.elf import read_binary, read_library, runs_on
from aoti_debug.package.host_facts import HostFacts, host_facts
from aoti_debug.package.inspect import answer, inspect
from aoti_debug.package.record import Library
from aoti_debug.package.wrapper import read_wrapper
from aoti_debug.signals import Stopped
from programs import torch_folder
from recordings import Members, change, drop, machine, members, metadata, write

How = Callable[[bytes], bytes]
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
    source, library = folder / "model.cpp", folder / "model.so"
    source.write_text(MODEL)
    command = ["g++", "-shared", "-fPIC", "-Os", "-s", str(source), *flags, "-o", str(library)]
    subprocess.run(command, check=True, timeout=120)
    return library


def read(path: Path) -> Library:
    with path.open("rb") as stream:
        return read_library(path.name, stream, path.stat().st_size)


def test_a_shared_libstdcxx_is_no_fault(tmp_path: Path) -> None:
    library = read(build(tmp_path))
    assert (library.static_libstdcxx, library.model, library.error) == (False, True, None)
    assert "libstdc++.so.6" in library.needed
    assert "aoti_torch_delete_tensor_object" in library.undefined


@pytest.fixture
def changed(dyn: Path, tmp_path: Path) -> Callable[[How], Path]:
    """Return what copies the package with another library."""
    return lambda how: write(tmp_path / "changed.pt2", change(members(dyn), ".so", how))


@pytest.mark.parametrize("hidden", [(), ("-Wl,--exclude-libs,ALL",)])
def test_a_static_libstdcxx_is_predicted_from_the_package_alone(
    changed: Callable[[How], Path], tmp_path: Path, hidden: tuple[str, ...]
) -> None:
    built = build(tmp_path, "-static-libstdc++", *hidden)
    assert read(built).static_libstdcxx
    flaw = inspect(changed(lambda _: built.read_bytes())).flaws[0]
    assert (flaw.category, flaw.confidence, flaw.severity) == ("toolchain", "proved", "breaks")
    assert "Segmentation fault" in (flaw.message or "")
    assert "/usr/bin/g++" in (flaw.fix or "")


def test_a_library_of_very_many_symbols_is_read_whole(
    changed: Callable[[How], Path], tmp_path: Path
) -> None:
    more = tmp_path / "more.cpp"
    more.write_text("".join(f"int held_{number};\n" for number in range(30_000)))
    built = build(tmp_path, str(more))
    library = inspect(changed(lambda _: built.read_bytes())).models[0].library
    assert library and (library.error, library.model) == (None, True)


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


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "the file is empty"),
        (b"hello", "it is not a GPU binary"),
        (b"\x7fELF\x02", "the file is cut off"),
    ],
)
def test_what_is_no_gpu_binary_is_said_so(data: bytes, error: str) -> None:
    assert read_binary("x.cubin", data).error == error


@pytest.mark.parametrize(
    ("architecture", "capability", "runs"),
    [
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),
        ("sm_90", (8, 0), False),
        ("sm_90", (9, 1), True),
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


OUTDATED = "Loading outdated pt2 file. Please regenerate your package."
NO_FILE = "No AOTInductor generate cpp file or so file found in zip archive."
GOOD = HostFacts(torch="2.13.0", gpus=(), machine="x86_64", platform="linux", glibc="2.36")


def words(path: Path, machine: HostFacts) -> list[str]:
    return [p.message or "" for p in will_it_load(inspect(path), machine)]


def test_an_older_cpp_runtime_is_named_with_the_version(dyn: Path, tmp_path: Path) -> None:
    runtime = tmp_path / "libstdc++.so.6"
    runtime.write_bytes(b"\0GLIBCXX_3.4\0GLIBCXX_3.4.9\0GLIBCXX_3.4.28\0CXXABI_1.3.12\0")
    found = words(dyn, replace(GOOD, libstdcxx=runtime))
    assert any("version `GLIBCXX_3.4.30' not found" in one for one in found)


def test_a_processor_without_the_instructions_is_named(packages: Path) -> None:
    old = replace(GOOD, cpu_flags=frozenset({"avx2", "fma"}))
    for release in ("2.13", "2.9", "2.6"):
        found = words(packages / f"torch-{release}" / "dyn.pt2", replace(old, torch=None))
        assert found[0] == "Illegal instruction (core dumped)"


@pytest.mark.parametrize(
    ("release", "torch", "messages"),
    [
        ("2.9", "2.6.0", [NO_FILE]),
        ("2.13", "2.7.1", [NO_FILE]),
        ("2.6", "2.13.0", [OUTDATED]),
        ("2.13", "2.13.0", []),
        ("2.9", "2.13.0", []),
        ("2.13", "2.9.1", []),
    ],
)
def test_layouts_of_other_releases_are_judged(
    packages: Path, release: str, torch: str, messages: list[str]
) -> None:
    known = replace(GOOD, torch=torch)
    assert words(packages / f"torch-{release}" / "dyn.pt2", known) == messages


def test_this_machine_is_described_by_its_environment() -> None:
    devices = ["cuda:0 NVIDIA H200 (sm_90, 139 GiB)", "cuda:1 Some (sm_120, 96 GiB)"]
    known = EnvironmentAnswer(torch="2.13.0", torch_path="/none/torch", devices=devices)
    found = host_facts(known)
    assert (found.torch, found.gpus) == ("2.13.0", ((9, 0), (12, 0)))
    assert found.torch_libraries() == []
    assert host_facts(None).gpus is None


CALLER = """\
static __attribute__((noinline)) void call_triton_poi_fused_add_0(
    const in_ptr0_type_& in_ptr0,
    kernels_type_& kernels_,
    const std::optional<std::string>& cubin_dir_ = std::nullopt
){
    uint32_t grid_0 = ((xnumel + (128 - 1)) / (128));
    if (kernels_.triton_poi_fused_add_0 == nullptr) {
        kernels_.triton_poi_fused_add_0 = loadKernel(LOAD, &kernels_.loaded_modules_);
    }
    launchKernel(kernels_.triton_poi_fused_add_0, grid_0, grid_1, 1, 4, 0, kernel_args_, stream_);
}
"""
FROM_FILE = '"/home/me/cache/cabc.cubin", "triton_poi_fused_add_0", 64, cubin_dir_'
EMBEDDED = '__triton_poi_fused_add_0_start, "triton_poi_fused_add_0", 0'
RUN = """\
void AOTInductorModel::run_impl(
) {
    auto arg0_1 = std::move(inputs[0]);
    inputs.clear();
    AOTICudaStreamGuard stream_guard(stream, this->device_idx_);
    // Topologically Sorted Source Nodes: [add, mul], Original ATen: [aten.add, aten.mul]
    // [Provenance debug handles] triton_poi_fused_add_0:1
    call_triton_poi_fused_add_0(arg0_1, buf0, 4L, this->device_idx_, stream, kernels);
    if (u0 > 0) {
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cuda_mm_out(buf1, buf0, arg0_1));
    }
    while (u1) {
        aoti_torch_proxy_executor_call_function(proxy_executor, 0, 0, nullptr);
    }
    kernels.cuda_fused_gemm_1(buf0, stream);
    output_handles[0] = buf1.release();
} // AOTInductorModel::run_impl
"""


def text(load: str) -> str:
    return CALLER.replace("LOAD", load) + RUN


def test_an_embedded_kernel_names_no_file() -> None:
    kernel = read_wrapper("x.wrapper.cpp", text(EMBEDDED)).kernels[0]
    assert (kernel.name, kernel.binary, kernel.embedded) == ("triton_poi_fused_add_0", None, True)


def test_launches_of_every_kind_are_read_in_order() -> None:
    launches = read_wrapper("x.wrapper.cpp", text(FROM_FILE)).launches
    assert [(one.kernel, one.kind) for one in launches] == [
        ("triton_poi_fused_add_0", "triton"),
        ("aoti_torch_cuda_mm_out", "extern"),
        ("proxy_executor[0]", "custom_op"),
        ("cuda_fused_gemm_1", "cuda"),
    ]
    assert launches[0].ops == ("aten.add", "aten.mul")
    assert launches[0].handle == "triton_poi_fused_add_0:1"


OLDER = """\
void AOTInductorModel::run_impl(
    if (kernels.triton_poi_fused_0 == nullptr) {
        kernels.triton_poi_fused_0 = loadKernel("/c/x.cubin", "triton_", 0, this->cubin_dir_);
    }
    if (grid_0.is_non_zero()) {
        launchKernel(kernels.triton_poi_fused_0, grid_0.grid_x, 1, 1, 4, 0, args, s);
    }
} // AOTInductorModel::run_impl
"""


def test_torch_2_6_launches_without_a_caller() -> None:
    wrapper = read_wrapper("x.cpp", OLDER)
    assert [one.kernel for one in wrapper.launches] == ["triton_poi_fused_0"]
    assert wrapper.kernels[0].binary == "x.cubin"


def test_a_missing_cubin_is_named_with_its_kernel(dyn: Path, tmp_path: Path) -> None:
    source = text(FROM_FILE).replace("aoti_torch_proxy_executor", "none").encode()
    how = metadata(AOTI_DEVICE_KEY="cuda", AOTI_COMPUTE_CAPABILITY="90")
    entries = change(change(members(dyn), ".wrapper.cpp", lambda _: source), "_metadata.json", how)
    path = write(tmp_path / "cuda.pt2", entries)
    assert answer(path).models[0].launches[0].binary == "cabc.cubin"
    flaw = next(f for f in inspect(path).flaws if f.category == "missing_kernel_binary")
    assert flaw.message == "CUDA driver error: file not found"
    assert "triton_poi_fused_add_0" in flaw.what


NO_MODEL = "Failed to find a generated cpp file or so file for model 'model' in the zip archive."
HERE = replace(GOOD, torch="2.13.0+cpu", glibc=None)


@dataclass(frozen=True)
class Broken:
    how: Callable[[Members], Members]
    words: str | None
    category: Category = "package_corrupt"
    package: str = "dyn"


def without(*endings: str) -> Callable[[Members], Members]:
    return lambda entries: drop(entries, *endings)


def of(ending: str, how: How | bytes) -> Callable[[Members], Members]:
    """Return what changes such entries, or replaces them."""
    return lambda entries: change(entries, ending, how if callable(how) else lambda _: how)


def said(**keys: str | None) -> Callable[[Members], Members]:
    return of("_metadata.json", metadata(**keys))


# These words were printed by torch 2.13.0, but for those of a library that ends in its code and of
# an unknown device.
DIED = "Segmentation fault (core dumped)"
BROKEN: dict[str, tuple[Any, ...]] = {
    "the library is missing": (without(".wrapper.so"), "File not found: …_compile_flags.json"),
    "the library is empty": (of(".so", b""), "file too short"),
    "the library is no ELF file": (
        of(".so", lambda data: b"text" + data[4:]),
        "invalid ELF header",
    ),
    "the library ends in its code": (of(".so", lambda d: d[:20_000]), "file too short"),
    "the library is for another machine": (
        of(".so", machine(183)),
        "cannot open shared object file: No such file or directory",
        "package_incompatible",
    ),
    "the device is not said": (said(AOTI_DEVICE_KEY=None), "KeyError: 'AOTI_DEVICE_KEY'"),
    "the device is unknown": (
        said(AOTI_DEVICE_KEY="quantum"),
        "Unsupported device key found: quantum",
    ),
    "the device is not here": (
        said(AOTI_DEVICE_KEY="cuda"),
        "AssertionError: Torch not compiled with CUDA enabled",
        "device_unavailable",
    ),
    "the platform differs": (
        said(AOTI_PLATFORM="win32"),
        "Device information mismatch for AOTI_PLATFORM: linux vs win32.",
        "package_incompatible",
    ),
    "the model has another name": (
        lambda m: [(n.replace("/model/", "/other/"), d) for n, d in m],
        NO_MODEL,
        "package_incompatible",
    ),
    "the format is another": (
        of("archive_format", b"pt3"),
        "AssertionError: Invalid archive format",
    ),
    "the format is not said": (without("archive_format"), OUTDATED),
    "the version is from the future": (
        of("archive_version", b"99"),
        "ValueError: Saved archive version 99 does not match our current archive version 0.",
        "package_incompatible",
    ),
    "the archive is empty": (lambda m: [], "No files found in zip archive."),
    "members lie elsewhere": (lambda m: [*m, ("x/archive_format", b"pt2")], OUTDATED),
    "the operators are not described": (
        without("wrapper.json"),
        "Unable to find a proxy executor to run custom ops.",
        "package_corrupt",
        "custom",
    ),
    "the operator is not registered": (
        list,
        "Could not find schema for demo::twice.",
        "custom_op_missing",
        "custom",
    ),
    "weights lie beside the library": (list, DIED, "constants_missing", "disk"),
    "a weight is missing": (without("weight_0"), DIED, "constants_missing", "disk"),
    "a member's name points outside": (
        lambda m: [*m, ("dyn/data/aotinductor/model/../../../../../evil", b"x")],
        None,  # torch writes it there and says nothing
    ),
    "the metadata is no JSON": (of("wrapper_metadata.json", b"{not"), None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_breakage_is_named_with_the_words_the_user_sees(
    name: str, newest: Path, tmp_path: Path
) -> None:
    broken = Broken(*BROKEN[name])
    entries = members(newest / f"{broken.package}.pt2")
    package = inspect(write(tmp_path / "broken.pt2", broken.how(entries)))
    found = [p for p in will_it_load(package, HERE) if p.category == broken.category]
    assert found
    assert broken.words is None or any(broken.words in (p.message or "") for p in found)


NOT_ZIP = "Failed to initialize zip archive: "


def test_what_is_no_whole_archive_is_told_apart(dyn: Path, tmp_path: Path) -> None:
    data, path = dyn.read_bytes(), tmp_path / "cut.pt2"
    for share in (0.1, 0.5, 0.9, 0.999):
        path.write_bytes(data[: int(len(data) * share)])
        (flaw,) = inspect(path).flaws
        assert flaw.category == "package_corrupt"
        assert flaw.message == f"{NOT_ZIP}failed finding central directory"
    library = next(content for name, content in members(dyn) if name.endswith(".so"))
    for foreign, said in (
        (library, "bare library"),
        (gzip.compress(b"weights"), "the file is not a zip archive"),
    ):
        path.write_bytes(foreign)
        (flaw,) = inspect(path).flaws
        assert said in flaw.what
        assert flaw.message == f"{NOT_ZIP}failed finding central directory"
    path.write_bytes(b"")
    assert inspect(path).flaws[0].message == f"{NOT_ZIP}not a ZIP archive"
    assert inspect(tmp_path / "none.pt2").flaws[0].message == f"{NOT_ZIP}file open failed"


def test_a_flipped_byte_is_found_that_torch_does_not_notice(dyn: Path, tmp_path: Path) -> None:
    data = bytearray(dyn.read_bytes())
    at = data.index(b"\x7fELF") + 150_000
    data[at] ^= 0xFF
    path = tmp_path / "flipped.pt2"
    path.write_bytes(data)
    flaw = inspect(path).flaws[0]
    assert "checksum differs" in flaw.what
    told = (flaw.category, flaw.severity, flaw.confidence)
    assert told == ("package_corrupt", "may_break", "proved")


def test_a_library_without_debug_sections_is_healthy(changed: Callable[[How], Path]) -> None:
    assert inspect(changed(lambda d: d[: int.from_bytes(d[40:48], "little")])).flaws == ()


def test_an_undefined_symbol_is_found_against_the_installed_torch(
    dyn: Path, changed: Callable[[How], Path]
) -> None:
    name = b"aoti_torch_cpu_addmm_ou"
    path = changed(lambda d: d.replace(name + b"t", name + b"X"))
    torch = EnvironmentAnswer(torch="2.13.0", torch_path=torch_folder(), compiler="g++")
    found = answer(path, torch)
    assert found.loads_here == "no"
    symbol = next(p for p in found.problems if p.category == "missing_symbol")
    assert (symbol.message or "").endswith("undefined symbol: aoti_torch_cpu_addmm_ouX")
    healthy = answer(dyn, torch)
    # The package holds AVX-512 code, which the processor of this machine may lack.
    assert [p for p in healthy.problems if "this processor lacks" not in p.what] == []


def test_an_exported_program_is_no_package(tmp_path: Path) -> None:
    entries = [("exported/models/model.json", b"{}"), ("exported/archive_format", b"pt2")]
    package = inspect(write(tmp_path / "exported.pt2", entries))
    flaw = package.flaws[0]
    assert (package.layout, flaw.category) == ("exported_program", "package_corrupt")
    assert flaw.message == NO_MODEL
    assert "torch.export.load" in (flaw.fix or "")


def sizes(path: Path, stored: int, real: int) -> None:
    """Change both sizes of the library in the archive's table of contents by so much."""
    data = bytearray(path.read_bytes())
    library = next(name for name, _ in members(path) if name.endswith(".so"))
    entry = data.rindex(library.encode()) - 46
    was = struct.unpack_from("<II", data, entry + 20)
    struct.pack_into("<II", data, entry + 20, was[0] + stored, was[1] + real)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("stored", "real"), [(-1, 0), (0, 1), (0, -10), (0, 1 << 31), (1 << 30, 1 << 30)]
)
def test_sizes_that_torch_refuses_are_not_said_to_load(dyn, tmp_path, stored, real):
    """Seen with torch 2.13: invalid header or archive is corrupted, for each of these."""
    path = write(tmp_path / "m.pt2", members(dyn))
    sizes(path, stored, real)
    found = answer(path)
    assert found.loads_here == "no"
    said = "invalid header or archive is corrupted"
    assert any(said in (problem.message or "") for problem in found.problems)


def test_large_members_are_verified_where_all_are_asked_for(tmp_path):
    entries = [("m/archive_format", b"pt2"), ("m/data/aotinductor/model/weights", bytes(200 << 20))]
    path = write(tmp_path / "large.pt2", entries)
    with path.open("r+b") as file:
        file.seek(100 << 20)
        file.write(b"x")
    assert not [f for f in inspect(path).flaws if "checksum" in f.what]
    stop = threading.Event()
    (flaw,) = [f for f in inspect(path, stop).flaws if "checksum" in f.what]
    assert "weights" in flaw.what
    stop.set()
    with pytest.raises(Stopped):
        inspect(path, stop)


def test_a_method_that_torch_cannot_read_is_not_unpacked(dyn, tmp_path):
    path = write(tmp_path / "m.pt2", members(dyn))
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<H", data, at + 10, zipfile.ZIP_LZMA)
        at = data.find(b"PK\x01\x02", at + 46)
    path.write_bytes(data)
    found = answer(path)
    assert found.loads_here != "yes"
    assert any("by a method that torch cannot read" in problem.what for problem in found.problems)


def test_what_grows_without_measure_is_not_unpacked(dyn, tmp_path):
    """A megabyte may hold a gigabyte, and be written a thousand times."""
    path = write(tmp_path / "m.pt2", members(dyn))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dyn/data/weights/w", bytes(400 << 20))
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 16, 1)  # its checksum
    path.write_bytes(data)
    said = [flaw.what for flaw in inspect(path, threading.Event()).flaws]
    assert any("would grow" in what for what in said)
    assert not any("checksum" in what for what in said)
