"""Draw inputs over all that a program computes: sizes, values, integers up to their limits."""

from __future__ import annotations

import time
from typing import Any

from . import eager, limits, standalone
from .correspondence import as_declared
from .describe import is_float, is_integer
from .lazy import torch
from .sizes import ENDLESS, bounds, expression, is_symbol, learn, numbers
from .sizes import number as size_in
from .state import State

Document = dict[str, Any]
Inputs = standalone.Inputs

_SIZE = 4096  # the largest fresh size of a dimension that may be larger
_ELEMENTS = 1 << 21  # of the largest fresh input
_SLOW_S = 0.3  # a run that takes longer is given no larger sizes
_PROBING_S = 30.0  # of looking for the limits of integers
_CONSTANTS = 64
_EPSILON = 1e-5  # a smaller constant keeps a quotient or a logarithm finite
_WIDE = (1.0, 0.1, 10.0, 100.0)  # what the rows of a float input are scaled by, in turn


class Fresh:
    """Inputs that the original program accepts. `others` are flat inputs, drawn from as
    well, `constants` numbers near which values are tried: those of both programs' graphs."""

    def __init__(self, program: Any, others: list[list[Any]], constants: list[float]) -> None:
        self.program = program
        self.constants = constants
        self.module = program.module()
        self.state = State(self.module)
        given = standalone.example(program)
        values = [node.meta.get("val") for node in standalone.user_inputs(program)]
        self.limits: dict[int, tuple[bool, list[tuple[int, int]]]] = {}
        self.usable = given is not None and len(values) == len(given.flat)
        if given is None or not self.usable:
            return
        self.example, self.values = given, values
        self.pools = [self._pool(place, others) for place in range(len(values))]
        self.symbols = self._symbols()
        self.highest = self._highest()
        searched = limits.Limits(program, given, self.accepts, constants, _PROBING_S)
        self.limits = {
            place: searched.of(place)
            for place, leaf in enumerate(given.flat)
            if is_integer(leaf) and leaf.numel()
        }

    def draw(self, number: int) -> Inputs | None:
        """Return the fresh inputs of this number: sizes and values take turns."""
        if not self.usable:
            return None
        torch.manual_seed(1000 + number)
        style = ("uniform", "edges", "wide")[number % 3]
        for attempt in range(12):
            sizes = self._sizes(number + 3 * attempt, attempt)
            for kind in (style, "like"):
                found = self._inputs(sizes, kind, number)
                if found is not None and self.accepts(found):
                    return found
        found = self._inputs(self.symbols, "like", number)
        return found if found is not None and self.accepts(found) else None

    def like(self, number: int, flat: list[Any]) -> Inputs | None:
        """Return the fresh inputs of this number in the sizes of a call's."""
        if not self.usable:
            return None
        torch.manual_seed(2000 + number)
        sizes: dict[Any, int] = {}
        for value, leaf in zip(self.values, flat):
            learn(value, leaf, sizes)
        found = self._inputs({**self.symbols, **sizes}, "like", number)
        return found if found is not None and self.accepts(found) else None

    def sizes(self, place: int) -> list[tuple[int, int] | None]:
        """Return the least and the greatest size of each dimension of an input; None where it is
        made of several symbols."""

        def ends(size: Any) -> tuple[int, int] | None:
            if isinstance(size, int):
                return size, size
            return self._bounds(expression(size)) if is_symbol(size) else None

        shape = getattr(self.values[place], "shape", ()) if self.usable else ()
        return [ends(size) for size in shape]

    def accepts(self, inputs: Inputs) -> bool:
        """Tell whether the program, with its guards, computes something of these inputs."""
        try:
            with self.state.kept():
                ran = eager.run(self.module, standalone.copied(inputs))
        except Exception:
            return False
        return ran.exception is None

    def _pool(self, place: int, others: list[list[Any]]) -> Any:
        """Return the values of an input in the example and, where they are alike, in other calls:
        the latter only of floats, since an index may be what was wrong."""
        leaf = self.example.flat[place]
        if not isinstance(leaf, torch.Tensor):
            return None
        found = [leaf.detach().reshape(-1)]
        for other in others:
            value: Any = other[place] if place < len(other) else None
            if not is_float(value):
                continue
            if leaf.is_floating_point():
                found.append(value.detach().reshape(-1).to(leaf.dtype).to(leaf.device))
        pool = torch.cat(found)
        return pool[pool.isfinite()] if pool.is_floating_point() else pool

    def _symbols(self) -> dict[Any, int]:
        """Return the size that each symbol has in the example."""
        found: dict[Any, int] = {}
        for leaf, value in zip(self.example.flat, self.values):
            learn(value, leaf, found)
        for value in self.values:
            for size in getattr(value, "shape", (value,)):
                for symbol in getattr(expression(size), "free_symbols", ()):
                    low, high = self._bounds(symbol)
                    hint = getattr(getattr(size, "node", None), "hint", None)
                    known = hint if is_symbol(size) else None
                    found.setdefault(symbol, int(known) if known else min(max(low, 2), high))
        return found

    def _bounds(self, symbol: Any) -> tuple[int, int]:
        least, most = bounds(self.program, symbol)
        low = max(2, least or 2)
        return low, max(low, ENDLESS if most is None else most)

    def _highest(self) -> dict[Any, int]:
        """Return the largest size to draw of each symbol: its bound, or what is not too slow."""
        found = dict(self.symbols)
        for symbol in found:
            low, high = self._bounds(symbol)
            found[symbol] = max(found[symbol], low)
            while found[symbol] < min(high, _SIZE):
                tried = {**self.symbols, symbol: min(found[symbol] * 4, high, _SIZE)}
                inputs = self._inputs(tried, "like", 0)
                if inputs is None or sum(map(_count, inputs.flat)) > _ELEMENTS:
                    break
                began = time.monotonic()
                self.accepts(inputs)
                if time.monotonic() - began > _SLOW_S:
                    break
                found[symbol] = tried[symbol]
        return found

    def _sizes(self, number: int, attempt: int) -> dict[Any, int]:
        """Return the lowest sizes, the largest, and others between; later attempts, which guards
        ask for, give round ones."""
        found = {}
        for place, symbol in enumerate(self.symbols):
            low, high = self._bounds(symbol)[0], max(self.highest[symbol], self._bounds(symbol)[0])
            drawn = int(torch.randint(low, high + 1, (1,)))
            size = (high, low, drawn, (low + high) // 2)[(number + place * (attempt > 1)) % 4]
            step = (1, 1, 2, 8, 64, 16, 4, 3, 32, 10, 100)[attempt % 11]
            found[symbol] = min(max(low, size // step * step), high)
        return found

    def _inputs(self, sizes: dict[Any, int], style: str, number: int) -> Inputs | None:
        flat = []
        for place, leaf in enumerate(self.example.flat):
            value = self.values[place]
            if not isinstance(leaf, torch.Tensor):
                flat.append(leaf if expression(value) is None else size_in(value, sizes))
                continue
            shape = numbers(value.shape, sizes)
            if shape is None or min(shape, default=1) < 0:
                return None
            made = self._leaf(place, leaf, shape, style, number)
            flat.append(as_declared(value, made, sizes))
        return standalone.with_leaves(self.example, flat)

    def _leaf(self, place: int, leaf: Any, shape: list[int], style: str, number: int) -> Any:
        pool = self.pools[place]
        if not leaf.numel() or not pool.numel():
            return leaf.new_zeros(shape)
        if leaf.dtype == torch.bool:
            chance = (0.5, 1.0, 0.0, 0.9)[number % 4] if style != "like" else 0.5
            return (torch.rand(shape) < chance).to(leaf.device)
        taken = pool[torch.randint(0, pool.numel(), shape or [1])].reshape(shape)
        if leaf.is_floating_point():
            return self._floats(pool, taken, style)
        if style == "like" or place not in self.limits:
            return taken.contiguous()
        return self._integers(place, taken, style)

    def _floats(self, pool: Any, taken: Any, style: str) -> Any:
        """Return values like the pool's; with `edges` some near the programs' constants, with
        `wide` rows of other magnitudes."""
        shape = taken.shape
        spread = pool.float().std() if pool.numel() > 1 else torch.tensor(1.0)
        if style == "wide" and not bool(pool.any()):
            spread = torch.tensor(10.0)  # a state that begins with zeros
        noise = (0.1 * spread * torch.randn(shape)).to(taken.dtype).to(taken.device)
        values = taken + (noise.abs() if bool((pool >= 0).all()) else noise)
        if style == "edges" and values.numel():
            known = [c for c in self.constants[:_CONSTANTS] if not 0 < abs(c) < _EPSILON]
            near = [c + d for c in known for d in (0.0, 0.01, -0.01, 1, -1)]
            near = [n for n in [0.0, *near] if n >= 0 or not bool((pool >= 0).all())]
            edges = torch.tensor(near, dtype=values.dtype, device=values.device)
            flat = values.reshape(-1)
            every = max(1, flat.numel() // (4 * len(near)))
            flat[::every] = edges[torch.arange(len(flat[::every])) % len(near)]
        if style == "wide" and values.dim():
            rows = torch.arange(shape[0]) % len(_WIDE)
            factors = torch.tensor(_WIDE)[rows].reshape([-1] + [1] * (values.dim() - 1))
            values = values * factors.to(values.dtype).to(values.device)
        return values.contiguous()

    def _integers(self, place: int, taken: Any, style: str) -> Any:
        """Return integers from all over the limits of each column; with `edges` those at them."""
        found = taken.clone()
        columns, found_limits = self.limits[place]
        for column, (low, high) in enumerate(found_limits):
            part = found[..., column] if columns else found
            if style == "edges":
                near = [n for n in self._near(low, high, self.pools[place]) if low <= n <= high]
                drawn = torch.tensor(near)[torch.randperm(part.numel()) % len(near)]
            elif high - low > 1 << 20:  # of every magnitude
                top = max(abs(low), abs(high))
                drawn = (float(top) ** torch.rand(part.numel())).to(torch.int64)
                drawn = (drawn * (1 if low >= 0 else -1) ** torch.arange(len(drawn))).clamp(
                    low, high
                )
            else:
                drawn = torch.randint(low, high + 1, (part.numel(),))
            drawn = drawn.reshape(part.shape).to(taken.dtype).to(taken.device)
            if columns:
                found[..., column] = drawn
            else:
                found = drawn
        return found.contiguous()

    def _near(self, low: int, high: int, pool: Any) -> list[int]:
        constants = [int(c) + d for c in self.constants[:_CONSTANTS] for d in (0, 1, -1)]
        known = [low, low + 1, 0, 1, high, high - 1, *constants, int(pool.min()), int(pool.max())]
        return list(dict.fromkeys(known))


def _count(leaf: Any) -> int:
    return leaf.numel() if hasattr(leaf, "numel") else 0
