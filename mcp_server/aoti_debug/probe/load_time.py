"""Measure the parts of a load, by the functions that torch's loader calls for a package."""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Callable

from . import slots
from .handles import torch_library

_HANDLE = ctypes.c_void_p
_DLOPEN = ctypes.CFUNCTYPE(_HANDLE, ctypes.c_char_p, ctypes.c_int)
_DLSYM = ctypes.CFUNCTYPE(_HANDLE, _HANDLE, ctypes.c_char_p)
# Archive, number of the member, destination, flags.
_EXTRACT = ctypes.CFUNCTYPE(ctypes.c_int, _HANDLE, ctypes.c_uint, ctypes.c_char_p, ctypes.c_uint)
# What reads or writes a file: its parameters, the part that it is, which of them is the path.
_READING: dict[str, tuple[Any, str, int]] = {
    "dlopen": (_DLOPEN, "dlopen", 0),
    "mz_zip_reader_extract_to_file": (_EXTRACT, "unzip", 2),
}
# What a library of a package exports and its loader looks up: the part that it is, its parameters.
_ENTRIES: dict[str, tuple[str, Any]] = {
    "AOTInductorModelContainerCreateWithDevice": (
        "constants",
        ctypes.CFUNCTYPE(ctypes.c_int, _HANDLE, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p),
    ),
    "AOTInductorModelContainerRunConstantFolding": (
        "folding",
        ctypes.CFUNCTYPE(ctypes.c_int, _HANDLE, ctypes.c_bool, _HANDLE, _HANDLE),
    ),
}
_held: list[Any] = []  # callbacks that a loaded model may call at any time


class Parts:
    """Seconds and bytes of each part, in the order in which the parts were met."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.bytes: dict[str, int] = {}

    def add(self, name: str, seconds: float, size: int = 0) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.bytes[name] = self.bytes.get(name, 0) + size

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Add the time of a `with` block."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - began)

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "seconds": seconds, "bytes": self.bytes[name]}
            for name, seconds in self.seconds.items()
        ]


@contextlib.contextmanager
def watched(parts: Parts) -> Iterator[None]:
    """Measure what torch's loader calls for a package that is loaded within the `with` block.

    Raises:
        slots.Unavailable: not on this system.
    """
    library = torch_library()
    callbacks = {
        **slots.wrapped(
            library, ["dlsym"], lambda _: _DLSYM, lambda _, own: _looking_up(parts, own)
        ),
        **slots.wrapped(
            library,
            _READING,
            lambda name: _READING[name][0],
            lambda name, own: _measured(parts, _READING[name][1], own, _READING[name][2]),
        ),
    }
    with slots.replaced(library, callbacks), _instruction_sets(parts):
        yield


def _measured(
    parts: Parts, part: str, original: Any, path: int | None = None
) -> Callable[..., Any]:
    """Return a function whose seconds are those of a part, and the bytes of the file at a path that
    it is given."""

    def measured(*given: Any) -> Any:
        with parts.of(part):
            result = original(*given)
        if path is not None and given[path]:
            parts.add(part, 0.0, _size(given[path]))
        return result

    return measured


def _looking_up(parts: Parts, original: Any) -> Callable[..., Any]:
    def dlsym(handle: Any, name: Any) -> Any:
        address = original(handle, name)
        known = _ENTRIES.get(os.fsdecode(name)) if name else None
        if not address or known is None:
            return address
        part, kind = known
        _held.append(kind(_measured(parts, part, kind(address))))
        return ctypes.cast(_held[-1], ctypes.c_void_p).value

    return dlsym


def _size(path: Any) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


@contextlib.contextmanager
def _instruction_sets(parts: Parts) -> Iterator[None]:
    """Measure the search for the CPU's vector instructions, which compiles small programs."""
    codecache: Any = import_module("torch._inductor.codecache")
    original = getattr(codecache, "get_device_information", None)
    if original is None:  # before torch 2.10
        yield
        return

    def timed(device: str) -> Any:
        with parts.of("instruction set"):
            return original(device)

    codecache.get_device_information = timed
    try:
        yield
    finally:
        codecache.get_device_information = original
