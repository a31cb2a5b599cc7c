"""Read a GPU core dump's own tables: which thread of which kernel faulted, at which line.

The driver writes an ELF file of tables (cudacoredump.h of NVIDIA's open cuda-gdb): the type says
what a row is, `link` and `info` to which section and row it belongs. Rows grow at their end from
release to release. It is told in cuda-gdb's words, for one reader of both; of what a dump does not
hold whole (a hang, an assertion, a kernel without lines) nothing is told, and cuda-gdb is asked.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from elftools.dwarf.lineprogram import LineProgram
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.elffile import ELFFile

from aoti_debug.run.files import open_regular

EM_CUDA = 190
IMAGE, SMS, GRIDS, BLOCKS, WARPS, LANES = (0x80000000 + n for n in (7, 11, 12, 13, 14, 15))
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SM = struct.Struct("<IIIIQ")  # number, 0, exception, whether its address holds, address
_BLOCK = struct.Struct("<QIII")  # grid, x, y, z
_WARP = struct.Struct("<QIIIII")  # address, number, lanes, active lanes, broken, whether it holds
_LANE = struct.Struct("<QQIIIII")  # address, in its function, number, x, y, z, exception
_GRID = struct.Struct("<Q64xIIIIII")  # number, blocks, threads of a block
LINES_LIMIT = TABLE_LIMIT = 1 << 20  # bytes
CHUNK = 1 << 12  # sections
IMAGE_LIMIT = 1 << 24  # a larger one is a library's, without lines
# CUDBGException_t: those of an address, which the address of the fault belongs to.
EXCEPTIONS = {
    1: "Lane Illegal Address",
    5: "Warp Out-of-range Address",
    6: "Warp Misaligned Address",
    7: "Warp Invalid Address Space",
    11: "Lane Misaligned Address",
    14: "Warp Illegal Address",
}
# The low nine bits of an instruction of sm_70 and later; seen in nvdisasm for sm_80 to sm_120.
OPERATIONS = {
    0x180: "LD",
    0x181: "LDG",
    0x185: "ST",
    0x186: "STG",
    0x18A: "ATOM",
    0x18B: "ATOM",
    0x18E: "RED",
    0x1A6: "REDG",
    0x1A8: "ATOMG",
    0x1A9: "ATOMG",
}
SIZES = (".U8", ".S8", ".U16", ".S16", "", ".64", ".128")  # bits 73 to 75 of a load or a store


class Section(NamedTuple):
    """A table of the dump: its place in the file, and whose it is."""

    place: int
    kind: int
    offset: int
    size: int
    of_section: int
    of_row: int
    row: int  # bytes


class Place(NamedTuple):
    """Where an address lies in a kernel's code."""

    kernel: str
    start: int
    file: str
    line: int
    code: bytes


class Fault(NamedTuple):
    """A thread that faulted, and how it was launched."""

    exception: str
    address: int
    sm: int
    block: tuple[int, ...]
    thread: tuple[int, ...]
    blocks: tuple[int, ...]
    threads: tuple[int, ...]


def told(core: Path) -> str | None:
    """Return what cuda-gdb would say of the first fault, None where the tables do not tell."""
    try:
        with open_regular(core) as file:
            fault = first_fault(file)
            place = place_of(file, fault.address) if fault else None
    except Exception:  # struct and pyelftools raise anything on damaged files
        return None
    if fault is None or place is None or not (place.kernel + place.file).isprintable():
        return None
    return text(fault, place)


def part(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def sections(file: BinaryIO) -> Iterator[Section]:
    """Give the sections in their order, each after the one that it belongs to."""
    head = part(file, 0, 64)
    (at,), (size, count) = struct.unpack_from("<Q", head, 40), struct.unpack_from("<HH", head, 58)
    if head[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", head, 18)[0] != EM_CUDA:
        return
    if size != _SECTION.size:
        return
    count = count or _SECTION.unpack(part(file, at, size))[5]
    for begin in range(0, count, CHUNK):
        table = part(file, at + begin * size, min(CHUNK, count - begin) * size)
        for place, one in enumerate(_SECTION.iter_unpack(table), begin):
            _, kind, _, _, offset, length, link, info, _, row = one
            yield Section(place, kind, offset, length, link, info, row)
        if len(table) < size:
            return


def rows(file: BinaryIO, table: Section, layout: struct.Struct) -> Iterator[tuple[int, ...]]:
    data = part(file, table.offset, min(table.size, TABLE_LIMIT))
    for at in range(0, len(data), max(table.row, layout.size)):
        yield layout.unpack_from(data, at)


def first_fault(file: BinaryIO) -> Fault | None:
    """Return the first thread of the first processor that faulted."""
    grids: list[tuple[int, ...]] = []
    sm: tuple[int, int, int, int, int] | None = None  # section, row, number, exception, address
    blocks = warps = (0, 0)  # section and row
    block: tuple[int, ...] = ()
    for one in sections(file):
        of = (one.of_section, one.of_row)
        if one.kind == GRIDS:
            grids += rows(file, one, _GRID)
        elif one.kind == SMS and sm is None:
            for number, (name, _, exception, holds, address) in enumerate(rows(file, one, _SM)):
                if holds and exception in EXCEPTIONS:
                    sm = (one.place, number, name, exception, address)
                    break
        elif sm is None:
            continue
        elif one.kind == BLOCKS and of == sm[:2]:
            blocks, found = (one.place, 0), list(rows(file, one, _BLOCK))
        elif one.kind == WARPS and one.of_section == blocks[0] and blocks[0]:
            for number, warp in enumerate(rows(file, one, _WARP)):
                if warp[5] and warp[0] == sm[4]:
                    warps, block = (one.place, number), found[one.of_row]
                    break
        elif one.kind == LANES and of == warps and warps[0]:
            lane = next(lane for lane in rows(file, one, _LANE) if lane[6] == sm[3])
            grid = next(grid for grid in grids if grid[0] == block[0])
            places = block[1:4], lane[3:6], grid[1:4], grid[4:7]
            return Fault(EXCEPTIONS[sm[3]], sm[4], sm[2], *places)
    return None


def place_of(file: BinaryIO, address: int) -> Place | None:
    """Return the kernel that holds the address of an instruction, with its line."""
    for one in sections(file):
        if one.kind != IMAGE or one.size > IMAGE_LIMIT:
            continue
        image = ELFFile(io.BytesIO(part(file, one.offset, one.size)))
        for section in image.iter_sections():
            start = section["sh_addr"]
            if section.name.startswith(".text.") and 0 <= address - start < section["sh_size"]:
                line = line_of(image, address)
                code = section.data()[address - start :][:16]
                return Place(section.name[6:], start, *line, code) if line else None
        if one.kind == GRIDS:
            break
    return None


def line_of(image: ELFFile, address: int) -> tuple[str, int] | None:
    """Return file and line of an instruction, by the image's line table, which stands alone."""
    lines = image.get_section_by_name(".debug_line")
    if lines is None or not 0 < lines["sh_size"] <= LINES_LIMIT:
        return None
    dwarf = image.get_dwarf_info(relocate_dwarf_sections=False)
    structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)
    at = 0
    while at < lines["sh_size"]:
        program: LineProgram = dwarf._parse_line_program_at_offset(at, structs)
        before = None
        for entry in program.get_entries():
            now = entry.state
            if now is None:
                continue
            if before is not None and before.address <= address < now.address:
                named = program["file_entry"][before.file - 1]
                folder = (b"", *program["include_directory"])[named.dir_index]
                return str(Path(os.fsdecode(folder), os.fsdecode(named.name))), before.line
            before = None if now.end_sequence else now
        at += program["unit_length"] + 4
    return None


def operation(code: bytes) -> str | None:
    """Return what an instruction does to memory, and the register of its address, as nvdisasm
    writes them; None of any other."""
    low, high = struct.unpack("<QQ", code)
    name, register, size = OPERATIONS.get(low & 0x1FF), low >> 24 & 0xFF, high >> 9 & 7
    if name is None or size >= len(SIZES):
        return None
    width = "" if name.startswith(("ATOM", "RED")) else SIZES[size]
    return f"{name}.E{width} [R{register}.64]"


def text(fault: Fault, place: Place) -> str:
    """Say it in the words of cuda-gdb."""

    def triple(three: tuple[int, ...]) -> str:
        return "({},{},{})".format(*three)

    at, kernel = f"{fault.address:#x}", place.kernel
    does = operation(place.code) if len(place.code) == 16 else None
    launch = f"{kernel}<<<{triple(fault.blocks)},{triple(fault.threads)}>>> ()"
    said = [
        "Read from the tables of the GPU core dump, in the words of cuda-gdb.",
        f"[Current focus set to CUDA kernel 0, grid 0, block {triple(fault.block)}, "
        f"thread {triple(fault.thread)}, sm {fault.sm}]",
        f"CUDA Exception: {fault.exception}",
        f"The exception was triggered at PC {at}  {kernel}  ({place.file}:{place.line})",
        f"#0  {at} in {launch} at {place.file}:{place.line}",
    ]
    if does:
        said.append(f"*> {at} <{kernel}+{fault.address - place.start}>:\t{does}")
    return "\n".join(said) + "\n"
