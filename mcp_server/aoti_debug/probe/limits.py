"""Find the integers that a program accepts: the limits of what its inputs index."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import indices, standalone
from .graph_run import base
from .lazy import torch

Inputs = standalone.Inputs

_COLUMNS = 16  # of an integer input that may each have limits of their own
# Operators whose numbers are where a program's behaviour changes.
_COMPARING = tuple(
    """
    eq ne lt le gt ge clamp clamp_min clamp_max where remainder fmod floor_divide sub add rsub
    full scalar_tensor masked_fill hardtanh threshold minimum maximum isin bucketize fill
    """.split()
)


class Limits:
    """The search for them: at most so many seconds of runs of the program, on its example. Of a
    package alone there is no `program`, only what it `accepts`."""

    def __init__(
        self,
        program: Any,
        example: Inputs,
        accepts: Callable[[Inputs], bool],
        constants: list[float],
        seconds: float,
    ) -> None:
        self.program, self.example = program, example
        self.accepts, self.constants = accepts, constants
        self.until = time.monotonic() + seconds

    def of(self, place: int) -> tuple[bool, list[tuple[int, int]]]:
        """Return whether the columns of an integer input have limits of their own, and the lowest
        and the highest value that the program accepts, of each."""
        leaf = self.example.flat[place]
        sizes = self._indexed(place)
        columns = len(sizes) > 1 and leaf.dim() > 1 and 1 < leaf.shape[-1] <= _COLUMNS
        info = torch.iinfo(leaf.dtype)
        ends = [min(info.max, (1 << 31) - 1)] if not self._sizes_of_data() else []
        tried = {*(s - 1 for s in sizes), *sizes, *(int(abs(c)) for c in self.constants), *ends}
        above = sorted(t for t in tried if t <= info.max)
        below = sorted((-t for t in tried if -t >= info.min), reverse=True)
        return columns, [
            (
                self._limit(place, column, int(self._part(leaf, column).min()), below, -1),
                self._limit(place, column, int(self._part(leaf, column).max()), above, 1),
            )
            for column in (range(leaf.shape[-1]) if columns else (None,))
        ]

    def _limit(
        self, place: int, column: int | None, start: int, tried: list[int], sign: int
    ) -> int:
        """Return the furthest value in this direction that the program accepts: of the candidates,
        then between the furthest that is accepted and the nearest that is not."""
        good, bad = start, None
        for value in reversed([t for t in tried if (t - start) * sign > 0]):
            if self._takes(place, column, value):
                good = value
                break
            bad = value
        while bad is not None and abs(bad - good) > 1 and time.monotonic() < self.until:
            middle = (good + bad) // 2
            if self._takes(place, column, middle):
                good = middle
            else:
                bad = middle
        return good

    def _takes(self, place: int, column: int | None, value: int) -> bool:
        if time.monotonic() > self.until:
            return False
        flat = list(self.example.flat)
        flat[place] = flat[place].clone()
        self._part(flat[place], column).fill_(value)
        return self.accepts(standalone.with_leaves(self.example, flat))

    @staticmethod
    def _part(leaf: Any, column: int | None) -> Any:
        return leaf if column is None else leaf[..., column]

    def _indexed(self, place: int) -> set[int]:
        """Return the sizes that an input's values index, as far as they are numbers."""
        if self.program is None:
            return set()
        name = standalone.user_inputs(self.program)[place].name
        pairs = _sizes_indexed(self.program)
        return {size for size, held in pairs if name in indices.ancestors(held)[0]}

    def _sizes_of_data(self) -> bool:
        """Tell whether sizes depend on values, which must then not be large."""
        if self.program is None:
            return False
        symbols = {str(s) for s in self.program.range_constraints}
        return any(s.startswith(("u", "zuf")) for s in symbols)


def _sizes_indexed(program: Any) -> list[tuple[int, Any]]:
    nodes = [node for node in program.graph.nodes if indices.is_indexing(node)]
    return [pair for node in nodes for pair in indices.sizes_indexed(node)]


def grown(old: Any, new: Any) -> bool:
    """Tell whether the fixed program indexes more rows, of a weight that has more: rows that are
    all zero, or those of others, are made up."""
    one, other = (sorted(size for size, _ in _sizes_indexed(p)) for p in (old, new))
    if one == other:
        return False
    for name, weight in {**new.state_dict, **new.constants}.items():
        was = old.state_dict.get(name, old.constants.get(name))
        tensors = isinstance(weight, torch.Tensor) and isinstance(was, torch.Tensor)
        if tensors and weight.dim() and was.dim() and len(weight) > len(was):
            rows = weight.detach().reshape(len(weight), -1)
            known = rows[: len(was)]
            if all(bool(row.any() & ~(known == row).all(1).any()) for row in rows[len(was) :]):
                return True
    return False


def constants(program: Any) -> list[float]:
    """Return the numbers near which a program's behaviour may change."""
    found: dict[float, None] = {}
    for node in program.graph.nodes:
        if node.op == "call_function" and base(node) in _COMPARING:
            for value in (*node.args, *node.kwargs.values()):
                number = isinstance(value, (int, float)) and not isinstance(value, bool)
                if number and value == value and abs(value) < 1 << 40:
                    found[value] = None
    return list(found)
