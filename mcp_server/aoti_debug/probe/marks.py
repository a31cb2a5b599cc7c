"""A few elements of a tensor, by which its values are known again. Those of a device are copied
behind its other work, and waited for when they are read."""

from __future__ import annotations

import ctypes
import itertools
import math
from typing import Any, NamedTuple

from . import describe
from .lazy import torch

_SAMPLED = 32  # elements
_COPIED = 1 << 16  # elements of a tensor that is not dense
_NEAR, _TINY = 1e-3, 1e-5  # of an element, of the largest one
_ROWS = 256  # of a batch
_HELD = 4096  # elements of an output, to be held against another
_BYTES = 64 << 20
FAR = 1e-3  # of the largest value: more than rounding


class Later:
    """Elements on their way from a CUDA device."""

    __slots__ = ("_elements", "_event")

    def __init__(self, elements: Any) -> None:
        self._elements = elements.to("cpu", non_blocking=True)
        self._event = torch.cuda.current_stream(elements.device).record_event()

    def __len__(self) -> int:
        return len(self._elements)

    def ready(self) -> bool:
        return bool(self._event.query())

    def read(self) -> Any:
        self._event.synchronize()
        return self._elements


class Mark(NamedTuple):
    """What a tensor was: sizes, dtype, where its first element and its storage begin, and a sample
    of its values."""

    shape: tuple[int, ...]
    dtype: str
    address: int | None
    storage: int | None
    sample: Any  # bytes, or `Later`; None: not cheap to read
    version: int
    alive: Any  # weakly, the memory: what is freed may be given to another tensor

    @property
    def value(self) -> Any:
        """Return what two of the same values share; wait for a device."""
        own = as_bytes(self.sample) if self.sample is not None else (self.address, self.version)
        return self.shape, self.dtype, own

    def replaces(self, before: Mark) -> bool:
        """Tell whether it is the memory of an earlier one."""
        same = self.address is not None and self[:4] == before[:4]
        return same and not before.alive.expired()

    def rewritten(self, before: Mark) -> bool:
        """Tell whether it is the memory of an earlier one, with other values."""
        return self.replaces(before) and self.value != before.value


def of(leaf: Any) -> Mark:
    dtype = describe.dtype_of(leaf)
    at, first, alive = storage(leaf), None, None
    if at is not None:
        first = int(leaf.data_ptr())
        alive = torch.multiprocessing.reductions.StorageWeakRef(leaf.untyped_storage())
    return Mark(tuple(leaf.shape), dtype, first, at, sample(leaf), version(leaf), alive)


def tensors(tree: Any) -> list[Any]:
    leaves = torch.utils._pytree.tree_leaves(tree)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def sample(leaf: Any) -> Any:
    """Return a few elements, spread over a tensor: bytes, or `Later`."""
    few = spread(leaf, _SAMPLED)
    return few if few is None or isinstance(few, Later) else as_bytes(few)


def held(leaf: Any) -> Any:
    """Return a copy of up to some thousand elements, spread over a tensor."""
    return spread(leaf, _HELD)


def few(leaf: Any) -> Any:
    return spread(leaf, _SAMPLED)


def read(elements: Any) -> Any:
    """Return elements that are there; wait for a device's."""
    return elements.read() if isinstance(elements, Later) else elements


def ready(elements: Any) -> bool:
    return not isinstance(elements, Later) or elements.ready()


def as_bytes(elements: Any) -> Any:
    there = read(elements)
    return there.view(torch.uint8).tolist() if isinstance(there, torch.Tensor) else there


def shown(few: Any) -> list[Any] | None:
    """Return a few elements as numbers, as JSON has them."""
    few = read(few)
    if few is None or few.is_complex():
        return None
    numbers = few.to(torch.float64).tolist() if few.is_floating_point() else few.tolist()
    return [one if one - one == 0 else str(one) for one in numbers]


def spread(leaf: Any, count: int) -> Any:
    """Return a flat copy of elements that are evenly apart, of a CUDA device `Later`; None where
    that is not cheap."""
    if not describe.plain(leaf) or not (leaf.is_cpu or leaf.is_cuda) or not leaf.numel():
        return None
    if leaf.numel() * leaf.element_size() > _BYTES:
        return None
    if leaf.is_cuda and describe.capturing():
        return None
    with torch.no_grad():
        plain = leaf.detach()
        if not plain.is_contiguous() and plain.numel() > _COPIED:
            return None
        apart = plain.reshape(-1)[:: _step(plain.numel(), count)]
        return Later(apart) if leaf.is_cuda else apart.clone()


def _step(elements: int, count: int) -> int:
    """Return how far apart about `count` elements are: a divisor would take one column alone."""
    first = -(-elements // count) or 1
    return next(n for n in itertools.count(first) if math.gcd(n, elements) == 1)


def storage(leaf: Any) -> int | None:
    """Return where a tensor's memory begins, by which tensors that share it are known."""
    if type(leaf) not in (torch.Tensor, torch.nn.Parameter) or leaf.layout != torch.strided:
        return None
    return int(leaf.untyped_storage().data_ptr()) or None


def version(leaf: Any) -> int:
    return -1 if leaf.is_inference() else int(leaf._version)


def rows(tensors: list[Any], few: int = _SAMPLED) -> list[Any]:
    """Return elements of each row of tensors of one length; none where that is not cheap."""
    sizes = {one.shape[0] if one.dim() else 0 for one in tensors}
    count = sizes.pop() if len(sizes) == 1 else 0
    if not 0 < count <= _ROWS or any(storage(one) is None for one in tensors):
        return []
    found: list[Any] = []
    with torch.no_grad():
        for one in tensors:
            known = one.is_cpu or (one.is_cuda and not describe.capturing())
            if not known or one.numel() > _ROWS * _COPIED:
                return []
            flat = one.detach().reshape(count, -1)
            apart = flat[:, :: _step(flat.shape[1], few)].contiguous()
            found.append(Later(apart) if one.is_cuda else apart.clone())
    return found


def keys(rows: list[Any]) -> list[bytes]:
    """Return what each row is known by; wait for a device."""
    return [b"".join(parts) for parts in zip(*map(row_bytes, rows))]


def row_bytes(rows: Any) -> list[bytes]:
    """Return the elements of each row; wait for a device."""
    there = read(rows).contiguous()
    width = there.shape[1] * there.element_size()
    text = ctypes.string_at(there.data_ptr(), width * len(there))
    return [text[n * width : (n + 1) * width] for n in range(len(there))]


def _floats(one: Mark, other: Mark) -> list[Any]:
    """Return two samples of floats of like tensors; nothing where they are not."""
    dtypes = [getattr(torch, mark.dtype) for mark in (one, other)]
    known = one.sample is not None and other.sample is not None and one.shape == other.shape
    if not known or not all(dtype.is_floating_point for dtype in dtypes):
        return []
    samples = (torch.tensor(as_bytes(mark.sample), dtype=torch.uint8) for mark in (one, other))
    return [few.view(dtype) for few, dtype in zip(samples, dtypes)]


def rounded_alike(one: Mark, other: Mark) -> bool:
    """Tell whether two samples of floats are the same, rounded to the coarser of their dtypes."""
    samples = _floats(one, other)
    if not samples:
        return False
    coarser = max((few.dtype for few in samples), key=lambda dtype: torch.finfo(dtype).eps)
    mine, theirs = (few.to(coarser) for few in samples)
    return bool(alike(mine, theirs).all())


def near(one: Mark, other: Mark) -> bool:
    """Tell whether two samples of floats are the same but for rounding."""
    samples = _floats(one, other) if one.dtype == other.dtype else []
    found = apart(samples[:1], samples[1:])
    return found is not None and not far(found)


def alike(one: Any, other: Any) -> Any:
    """Return where two tensors, or whether two numbers, have the same value; NaN is NaN's."""
    return (one == other) | ((one != one) & (other != other))


def apart(some: list[Any], others: list[Any]) -> dict[str, Any] | None:
    """Hold samples of outputs against each other: the largest difference, and the largest value
    beside it; None where they cannot be paired."""
    pairs = [
        (one.to(torch.float64), other.to(torch.float64))
        for one, other in zip(map(read, some), map(read, others))
        if one is not None and other is not None and one.shape == other.shape
    ]
    if not pairs or len(some) != len(others):
        return None
    found: dict[str, Any] = {"apart": 0.0, "largest": 0.0, "unlike": 0, "wrong": 0, "of": 0}
    for one, other in pairs:
        finite = torch.isfinite(one) & torch.isfinite(other)
        unlike = ~(finite | alike(one, other))
        found["unlike"] += int(unlike.sum())  # NaN or infinite on one side alone
        if bool(finite.any()):
            off, own = (one - other).abs()[finite], other.abs()[finite]
            found["wrong"] += int((off > _NEAR * own + _TINY * own.max()).sum())
            found["of"] += off.numel()
            if float(off.max()) >= found["apart"]:
                found["apart"], found["largest"] = float(off.max()), float(own.max())
    return found


def far(found: dict[str, Any]) -> bool:
    """Tell whether samples are further apart than rounding goes."""
    return bool(found["unlike"]) or bool(found["apart"] > FAR * found["largest"])
