"""Tensors that a package hands to torch's shims, and what its pointers are of."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from . import slots
from .lazy import torch


@functools.lru_cache(maxsize=1)
def torch_library() -> slots.Library:
    """Return the library of torch that defines the shims and loads packages.

    Raises:
        Unavailable: torch is built in another way.
    """
    found = slots.libraries(lambda path: path.rpartition("/")[2].startswith("libtorch_cpu.so"))
    if not found:
        raise slots.Unavailable(
            "this torch has no libtorch_cpu.so, so its packages cannot be watched"
        )
    return found[0]


def tensor_of(handle: int | None) -> Any:
    """Return the tensor that a handle stands for, which shares its memory; None where it has none.

    Hold it no longer than the hook runs: the package's memory is not given back meanwhile.
    """
    if not handle or not _defined(handle):
        return None
    own = ctypes.c_void_p()
    if torch_library().held.aoti_torch_new_tensor_handle(
        ctypes.c_void_p(handle), ctypes.byref(own)
    ):
        return None
    return torch._C._aoti.alloc_tensor_by_stealing_from_void_ptr(_capsule()(own, None, None))


def handle_of(tensor: Any) -> int:
    """Return a new handle of a tensor, which keeps its memory until the handle is deleted."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(torch._C._aoti.unsafe_alloc_void_ptr_from_tensor(tensor), None))


def _defined(handle: int) -> bool:
    asked = getattr(torch_library().held, "aoti_torch_is_defined", None)
    answer = ctypes.c_bool(True)
    if asked is not None:
        asked(ctypes.c_void_p(handle), ctypes.byref(answer))
    return answer.value


@functools.lru_cache(maxsize=1)
def _capsule() -> Any:
    function = ctypes.pythonapi.PyCapsule_New
    function.restype = ctypes.py_object
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return function


def read_handle(address: int | None, number: int = 0) -> int | None:
    """Return one of the handles that lie at an address."""
    return ctypes.c_void_p.from_address(address + 8 * number).value if address else None


class Pointers:
    """Which tensor a raw pointer was taken from, last."""

    def __init__(self) -> None:
        self._handles: dict[int, int] = {}
        self._pointers: dict[int, int] = {}

    def taken(self, handle: int, pointer: int | None) -> None:
        if pointer:
            self._handles[pointer] = handle
            self._pointers[handle] = pointer

    def freed(self, handle: int) -> None:
        pointer = self._pointers.pop(handle, None)
        if pointer is not None and self._handles.get(pointer) == handle:
            del self._handles[pointer]

    def tensor(self, pointer: int | None) -> Any:
        """Return the tensor whose memory begins here; None where none is known."""
        return tensor_of(self._handles.get(pointer or 0))
