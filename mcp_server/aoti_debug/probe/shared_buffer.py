"""Keep the inputs of the call that is under way in memory that outlives the process.

One file of fixed size holds them, mapped and shared: a copy of a few kilobytes costs microseconds
where a file costs milliseconds, and what a crash leaves is whole up to the call that crashed.
What the bytes are is written elsewhere: in the event that describes the call's inputs.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import describe, store

BYTES = 4 << 20
_ALIGNED = 256
_FEW = 1 << 14  # elements

Described = dict[str, Any]
_memory: dict[int, tuple[str, Any]] = {}  # of this process: name of the file, its bytes


def layout(described: Sequence[Described], sizes: Sequence[int]) -> list[int] | None:
    """Return where each tensor's first element lies; None when they do not fit.

    `sizes` are bytes of an element, one for each tensor. The remainder of the storage offset
    keeps the alignment.
    """
    places: list[int] = []
    end = 0
    for leaf, size in zip((d for d in described if d["index"] is not None), sizes):  # noqa: B905
        if "stride" not in leaf or any(step < 0 for step in leaf["stride"]):
            return None
        begin = end + int(leaf.get("alignment") or _ALIGNED) % _ALIGNED
        extent = 1 + sum(
            (n - 1) * step
            for n, step in zip(leaf["shape"], leaf["stride"])  # noqa: B905
        )
        places.append(begin)
        end = -(-(begin + max(extent, 0) * size) // _ALIGNED) * _ALIGNED
    return places if end <= BYTES else None


def views(torch: Any, flat: Sequence[Any], described: Sequence[Described]) -> list[Any] | None:
    """Return tensors like those of a call, in the shared memory; None where that cannot be."""
    plain = all(type(t) is torch.Tensor and describe.plain(torch, t) for t in flat)
    if not plain or any(t.device.type != "cpu" for t in flat):
        return None
    if any(0 in t.stride() and t.numel() > 1 for t in flat):
        return None  # copy_ refuses memory that is shared within a tensor
    places = layout(described, [t.element_size() for t in flat])
    if places is None:
        return None
    with torch.inference_mode(False):  # else they could be written to in that mode alone
        memory = _bytes(torch)
        if memory is None:
            return None
        pairs = zip(flat, places)  # noqa: B905 - Python 3.9
        return [_view(memory, at, t.dtype, t.shape, t.stride()) for t, at in pairs]


def addresses(views: Sequence[Any]) -> list[tuple[int, int]] | None:
    """Return (address, bytes) of each tensor, where the bytes can be copied as they lie: few, or
    with little between the elements."""
    found = []
    for t in views:
        pairs = zip(t.shape, t.stride())  # noqa: B905 - Python 3.9
        extent = 1 + sum((n - 1) * step for n, step in pairs) if t.numel() else 0
        if extent > max(_FEW, 2 * t.numel()):
            return None
        found.append((int(t.data_ptr()), extent * int(t.element_size())))
    return found


def read(torch: Any, path: str) -> Described:
    """Return the document of a capture, of a file of shared memory and the words beside it."""
    told = json.loads(Path(path).with_suffix(".json").read_text(encoding="utf-8"))
    described = told["inputs"]
    memory = torch.frombuffer(bytearray(Path(path).read_bytes()), dtype=torch.uint8)
    tensors = [leaf for leaf in described if leaf["index"] is not None]
    dtypes = [getattr(torch, leaf["dtype"]) for leaf in tensors]
    places = layout(tensors, [dtype.itemsize for dtype in dtypes])
    if places is None or len(tensors) != len(described):
        raise ValueError(f"{path} does not hold such inputs")
    flat = [
        _view(memory, at, dtype, leaf["shape"], leaf["stride"])
        for leaf, dtype, at in zip(tensors, dtypes, places)  # noqa: B905 - Python 3.9
    ]
    if told.get("nested"):  # as the package and the program nest them themselves
        return {"flat": flat, "args": None, "inputs": described}
    names = told["keywords"]
    count = len(flat) - len(names)
    kwargs = dict(zip(names, flat[count:]))  # noqa: B905 - Python 3.9
    return {"flat": flat, "args": tuple(flat[:count]), "kwargs": kwargs, "inputs": described}


def _view(memory: Any, at: int, dtype: Any, shape: Sequence[int], stride: Sequence[int]) -> Any:
    size = dtype.itemsize
    extent = 1 + sum((n - 1) * s for n, s in zip(shape, stride))  # noqa: B905 - Python 3.9
    part = memory[at : at + max(extent, 0) * size].view(dtype)
    return part.as_strided(tuple(shape), tuple(stride))


def _bytes(torch: Any) -> Any:
    process = os.getpid()
    if process not in _memory:
        folder = store.directory()
        if folder is None:
            return None
        name = store.own_name("call-now", ".bin")
        descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.ftruncate(descriptor, BYTES)
            memory = torch.frombuffer(mmap.mmap(descriptor, BYTES), dtype=torch.uint8)
        finally:
            os.close(descriptor)
        _memory[process] = (f"{folder.name}/{name}", memory)
    return _memory[process][1]


def name() -> str | None:
    """Return the name of this process's file, if it has one."""
    return _memory[os.getpid()][0] if os.getpid() in _memory else None
