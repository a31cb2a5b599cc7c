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
from typing import Any, NamedTuple

from . import describe, events, store

BYTES = 4 << 20
PRIVATE_BYTES = 64 << 20  # of inputs that the model writes to: memory of the process alone
DEVICE_BYTES = 256 << 20
_ALIGNED = 256
_FEW = 1 << 14  # elements

Described = dict[str, Any]


class Layout(NamedTuple):
    """Where copies of a call's tensors lie: bytes of all, (place, bytes) of each."""

    bytes: int
    places: list[tuple[int, int]]


_private: list[Any] = []
_memory: dict[int, tuple[str, Any]] = {}  # of this process: name of the file, its bytes


def layout(
    described: Sequence[Described], sizes: Sequence[int], limit: int = BYTES
) -> Layout | None:
    """Return where each tensor lies; None when they do not fit.

    `sizes` are bytes of an element, one for each tensor. The remainder of the storage offset
    keeps the alignment.
    """
    places: list[tuple[int, int]] = []
    end = 0
    for leaf, size in zip((d for d in described if d["index"] is not None), sizes):
        if "stride" not in leaf or any(step < 0 for step in leaf["stride"]):
            return None
        begin = end + int(leaf.get("alignment") or _ALIGNED) % _ALIGNED
        extent = describe.extent(leaf["shape"], leaf["stride"])
        places.append((begin, extent * size))
        end = -(-(begin + extent * size) // _ALIGNED) * _ALIGNED
    return Layout(max(end, _ALIGNED), places) if end <= limit else None


def of_device(torch: Any, flat: Sequence[Any], described: Sequence[Described]) -> Layout | None:
    """Return where the tensors of a call on a device lie in a copy of them, which is made of the
    bytes as they lie; None where that cannot be."""
    flat = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
    if not all(type(t) is torch.Tensor and describe.plain(t) for t in flat):
        return None
    if any(one["kind"] == "other" for one in described):
        return None
    if len({t.get_device() for t in flat if t.is_cuda}) > 1:
        return None  # no kernel reads another device's memory
    found = layout(described, [t.element_size() for t in flat], DEVICE_BYTES)
    sizes = [size for _, size in found.places] if found is not None else []
    wide = (size > max(_FEW, 2 * t.numel()) * t.element_size() for size, t in zip(sizes, flat))
    return None if any(wide) else found


def views(
    torch: Any, flat: Sequence[Any], described: Sequence[Described], *, private: bool
) -> tuple[list[Any], Layout] | None:
    """Return tensors like those of a call, in the shared memory; None where that cannot be.
    `private`: the inputs are written to, so that larger ones are copied too, out of reach of a
    process that looks after a crash."""
    plain = all(type(t) is torch.Tensor and describe.plain(t) for t in flat)
    if not plain or any(t.device.type != "cpu" for t in flat):
        return None
    if any(0 in t.stride() and t.numel() > 1 for t in flat):
        return None  # copy_ refuses memory that is shared within a tensor
    limit = PRIVATE_BYTES if private else BYTES
    found = layout(described, [t.element_size() for t in flat], limit)
    if found is None:
        return None
    with torch.inference_mode(False):  # else they could be written to in that mode alone
        memory = _bytes(torch) if found.bytes <= BYTES else _own(torch)
        if memory is None:
            return None
        pairs = zip(flat, found.places)
        return [_view(memory, at, t.dtype, t.shape, t.stride()) for t, (at, _) in pairs], found


def held(torch: Any, layout: Layout) -> memoryview:
    """Return the bytes that are held of a call."""
    memory = _bytes(torch) if layout.bytes <= BYTES else _own(torch)
    return memoryview(memory.numpy())[: layout.bytes]


def addresses(views: Sequence[Any]) -> list[tuple[int, int]] | None:
    """Return (address, bytes) of each tensor, where the bytes can be copied as they lie: few, or
    with little between the elements."""
    found = []
    for t in views:
        extent = describe.extent(t.shape, t.stride())
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
    found = layout(tensors, [dtype.itemsize for dtype in dtypes], DEVICE_BYTES)
    if found is None or found.bytes > memory.numel():
        raise ValueError(f"{path} does not hold such inputs")
    copies = [
        _on(leaf["device"], _view(memory, at, dtype, leaf["shape"], leaf["stride"]))
        for leaf, dtype, (at, _) in zip(tensors, dtypes, found.places)
    ]
    ready = iter(copies)
    flat = [leaf.get("value") if leaf["index"] is None else next(ready) for leaf in described]
    if told.get("nested"):  # as the package and the program nest them themselves
        return {"flat": flat, "args": None, "inputs": described}
    names = told["keywords"]
    count = len(flat) - len(names)
    kwargs = dict(zip(names, flat[count:]))
    return {"flat": flat, "args": tuple(flat[:count]), "kwargs": kwargs, "inputs": described}


def _on(device: str, leaf: Any) -> Any:
    """Return a tensor with the same strides on the device of the call."""
    if device == "cpu":
        return leaf
    reach = describe.extent(leaf.shape, leaf.stride())
    memory = leaf.as_strided((reach,), (1,), leaf.storage_offset()).to(device)
    return memory.as_strided(leaf.shape, leaf.stride())


def _view(memory: Any, at: int, dtype: Any, shape: Sequence[int], stride: Sequence[int]) -> Any:
    part = memory[at : at + describe.extent(shape, stride) * dtype.itemsize].view(dtype)
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


def _own(torch: Any) -> Any:
    if not _private:
        _private.append(torch.empty(PRIVATE_BYTES, dtype=torch.uint8))
    return _private[0]


def device_files() -> list[str]:
    """Return where memory that devices write to may be. Drivers refuse that of most file systems,
    and log the refusal: it comes last."""
    folder = store.directory()
    if folder is None:
        return []
    shared = f"/dev/shm/aoti-debug-{events.secret()[:16] or 'run'}-{os.getpid()}.bin"
    return [shared, str(folder / f"call-device-{os.getpid()}.bin")]


def mapped(path: str, size: int) -> Any:
    """Return the memory of a new file, all of whose bytes the disk has."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
        return mmap.mmap(descriptor, size)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)
