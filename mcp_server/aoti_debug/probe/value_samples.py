"""What is kept of a tensor's values: statistics and a digest of all, and a sample to compare."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from . import compare, standalone
from .describe import dtype_of, is_float
from .lazy import torch
from .places import Place

Document = dict[str, Any]

ELEMENTS = 1 << 18  # of a sample
_SMALL = 1 << 20  # bytes of a tensor that is looked at on the CPU
_LAST = 32  # tensors whose bits are kept
_CHUNK = 1 << 22  # elements that are hashed at a time
_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)  # odd, of no pattern


class Sample(NamedTuple):
    """Elements of a tensor that are evenly apart, on the CPU, as they were: all of a small one."""

    shape: tuple[int, ...]
    values: Any
    step: int

    def at(self, place: int) -> list[int]:
        """Return where an element of the sample lies in the tensor."""
        flat, found = place * self.step, []
        for size in reversed(self.shape):
            flat, index = divmod(flat, size)
            found.append(index)
        return found[::-1]


def sampled(tensor: Any) -> Sample:
    flat = tensor.detach().reshape(-1)
    step = -(-flat.numel() // ELEMENTS) or 1
    return Sample(tuple(tensor.shape), flat[::step].cpu().clone(), step)


def nearby(tensor: Any) -> Any:
    """Return a tensor, a small one on the CPU: there each look at it takes less time."""
    small = tensor.layout == torch.strided and tensor.numel() * tensor.element_size() <= _SMALL
    return tensor.detach().cpu() if small else tensor.detach()


class Summaries:
    """What tensors hold. The last ones are kept: one that holds the same again is not summed up."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], tuple[Any, Document]] = {}

    def of(self, tensor: Any, place: Place, values: Any) -> Document:
        """Return a tensor's summary; `values` is the tensor itself, or a copy on the CPU."""
        if values.layout != torch.strided or values.device.type != "cpu":
            return _summary(tensor, values)
        key, bits = (place, tensor.shape, tensor.stride(), tensor.dtype), _bits(values)
        known = self._kept.pop(key, None)
        if known is None or not torch.equal(known[0], bits):
            own = bits.clone() if values.data_ptr() == place.begin else bits
            known = own, _summary(tensor, values)
        if bits.numel() * bits.element_size() <= _SMALL:
            self._kept[key] = known
        if len(self._kept) > _LAST:
            del self._kept[next(iter(self._kept))]
        return known[1]


def _summary(tensor: Any, values: Any) -> Document:
    """Return what a tensor is and what it holds: sizes, extremes, NaN and Inf counts, a digest."""
    return {
        "shape": list(tensor.shape),
        "stride": list(tensor.stride()),
        "dtype": dtype_of(tensor),
        "device": str(tensor.device),
        **standalone.statistics(values),
        "digest": digest(values),
    }


def _bits(tensor: Any) -> Any:
    """Return the elements of a tensor, in their order, as integers."""
    flat = tensor.detach().reshape(-1)
    whole = (torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat).contiguous()
    size = whole.element_size()
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    return whole.view(kind)


def digest(tensor: Any) -> str:
    """Return 64 bits of all the bytes of a tensor, in the order of its elements: the same on every
    device."""
    if tensor.layout != torch.strided:
        return ""
    bits, found = _bits(tensor), 0
    for part in (bits,) if bits.numel() <= _CHUNK else bits.split(_CHUNK):
        weights = _weights(str(part.device), part.numel().bit_length())[: part.numel()]
        found = found * _FACTOR + torch.addcmul(weights, part.to(torch.int64), weights).sum()
    return f"{int(found) & (1 << 64) - 1:016x}"


@functools.lru_cache(maxsize=64)
def _weights(device: str, bits: int) -> Any:
    """Return an odd number for each place, so that what changes places changes the sum."""
    places = torch.arange(1, (1 << bits) + 1, dtype=torch.int64, device=device) * _FACTOR
    return (places ^ (places >> 29)) | 1


def held_against(
    given: Sample, own: Sample, exact: Sample, short: Sample | None = None
) -> Document:
    """Compare a package's values with a program's, as `compare` does: in the shorter of their
    dtypes, since a kernel may keep more precision, or less."""
    values, plain = given.values, own.values
    if is_float(values) and is_float(plain) and values.dtype != plain.dtype:
        shorter = min(values.dtype, plain.dtype, key=lambda one: -torch.finfo(one).eps)
        values, plain = values.to(shorter), plain.to(shorter)
    elif not is_float(values) and not is_float(plain):
        values, plain = values.to(torch.int64), plain.to(torch.int64)
    shorter = [short.values] if short is not None else None
    found = compare.outputs([values], [plain], [exact.values], shorter)[0]
    if first := found.get("first_wrong"):
        first["at"] = given.at(first["at"][0])
    return found
