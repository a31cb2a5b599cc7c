"""Indices of largest or smallest elements: of two that are equal up to rounding either is right."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import compare
from .describe import is_float
from .lazy import torch
from .value_samples import Sample, sampled

# operator -> place of the indices among its results, place of `dim` among its arguments, default
_INDICES: dict[str, tuple[int, int, int | None]] = {
    **dict.fromkeys(("max", "min"), (1, 1, None)),
    **dict.fromkeys(("argmax", "argmin"), (0, 1, None)),
    "sort": (1, 1, -1),
    "topk": (1, 2, -1),
}
_RELATIVE = 1e-6  # of the largest element


class Choice(NamedTuple):
    """What indices choose from, in float64, and how far apart elements may be that are equal."""

    values: Any
    dim: int
    granted: float

    def allows(self, given: Sample, own: Sample) -> bool:
        """Tell whether all elements chosen are as large as those of the reference."""
        if given.step > 1 or own.step > 1:
            return False
        chosen = [self._at(one.values, own.shape) for one in (given, own)]
        if chosen[0] is None or chosen[1] is None:
            return False
        return bool(((chosen[0] - chosen[1]).abs() <= self.granted).all())

    def _at(self, index: Any, shape: tuple[int, ...]) -> Any:
        size = self.values.shape[self.dim]
        if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < size:
            return None
        index = index.reshape(shape)
        if index.dim() < self.values.dim():
            index = index.unsqueeze(self.dim)
        return self.values.gather(self.dim, index.to(torch.int64))


def chosen_from(name: str, place: int, args: Any) -> Any:
    """Return the floats that the indices among an operator's results choose from; None where it
    gives none in this place."""
    known = _INDICES.get(name)
    chooses = known is not None and place == known[0] and args and is_float(args[0])
    return args[0] if chooses else None


def choice(name: str, args: Any, kwargs: Any, rounded: Sample) -> Choice:
    """Return the choice of an operator; `rounded` is what it chose from as the program has it."""
    _, at, default = _INDICES[name]
    dim = kwargs.get("dim", args[at] if at < len(args) else default)
    exact = sampled(args[0]).values
    off = (rounded.values.to(torch.float64) - exact.to(torch.float64)).abs().nan_to_num(posinf=0.0)
    largest = exact.abs().nan_to_num(posinf=0.0)
    granted = compare.FACTOR * _most(off) + _RELATIVE * _most(largest)
    values = args[0].detach().cpu().to(torch.float64)
    return Choice(values.reshape(-1) if dim is None else values, dim or 0, granted)


def _most(values: Any) -> float:
    return float(values.max()) if values.numel() else 0.0
