"""Read a library as the dynamic loader does, and the GPU architectures of compiled kernels."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from elftools.common.exceptions import ELFError
from elftools.common.utils import parse_cstring_from_stream
from elftools.construct.lib.container import Container
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.hash import GNUHashTable

from aoti_debug.package.record import Binary, Library
from aoti_debug.package.source import SourceError

VERSION_LENGTH = 60  # of a name such as GLIBCXX_3.4.30
SYMBOLS_LIMIT = 60_000
SYMBOL = {32: "I8xBxH", 64: "IBxH16x"}  # class of the file → name, binding and type, section
UNDEFINED, WEAK = 0, 2
MACHINES = {
    "EM_X86_64": "x86_64",
    "EM_AARCH64": "aarch64",
    "EM_PPC64": "ppc64le",
    "EM_S390": "s390x",
    "EM_RISCV": "riscv64",
    "EM_386": "i386",
}
ENTRY = "AOTInductorModelContainerRun"
# Objects and functions that only a static copy of libstdc++ defines inside a library.
STATIC_MARKS = ("_ZSt4cout", "_ZSt4cerr", "_ZNSt6locale7classicEv", "_ZNSt8ios_base4InitC1Ev")
LINKER_MARKS = {"", "bss", "data", "init_array", "fini_array", "preinit_array", "executable"}
MISSING_SYMBOL_PREFIXES = ("aoti_torch_", "_ZN3c10", "_ZN2at", "_ZN5torch", "_ZNK3c10", "_ZNK2at")


def read_library(member: str, stream: BinaryIO, size: int) -> Library:
    """Return what the library needs and defines; `error` says why it could not be read."""
    try:
        elf = _open(stream)
        machine = MACHINES.get(str(elf.header.e_machine), str(elf.header.e_machine))
        loaded = [s.header for s in _segments(elf) if s.header.p_type == "PT_LOAD"]
        if any(header.p_offset + header.p_filesz > size for header in loaded):
            return Library(member, machine, error="file too short")
        return _described(Library(member, machine), elf)
    except SourceError as error:
        return Library(member, error=str(error))
    except Exception as error:  # pyelftools raises anything on damaged files
        return Library(member, error=_reason(stream, error))


def _described(library: Library, elf: Any) -> Library:
    """Add what the dynamic tables say."""
    segment = next((s for s in _segments(elf) if s.header.p_type == "PT_DYNAMIC"), None)
    if segment is None:
        raise ELFError("no dynamic segment: not a shared library")
    needed: list[str] = []
    for count, tag in enumerate(segment.iter_tags()):
        if count > 4096:
            raise SourceError("its dynamic table does not end")
        if tag.entry.d_tag == "DT_NEEDED":
            needed.append(_clean(tag.needed))
    defined, undefined = set[str](), set[str]()
    for name, binding, section in _symbols(elf, segment):
        if name and section != UNDEFINED:
            defined.add(name)
        elif name and binding != WEAK:
            undefined.add(_clean(name))
    kernels = (n[2:-6] for n in defined if n.startswith("__") and n.endswith("_start"))
    return replace(
        library,
        needed=tuple(needed),
        undefined=tuple(sorted(undefined)),
        static_libstdcxx=_static(needed, defined, undefined),
        versions=tuple(sorted(_needed_versions(elf, segment).items())),
        embedded_kernels=tuple(sorted(n for n in kernels if n not in LINKER_MARKS)),
        model=ENTRY in defined,
    )


def _static(needed: list[str], defined: set[str], undefined: set[str]) -> bool:
    """Tell whether the C++ runtime is inside: it is not asked for, and is either visible here or
    nothing of it is missing (a library that hides its copy)."""
    if any(name.startswith(("libstdc++.so", "libc++.so")) for name in needed):
        return False
    if any(mark in defined for mark in STATIC_MARKS):
        return True
    # `__cxa_atexit` is libc's, hence not among them.
    runtime = ("_ZSt", "_ZNSt", "_ZNKSt", "_Zn", "_Zd", "__gxx_", "__cxa_throw", "__cxa_guard")
    uses_torch = any(name.startswith("aoti_torch_") for name in undefined)
    return uses_torch and not any(name.startswith(runtime) for name in undefined)


def _open(stream: BinaryIO) -> Any:
    elf = ELFFile(stream)
    # Sections are for debuggers: a library with a damaged table of them loads.
    elf.header.e_shoff = 0
    elf.header.e_shnum = 0
    return elf


def _reason(stream: BinaryIO, error: Exception) -> str:
    try:
        stream.seek(0)
        magic = stream.read(4)
    except SourceError as spent:  # pyelftools makes another error of it
        return str(spent)
    except OSError:
        magic = b""
    if not magic:
        return "file too short"
    if magic != _ELF:
        return "invalid ELF header"
    reason = str(error)[:100] if isinstance(error, ELFError) else type(error).__name__
    return f"damaged ELF file ({reason})"


def _segments(elf: Any) -> Iterator[Any]:
    for number in range(min(int(elf.header.e_phnum), 256)):
        yield elf.get_segment(number)


def _symbols(elf: Any, segment: Any) -> Iterator[tuple[str, int, int]]:
    """Yield name, binding and section of the first SYMBOLS_LIMIT dynamic symbols. pyelftools walks
    the dynamic table anew for each, with more reads than a window grants."""
    _, table = segment.get_table_offset("DT_SYMTAB")
    _, names = segment.get_table_offset("DT_STRTAB")
    if table is None or names is None:
        raise ELFError("no table of symbols")
    entry = struct.Struct(("<" if elf.little_endian else ">") + SYMBOL[elf.elfclass])
    count = min(segment.num_symbols(), SYMBOLS_LIMIT)
    elf.stream.seek(table)
    for name, kind, section in entry.iter_unpack(elf.stream.read(count * entry.size)):
        text = parse_cstring_from_stream(elf.stream, names + name) or b""
        yield text.decode("utf-8", "replace"), kind >> 4, section


def _clean(name: str) -> str:
    return "".join(c for c in name if c.isprintable())[:500]


def _needed_versions(elf: Any, segment: Any) -> dict[str, str]:
    """Return the highest GLIBC, GLIBCXX, CXXABI and GOMP version that is asked for."""
    _, offset = segment.get_table_offset("DT_VERNEED")
    counts = [t.entry.d_val for t in segment.iter_tags() if t.entry.d_tag == "DT_VERNEEDNUM"]
    highest: dict[str, str] = {}
    if offset is None or not counts:
        return highest
    # What a section's header would say: pyelftools looks for the table there.
    places = Container(sh_offset=offset, sh_info=min(counts[0], 200))
    header = Container(sh_flags=0, sh_size=0, sh_addralign=1, **places)
    table = GNUVerNeedSection(header, "", elf, segment._get_stringtable())
    for one in (one for _, names in table.iter_versions() for one in names):
        family, _, number = one.name.rpartition("_")
        short = len(one.name) < VERSION_LENGTH and family.isascii() and family.isprintable()
        if family and short and all(p.isdecimal() for p in number.split(".")):
            highest[family] = max(number, highest.get(family, "0"), key=version_key)
    return highest


def version_key(version: str) -> tuple[int, ...]:
    return tuple(int(p) for p in version.split(".") if p.isdecimal())


def missing_symbols(undefined: Iterable[str], libraries: Iterable[Path]) -> list[str]:
    """Return those of torch's symbols among `undefined` that none of `libraries` defines. Each name
    is looked up in the libraries' own hash tables: a library of gigabytes costs a few pages."""
    wanted = [name for name in undefined if name.startswith(MISSING_SYMBOL_PREFIXES)]
    for path in libraries:
        if not wanted:
            break
        with path.open("rb") as stream:
            try:
                table = _hash_table(_open(stream))
                wanted = [name for name in wanted if table.get_symbol(name) is None]
            except Exception:  # an odd library proves nothing about the package
                return []
    return wanted


def defined_versions(path: Path, family: str) -> list[str]:
    """Return the numbers of `family` (GLIBCXX, ...) that a library says it provides."""
    with path.open("rb") as stream:
        data = stream.read(64 * 1024 * 1024)
    found = re.findall(rb"%b_(\d{1,9}(?:\.\d{1,9}){0,3})\0" % family.encode(), data)
    return sorted({number.decode("ascii") for number in found}, key=version_key)


def _hash_table(elf: Any) -> Any:
    segment = next(s for s in _segments(elf) if s.header.p_type == "PT_DYNAMIC")
    _, offset = segment.get_table_offset("DT_GNU_HASH")
    if offset is None:
        raise ELFError("no hash table")
    return GNUHashTable(elf, offset, segment)


HEAD = 4096
ENTRIES_LIMIT = 200
_ELF = b"\x7fELF"
_FATBIN = b"\x50\xed\x55\xba"
_SPIRV = b"\x03\x02\x23\x07"
_CUDA = 190
_AMDGPU = 224
SUFFIXES = (".cubin", ".fatbin", ".hsaco", ".spv")


def read_binary(member: str, data: bytes) -> Binary:
    """Return the architectures in `data` (the whole file, or for a cubin its first bytes)."""
    if not data:
        return Binary(member, error="the file is empty")
    if data[:4] == _FATBIN:
        found = tuple(dict.fromkeys(_fatbin(data)))
        return Binary(member, found, error=None if found else "it holds no kernel")
    if data[:4] == _ELF:
        return _elf(member, data)
    if data[:4] == _SPIRV:
        return Binary(member)
    if data.lstrip()[:2] == b"//" or b".target sm_" in data[:HEAD]:
        target = re.search(rb"\.target sm_(\d{0,4})", data)
        return Binary(member, (f"compute_{target[1].decode()}",) if target else ())
    return Binary(member, error="it is not a GPU binary")


def _elf(member: str, data: bytes) -> Binary:
    if len(data) < 64 or data[4] != 2:
        return Binary(member, error="the file is cut off")
    machine = int.from_bytes(data[18:20], "little")
    if machine == _AMDGPU:
        return Binary(member, (f"amdgcn flags {data[48]:#x}",))
    if machine != _CUDA:
        return Binary(member, error=f"it is an ELF file of machine {machine}, not a cubin")
    sections = int.from_bytes(data[40:48], "little")
    error = "the file is cut off" if sections >= len(data) and len(data) < HEAD else None
    return Binary(member, (f"sm_{_sm(data)}",), error=error)


def _sm(data: bytes) -> int:
    """Return the architecture: of e_flags bits 8-15 from ABI version 8 on (CUDA 13), else 0-7."""
    flags = int.from_bytes(data[48:52], "little")
    return (flags >> 8) & 0xFF if data[8] >= 8 else flags & 0xFF


_ENTRY = struct.Struct("<HxxIQ12xI")  # kind (1 PTX, 2 ELF), header bytes, bytes, architecture


def _fatbin(data: bytes) -> Iterator[str]:
    """Walk the entries, which begin where the header says."""
    if len(data) < 16:
        return
    at, size = struct.unpack_from("<HQ", data, 6)
    end = min(len(data), at + size)
    for _ in range(ENTRIES_LIMIT):
        if at + _ENTRY.size > end:
            return
        kind, header, size, architecture = _ENTRY.unpack_from(data, at)
        if header < _ENTRY.size:
            return
        yield f"{'compute' if kind == 1 else 'sm'}_{architecture}"
        at += header + size


def runs_on(architecture: str, capability: tuple[int, int]) -> bool | None:
    """Tell whether a binary for `architecture` runs on a device; None when it is not known. A cubin
    runs on its own major version from its minor version on; PTX on anything newer."""
    family, _, digits = architecture.partition("_")
    if family not in ("sm", "compute") or not digits.isdecimal():
        return None
    major, minor = divmod(int(digits), 10)
    if family == "compute":
        return (major, minor) <= capability
    return major == capability[0] and minor <= capability[1]
