"""Where the elements of tensors lie in memory, and whether two share some."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

from .describe import extent
from .lazy import torch

_ELEMENTS = 1 << 20  # of a tensor whose elements are compared one by one


class Place(NamedTuple):
    """From its first byte to behind its last; `gaps` are sizes and strides in bytes of a tensor
    that leaves some between, such as a column."""

    device: str
    begin: int
    end: int
    gaps: tuple[tuple[int, int], ...] = ()

    def overlaps(self, other: Place) -> bool:
        if self.device != other.device or other.end <= self.begin or self.end <= other.begin:
            return False
        sparse, dense = (self, other) if self.gaps else (other, self)
        if not sparse.gaps or max(map(_count, (sparse, dense))) > _ELEMENTS:
            return True
        at = _elements(sparse)
        if dense.gaps:
            return bool(torch.isin(at, _elements(dense)).any())
        return bool(((at >= dense.begin) & (at < dense.end)).any())

    def covers(self, other: Place) -> bool:
        """Tell whether all of another is within, as far as the gaps tell."""
        inside = self.begin <= other.begin and other.end <= self.end
        return inside and self.gaps in ((), other.gaps)


def place_of(tensor: Any) -> Place:
    if tensor.layout != torch.strided:
        return Place(str(tensor.device), 0, 0)
    begin, size = int(tensor.data_ptr()), tensor.element_size()
    end = begin + extent(tensor.shape, tensor.stride()) * size
    gaps: tuple[tuple[int, int], ...] = ()
    if end - begin > tensor.numel() * size:
        sizes = zip(tensor.shape, tensor.stride())
        gaps = tuple((count, step * size) for count, step in sizes if count > 1)
    return Place(str(tensor.device), begin, end, gaps)


def _count(place: Place) -> int:
    return math.prod(count for count, _ in place.gaps)


@functools.lru_cache(maxsize=256)
def _elements(place: Place) -> Any:
    """Return the addresses of all elements."""
    at = torch.tensor([place.begin])
    for count, step in place.gaps:
        at = (at[:, None] + torch.arange(count) * step).reshape(-1)
    return at
