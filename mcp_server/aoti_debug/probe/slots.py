"""Replace what a loaded library calls: the slots of its table of imported functions."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import platform
import re
import struct
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from .lazy import torch

ENTRY = b"AOTInductorModelContainerRun"
_NAMES_BYTES = 256 << 20  # of a table of names
# Relocations that hold the address of a function: GLOB_DAT and JUMP_SLOT.
_KINDS = {"x86_64": (6, 7), "aarch64": (1025, 1026)}
_LOADED, _DYNAMIC, _READ_ONLY = 1, 2, 0x6474E552  # kinds of segments
_NOLOAD = 4  # of dlopen
_STRTAB, _SYMTAB, _RELA, _RELASZ, _STRSZ, _PLTRELSZ, _JMPREL = 5, 6, 7, 8, 10, 2, 23


Callbacks = dict[str, tuple[list[int], Any]]  # by name: the slots, and a function of ctypes


class Unavailable(Exception):
    """A library's calls cannot be seen; the message says why."""


class _Segment(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("type", "flags")),
        *(
            (n, ctypes.c_uint64)
            for n in ("offset", "start", "physical", "in_file", "size", "align")
        ),
    ]


class _Loaded(ctypes.Structure):
    _fields_ = [
        ("base", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("segments", ctypes.POINTER(_Segment)),
        ("count", ctypes.c_uint16),
    ]


@dataclass(frozen=True)
class Library:
    """A loaded library: its path, where it begins, and its dynamic table."""

    path: str
    base: int
    dynamic: dict[int, int]
    protected: tuple[tuple[int, int], ...]  # what the loader has made read-only, begin and end
    held: Any = field(compare=False, repr=False)  # keeps it loaded

    def names(self) -> bytes:
        return ctypes.string_at(self._at(_STRTAB), min(self.dynamic.get(_STRSZ, 0), _NAMES_BYTES))

    def slots(self, wanted: Collection[str]) -> dict[str, list[int]]:
        """Return the addresses of the slots of each of these functions that it calls."""
        text = self.names()
        names = {at: name for name in wanted for at in _ends(text, name.encode() + b"\0")}
        found: dict[str, list[int]] = {}
        for places, symbols in self._relocations():
            size = 24 * (int(symbols.max()) + 1)
            named = _numbers(self._at(_SYMTAB), size, torch.int32)[::6][symbols]
            ours = torch.isin(named, torch.tensor([*names], dtype=torch.int32))
            for place, at in zip(places[ours].tolist(), named[ours].tolist()):
                found.setdefault(names[at], []).append(self.base + place)
        return found

    def _relocations(self) -> Iterator[tuple[Any, Any]]:
        """Yield places and symbols of those of each table that hold the address of a function."""
        one, other = _KINDS[platform.machine()]
        for table, size in ((_RELA, _RELASZ), (_JMPREL, _PLTRELSZ)):
            if table in self.dynamic and self.dynamic.get(size, 0):
                whole = _numbers(self._at(table), self.dynamic[size], torch.int64).view(-1, 3)
                kinds = whole[:, 1] & 0xFFFFFFFF
                rows = whole[(kinds == one) | (kinds == other)]
                if len(rows):
                    yield rows[:, 0], rows[:, 1] >> 32

    def _at(self, tag: int) -> int:
        value = self.dynamic.get(tag, 0)
        return value if value >= self.base else self.base + value  # musl leaves it as in the file

    def write(self, slot: int, address: int) -> None:
        """Put an address into a slot, one that the loader has made read-only, too."""
        page = slot & -mmap.PAGESIZE
        sealed = any(begin <= slot < end for begin, end in self.protected)
        if sealed:
            _protect(page, mmap.PROT_READ | mmap.PROT_WRITE)
        ctypes.c_uint64.from_address(slot).value = address
        if sealed:
            _protect(page, mmap.PROT_READ)


def _numbers(address: int, size: int, dtype: Any) -> Any:
    """Return the memory of a library as a tensor of numbers."""
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=dtype)


def _ends(text: bytes, name: bytes) -> Iterator[int]:
    """Yield where a name ends one of a table of names: it may be the end of another."""
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + 1)


def _protect(page: int, access: int) -> None:
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if function(page, mmap.PAGESIZE, access):
        raise Unavailable(f"mprotect: error {ctypes.get_errno()}")


def libraries(wanted: Callable[[str], bool]) -> list[Library]:
    """Return the loaded libraries whose path is wanted.

    Raises:
        Unavailable: not on this system.
    """
    if sys.platform != "linux" or platform.machine() not in _KINDS:
        where = f"{sys.platform} on {platform.machine()}"
        raise Unavailable(
            f"calls of a package can be seen on Linux, x86-64 and aarch64, not {where}"
        )
    found: list[Library] = []

    def look(info: Any, size: int, data: Any) -> int:
        one = info.contents
        path = (one.name or b"").decode("utf-8", "surrogateescape")
        if path and wanted(path):
            with contextlib.suppress(OSError):  # it has no file of its own: the kernel's
                found.append(_library(path, one.base, one.segments[: one.count]))
        return 0

    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Loaded), ctypes.c_size_t, ctypes.c_void_p)
    ctypes.CDLL(None).dl_iterate_phdr(kind(look), None)
    return found


def _library(path: str, base: int, segments: list[Any]) -> Library:
    dynamic: dict[int, int] = {}
    for segment in segments:
        if segment.type == _DYNAMIC:
            whole = ctypes.string_at(base + segment.start, segment.size)
            for tag, value in struct.iter_unpack("<qQ", whole):
                dynamic.setdefault(tag, value)
    sealed = [s for s in segments if s.type == _READ_ONLY]
    protected = tuple((base + s.start, base + s.start + s.size) for s in sealed)
    # What is bound at its first call is bound now: a slot then holds the function itself.
    held = ctypes.CDLL(path, mode=_NOLOAD | ctypes.DEFAULT_MODE | 2)
    return Library(path, base, dynamic, protected, held)


def packages(known: set[str] | None = None) -> list[Library]:
    """Return the libraries of the packages that are loaded, but for `known` paths, to which all
    that are looked at are added."""
    seen = set() if known is None else known
    own = re.compile(r"/(?:torch/lib/|lib/(?:\w+-linux-gnu/)?lib)|linux-vdso|libpython")

    def wanted(path: str) -> bool:
        return path.endswith(".so") and path not in seen and not own.search(path)

    found = libraries(wanted)
    seen.update(library.path for library in found)
    return [library for library in found if ENTRY + b"\0" in library.names()]


def wrapped(
    library: Library,
    names: Collection[str],
    typed: Callable[[str], Any],
    wrap: Callable[[str, Any], Callable[..., Any]],
) -> Callbacks:
    """Return what is to be called in place of functions of these names: `typed` gives the type of
    ctypes of each, `wrap` makes what is called, of a function's name and the function itself."""
    found = {}
    for name, places in library.slots(names).items():
        kind = typed(name)
        original = kind(ctypes.c_uint64.from_address(places[0]).value)
        found[name] = places, kind(wrap(name, original))
    return found


@contextlib.contextmanager
def replaced(library: Library, callbacks: Callbacks) -> Iterator[None]:
    """Have a library call others for a while."""
    kept: list[tuple[int, int]] = []
    try:
        for places, callback in callbacks.values():
            address = ctypes.cast(callback, ctypes.c_void_p).value or 0
            for slot in places:
                kept.append((slot, ctypes.c_uint64.from_address(slot).value))
                library.write(slot, address)
        yield
    finally:
        for slot, address in reversed(kept):
            library.write(slot, address)
