"""Read which GPU architectures a compiled kernel is for: cubin, fatbin, hsaco, SPIR-V."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal

from aoti_debug.package.record import Binary

HEAD = 4096
ENTRIES_LIMIT = 200
_ELF = b"\x7fELF"
_FATBIN = b"\x50\xed\x55\xba"
_SPIRV = b"\x03\x02\x23\x07"
_CUDA = 190
_AMDGPU = 224
SUFFIXES = (".cubin", ".fatbin", ".hsaco", ".spv")
Kind = Literal["cubin", "fatbin", "hsaco", "spv", "unknown"]
_KINDS: dict[str, Kind] = {
    ".cubin": "cubin", ".fatbin": "fatbin", ".hsaco": "hsaco", ".spv": "spv",
}  # fmt: skip


def read_binary(member: str, data: bytes) -> Binary:
    """Return the architectures in `data` (the whole file, or for a cubin its first bytes)."""
    kind = _KINDS.get(PurePosixPath(member).suffix, "unknown")
    if not data:
        return Binary(member, kind, error="the file is empty")
    if data[:4] == _FATBIN:
        found = tuple(dict.fromkeys(_fatbin(data)))
        return Binary(member, "fatbin", found, error=None if found else "it holds no kernel")
    if data[:4] == _ELF:
        return _elf(member, kind, data)
    if data[:4] == _SPIRV:
        return Binary(member, "spv")
    if data.lstrip()[:2] == b"//" or b".target sm_" in data[:HEAD]:
        return Binary(member, kind, tuple(_ptx_target(data)))
    return Binary(member, kind, error="it is no GPU binary")


def _elf(member: str, kind: Kind, data: bytes) -> Binary:
    if len(data) < 64 or data[4] != 2:
        return Binary(member, kind, error="the file is cut off")
    machine = int.from_bytes(data[18:20], "little")
    if machine == _AMDGPU:
        return Binary(member, "hsaco", (f"amdgcn flags {data[48]:#x}",))
    if machine != _CUDA:
        return Binary(member, kind, error=f"it is an ELF file of machine {machine}, not a cubin")
    sections = int.from_bytes(data[40:48], "little")
    error = "the file is cut off" if sections >= len(data) and len(data) < HEAD else None
    return Binary(member, "cubin", (f"sm_{_sm(data)}",), error=error)


def _sm(data: bytes) -> int:
    """Return the architecture number: bits 8-15 of e_flags from ABI version 8 on (CUDA 13), bits
    0-7 before."""
    flags = int.from_bytes(data[48:52], "little")
    return (flags >> 8) & 0xFF if data[8] >= 8 else flags & 0xFF


def _fatbin(data: bytes) -> Iterator[str]:
    """Walk the entries: u16 kind (1 PTX, 2 ELF), u16, u32 header bytes, u64 bytes, …, u32
    architecture at 28."""
    at = int.from_bytes(data[6:8], "little")
    end = min(len(data), at + int.from_bytes(data[8:16], "little"))
    for _ in range(ENTRIES_LIMIT):
        if at + 32 > end:
            return
        kind = int.from_bytes(data[at : at + 2], "little")
        header = int.from_bytes(data[at + 4 : at + 8], "little")
        size = int.from_bytes(data[at + 8 : at + 16], "little")
        architecture = int.from_bytes(data[at + 28 : at + 32], "little")
        if header < 32:
            return
        yield f"{'compute' if kind == 1 else 'sm'}_{architecture}"
        at += header + size


def _ptx_target(data: bytes) -> Iterator[str]:
    at = data.find(b".target sm_")
    if at >= 0:
        digits = data[at + 11 : at + 15].decode("ascii", "replace")
        number = "".join(c for c in digits if c.isdecimal())
        yield f"compute_{number}"


def runs_on(architecture: str, capability: tuple[int, int]) -> bool | None:
    """Tell whether a binary for `architecture` runs on a device; None when it is not known.

    A cubin runs on its own major version from its minor version on; PTX on anything newer.
    """
    family, _, digits = architecture.partition("_")
    if family not in ("sm", "compute") or not digits.isdecimal():
        return None
    major, minor = divmod(int(digits), 10)
    if family == "compute":
        return (major, minor) <= capability
    return major == capability[0] and minor <= capability[1]
