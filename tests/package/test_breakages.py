"""Every way a package breaks, with the category and the words the user sees.

The words of the rows marked `seen` were printed by torch 2.13.0 when it loaded such a package.
"""

from __future__ import annotations

import struct
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from aoti_debug.answers import EnvironmentAnswer
from aoti_debug.model import Category
from aoti_debug.package.compatibility import will_it_load
from aoti_debug.package.here import Here
from aoti_debug.package.inspect import answer, inspect
from aoti_debug.signals import Stopped
from programs import torch_folder
from recordings import Members, change, drop, machine, members, metadata, write

OUTDATED = "Loading outdated pt2 file. Please regenerate your package."
NO_MODEL = "Failed to find a generated cpp file or so file for model 'model' in the zip archive."
HERE = Here(torch="2.13.0+cpu", gpus=(), machine="x86_64", platform="linux")


@dataclass(frozen=True)
class Broken:
    how: Callable[[Members], Members]
    category: Category
    words: str | None
    package: str = "dyn"
    seen: bool = True


BROKEN = {
    "the library is missing": Broken(
        lambda m: drop(m, ".wrapper.so"), "package_corrupt", "File not found: …_compile_flags.json"
    ),
    "the library is empty": Broken(
        lambda m: change(m, ".so", lambda d: b""), "package_corrupt", "file too short"
    ),
    "the library is no ELF file": Broken(
        lambda m: change(m, ".so", lambda d: b"XXXX" + d[4:]),
        "package_corrupt",
        "invalid ELF header",
    ),
    "the library ends in its code": Broken(
        lambda m: change(m, ".so", lambda d: d[:20_000]),
        "package_corrupt",
        "file too short",
        seen=False,
    ),
    "the library is for another machine": Broken(
        lambda m: change(m, ".so", machine(183)),
        "package_incompatible",
        "cannot open shared object file: No such file or directory",
    ),
    "the device is not said": Broken(
        lambda m: change(m, "_metadata.json", metadata(AOTI_DEVICE_KEY=None)),
        "package_corrupt",
        "KeyError: 'AOTI_DEVICE_KEY'",
    ),
    "the device is unknown": Broken(
        lambda m: change(m, "_metadata.json", metadata(AOTI_DEVICE_KEY="quantum")),
        "package_corrupt",
        "Unsupported device key found: quantum",
        seen=False,
    ),
    "the device is not here": Broken(
        lambda m: change(m, "_metadata.json", metadata(AOTI_DEVICE_KEY="cuda")),
        "device_unavailable",
        "AssertionError: Torch not compiled with CUDA enabled",
    ),
    "the platform differs": Broken(
        lambda m: change(m, "_metadata.json", metadata(AOTI_PLATFORM="win32")),
        "package_incompatible",
        "Device information mismatch for AOTI_PLATFORM: linux vs win32. This could cause some "
        "issues when loading the AOTInductor compiled artifacts.",
    ),
    "the model has another name": Broken(
        lambda m: [(n.replace("/model/", "/other/"), d) for n, d in m],
        "package_incompatible",
        NO_MODEL,
    ),
    "the format is another": Broken(
        lambda m: change(m, "archive_format", lambda d: b"pt3"),
        "package_corrupt",
        "AssertionError: Invalid archive format",
    ),
    "the format is not said": Broken(
        lambda m: drop(m, "archive_format"), "package_corrupt", OUTDATED
    ),
    "the version is from the future": Broken(
        lambda m: change(m, "archive_version", lambda d: b"99"),
        "package_incompatible",
        "ValueError: Saved archive version 99 does not match our current archive version 0.",
    ),
    "the archive is empty": Broken(
        lambda m: [], "package_corrupt", "No files found in zip archive."
    ),
    "members lie elsewhere": Broken(
        lambda m: [*m, ("x/archive_format", b"pt2")], "package_corrupt", OUTDATED
    ),
    "the operators are not described": Broken(
        lambda m: drop(m, "wrapper.json"),
        "package_corrupt",
        "Unable to find a proxy executor to run custom ops. Please check if there is a json file "
        "generated in the same directory as the so",
        "custom",
    ),
    "the operator is not registered": Broken(
        lambda m: m, "custom_op_missing", "Could not find schema for demo::twice.", "custom"
    ),
    "weights lie beside the library": Broken(
        lambda m: m, "constants_missing", "Segmentation fault (core dumped)", "disk"
    ),
    "a weight is missing": Broken(
        lambda m: drop(m, "weight_0"),
        "constants_missing",
        "Segmentation fault (core dumped)",
        "disk",
    ),
    "a member's name points outside": Broken(
        lambda m: [*m, ("dyn/data/aotinductor/model/../../../../../evil", b"x")],
        "package_corrupt",
        None,  # torch writes it there and says nothing
    ),
    "the metadata is no JSON": Broken(
        lambda m: change(m, "wrapper_metadata.json", lambda d: b"{not"), "package_corrupt", None
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_breakage_is_named_with_the_words_the_user_sees(
    name: str, packages: Path, tmp_path: Path
) -> None:
    broken = BROKEN[name]
    entries = members(packages / "torch-2.13" / f"{broken.package}.pt2")
    package = inspect(write(tmp_path / "broken.pt2", broken.how(entries)))
    found = [p for p in will_it_load(package, HERE) if p.category == broken.category]
    assert found
    assert broken.words is None or any(broken.words in (p.message or "") for p in found)


def test_truncation_anywhere_is_found(packages: Path, tmp_path: Path) -> None:
    data = (packages / "torch-2.13" / "dyn.pt2").read_bytes()
    path = tmp_path / "cut.pt2"
    for share in (0.1, 0.5, 0.9, 0.999):
        path.write_bytes(data[: int(len(data) * share)])
        flaws = inspect(path).flaws
        assert [f.category for f in flaws] == ["package_corrupt"]
        assert flaws[0].message == (
            "Failed to initialize zip archive: failed finding central directory"
        )


def test_an_empty_and_a_missing_file_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty.pt2").touch()
    prefix = "Failed to initialize zip archive: "
    assert inspect(tmp_path / "empty.pt2").flaws[0].message == f"{prefix}not a ZIP archive"
    assert inspect(tmp_path / "none.pt2").flaws[0].message == f"{prefix}file open failed"


def test_a_flipped_byte_is_found_that_torch_does_not_notice(packages: Path, tmp_path: Path) -> None:
    data = bytearray((packages / "torch-2.13" / "dyn.pt2").read_bytes())
    at = data.index(b"\x7fELF") + 150_000
    data[at] ^= 0xFF
    path = tmp_path / "flipped.pt2"
    path.write_bytes(data)
    flaw = inspect(path).flaws[0]
    assert "checksum differs" in flaw.what
    assert (flaw.category, flaw.confidence, flaw.severity) == (
        "package_corrupt",
        "proved",
        "may_break",
    )


def test_a_library_without_debug_sections_is_healthy(packages: Path, tmp_path: Path) -> None:
    def without_sections(data: bytes) -> bytes:
        table = int.from_bytes(data[40:48], "little")
        return data[:table]

    entries = change(members(packages / "torch-2.13" / "dyn.pt2"), ".so", without_sections)
    assert inspect(write(tmp_path / "short.pt2", entries)).flaws == ()


def test_an_undefined_symbol_is_found_against_the_installed_torch(
    packages: Path, tmp_path: Path
) -> None:
    renamed = change(
        members(packages / "torch-2.13" / "dyn.pt2"),
        ".so",
        lambda d: d.replace(b"aoti_torch_cpu_addmm_out", b"aoti_torch_cpu_addmm_ouX"),
    )
    path = write(tmp_path / "skewed.pt2", renamed)
    torch = EnvironmentAnswer(
        torch="2.13.0", torch_path=torch_folder(), torch_cuda=None, compiler="g++"
    )
    found = answer(path, torch)
    assert found.loads_here == "no"
    symbol = next(p for p in found.problems if p.category == "missing_symbol")
    assert (symbol.message or "").endswith("undefined symbol: aoti_torch_cpu_addmm_ouX")
    assert "older than the torch that compiled" in symbol.what
    healthy = answer(packages / "torch-2.13" / "dyn.pt2", torch)
    assert (healthy.loads_here, healthy.problems) == ("yes", [])


def test_an_exported_program_is_no_package(tmp_path: Path) -> None:
    entries = [
        ("exported/models/model.json", b"{}"),
        ("exported/archive_format", b"pt2"),
        ("exported/archive_version", b"0"),
        ("exported/data/weights/model_weights_config.json", b"{}"),
    ]
    package = inspect(write(tmp_path / "exported.pt2", entries))
    assert package.layout == "exported_program"
    flaw = package.flaws[0]
    assert (flaw.category, flaw.message) == ("package_corrupt", NO_MODEL)
    assert "torch.export.load" in (flaw.fix or "")


def test_a_bare_library_is_not_taken_for_a_package(packages: Path, tmp_path: Path) -> None:
    library = next(d for n, d in members(packages / "torch-2.13" / "dyn.pt2") if n.endswith(".so"))
    path = tmp_path / "model.pt2"
    path.write_bytes(library)
    flaw = inspect(path).flaws[0]
    assert flaw.message == "Failed to initialize zip archive: failed finding central directory"
    assert "bare library" in flaw.what


def sizes(path: Path, stored: int, real: int) -> None:
    """Change both sizes of the library in the archive's table of contents by so much."""
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x05\x06")
    entry = int.from_bytes(data[at + 16 : at + 20], "little")
    while not (name := _name(data, entry)).endswith(".so"):
        lengths = struct.unpack_from("<HHH", data, entry + 28)
        entry += 46 + sum(lengths)
        assert name
    was = struct.unpack_from("<II", data, entry + 20)
    struct.pack_into("<II", data, entry + 20, was[0] + stored, was[1] + real)
    path.write_bytes(data)


def _name(data: bytearray, entry: int) -> str:
    length = int.from_bytes(data[entry + 28 : entry + 30], "little")
    return data[entry + 46 : entry + 46 + length].decode()


@pytest.mark.parametrize(
    ("stored", "real"), [(-1, 0), (0, 1), (0, -10), (0, 1 << 31), (1 << 30, 1 << 30)]
)
def test_sizes_that_torch_refuses_are_not_said_to_load(packages, tmp_path, stored, real):
    """Seen with torch 2.13: invalid header or archive is corrupted, for each of these."""
    path = write(tmp_path / "m.pt2", members(packages / "torch-2.13" / "dyn.pt2"))
    sizes(path, stored, real)
    found = answer(path)
    assert found.loads_here == "no"
    messages = [problem.message or "" for problem in found.problems]
    assert any("invalid header or archive is corrupted" in message for message in messages)


def test_large_members_are_verified_where_all_are_asked_for(tmp_path):
    path = tmp_path / "large.pt2"
    large, small = bytes(200 << 20), b"pt2"
    write(path, [("m/archive_format", small), ("m/data/aotinductor/model/weights", large)])
    with path.open("r+b") as file:
        file.seek(100 << 20)
        file.write(b"x")
    assert not [f for f in inspect(path).flaws if "checksum" in f.what]
    (flaw,) = [f for f in inspect(path, threading.Event()).flaws if "checksum" in f.what]
    assert "weights" in flaw.what
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        inspect(path, stop)


def test_a_method_that_torch_cannot_read_is_not_unpacked(packages, tmp_path):
    path = write(tmp_path / "m.pt2", members(packages / "torch-2.13" / "dyn.pt2"))
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<H", data, at + 10, zipfile.ZIP_LZMA)
        at = data.find(b"PK\x01\x02", at + 46)
    path.write_bytes(data)
    found = answer(path)
    assert found.loads_here != "yes"
    assert any("by a method that torch cannot read" in problem.what for problem in found.problems)


def test_what_grows_without_measure_is_not_unpacked_for_its_checksum(packages, tmp_path):
    """A megabyte may hold a gigabyte, and be written a thousand times."""
    path = tmp_path / "m.pt2"
    write(path, members(packages / "torch-2.13" / "dyn.pt2"))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dyn/data/weights/w", bytes(400 << 20))
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 16, 1)  # its checksum
    path.write_bytes(data)
    said = [flaw.what for flaw in inspect(path, threading.Event()).flaws]
    assert any("would grow" in what for what in said)
    assert not any("checksum" in what for what in said)
