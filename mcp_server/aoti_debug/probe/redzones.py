"""Writes past a buffer of the CPU: each that a package allocates has red zones before and behind
it, which are looked at after each kernel."""

from __future__ import annotations

import ctypes
from typing import Any

from . import handles, taps
from .describe import extent
from .lazy import torch

Document = dict[str, Any]

_BYTES = 1024  # of a red zone: keeps the alignment
_VALUE = 0xA5
_MOST = 4096  # buffers
_ALLOCATES = "aoti_torch_empty_strided"


class Redzones(taps.Hook):
    """Give buffers red zones: `overrun` is the first write into one, `buffers` counts them."""

    kinds = ("allocation", "free", "generated", "extern")

    def __init__(self) -> None:
        self.overrun: Document | None = None
        self.buffers = self._launches = 0
        self._memory: dict[int, Any] = {}  # by handle: the buffer with its red zones

    def after(self, call: taps.Call) -> None:
        if call.kind in ("generated", "extern"):
            self._launches += 1
            self._look(call)
        elif call.name == _ALLOCATES and self.buffers < _MOST:
            self._surround(call)

    def before(self, call: taps.Call) -> None:
        if call.kind == "free":
            self._memory.pop(call.args[0] or 0, None)

    def _surround(self, call: taps.Call) -> None:
        """Put a view into larger memory in the place of a new buffer."""
        at = call.args[-1]
        old = handles.read_handle(at)
        given = handles.tensor_of(old)
        if given is None or given.device.type != "cpu":
            return
        size = extent(given.shape, given.stride()) * given.element_size()
        room = -(-size // 64) * 64 - size  # the next zone begins where the buffer ends
        memory = torch.full((size + room + 2 * _BYTES,), _VALUE, dtype=torch.uint8)
        inner = memory[_BYTES : _BYTES + size].view(given.dtype)
        new = handles.handle_of(inner.as_strided(given.shape, given.stride()))
        ctypes.c_void_p.from_address(at).value = new
        handles.torch_library().held.aoti_torch_delete_tensor_object(ctypes.c_void_p(old))
        self._memory[new] = memory, size, list(given.shape)
        self.buffers += 1

    def _look(self, call: taps.Call) -> None:
        if self.overrun is not None:
            return
        for memory, size, shape in self._memory.values():
            behind = memory[_BYTES + size :] != _VALUE
            ahead = memory[:_BYTES] != _VALUE
            if not (bool(behind.any()) or bool(ahead.any())):
                continue
            begin = memory.data_ptr() + _BYTES
            names = (p.name for p, t in call.tensors() if t is not None and t.data_ptr() == begin)
            self.overrun = {
                "kernel": call.name,
                "launch": self._launches,
                "argument": next(names, ""),
                "shape": shape,
                "bytes": size,
                "behind": int(behind.nonzero()[-1]) + 1 if bool(behind.any()) else 0,
                "ahead": _BYTES - int(ahead.nonzero()[0]) if bool(ahead.any()) else 0,
            }
            return
