"""Try a way around a wrong part of the compiler: whether a program is right with it, on other
inputs too, and what that costs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from statistics import median
from typing import Any

from . import compare, describe, eager, graph_run, pairs, parts, standalone
from .describe import is_float
from .lazy import torch

Document = dict[str, Any]
_PAIRS_S = 1.0


class Case:
    """Inputs of a program, and what it gives for them, in its own precision and in float64."""

    def __init__(self, program: Any, given: standalone.Inputs) -> None:
        self.module, self.given = compare.unguarded(program), given
        self.right = graph_run.outputs_of(self.module, standalone.copied(given).flat, writes=True)
        self.exact = (eager.exact(self.module, given, writes=True) or {}).get("outputs")
        self._written = describe.written_places(self.module)

    def differs(self, model: Any) -> bool:
        """Tell whether a model gives something else, beyond what rounding can do."""
        with torch.no_grad():
            found = standalone.results(model, standalone.copied(self.given), self._written)
        found = list(map(graph_run.on_cpu, found))
        whole = self.right, self.exact, self.module, self.given
        rows, _ = compare.within_rounding(found, *whole)
        if compare.verdict(rows, random=False) != "agrees":
            return True
        given = self.module, self.given.flat
        return any(parts.off_by_element(*given, *both) for both in zip(found, self.right))


def fresh(given: standalone.Inputs) -> list[standalone.Inputs]:
    """Return inputs, a copy with elements in another order, and one with floats halved as well."""
    found = [given]
    torch.manual_seed(0)
    for factor in (1.0, 0.5):
        other = standalone.copied(given)
        for leaf in other.flat:
            if isinstance(leaf, torch.Tensor) and leaf.numel():
                own = describe.distinct(leaf)
                mixed = own.flatten()[torch.randperm(own.numel()).to(leaf.device)]
                with torch.no_grad():
                    own.copy_((mixed * factor if is_float(leaf) else mixed).reshape(own.shape))
        found.append(other)
    return found


def tried(program: Any, given: standalone.Inputs, model: Any) -> int:
    """Return on how many inputs, the given one among them, a model is right; 0 where it is wrong on
    any that the program itself takes."""
    cases = []
    for one in fresh(given):
        with contextlib.suppress(Exception):
            cases.append(Case(program, one))
    return 0 if any(case.differs(model) for case in cases) else len(cases)


def ratio(one: Callable[[], Any], other: Callable[[], Any]) -> float:
    """Return how many times as long the other takes, as a median of pairs."""
    with torch.no_grad():
        ones, others = pairs.compared(one, other, _PAIRS_S)
    return round(median(b / a for a, b in zip(ones, others)), 3)


@contextlib.contextmanager
def applied(workaround: Document) -> Iterator[Document]:
    """Have the operator of a workaround fall back to eager's kernel; yield its settings."""
    if "fallback" not in workaround:
        yield workaround["settings"]
        return
    lowering, decomposition = map(
        import_module, ("torch._inductor.lowering", "torch._inductor.decomposition")
    )
    name, _, overload = workaround["fallback"].rpartition(".")
    op = getattr(reduce(getattr, name.split("."), torch.ops), overload)
    names = ("lowerings", "fallbacks", "needs_realized_inputs")
    tables = [*(getattr(lowering, name) for name in names), decomposition.decompositions]
    kept = [one.copy() for one in tables]
    clear = getattr(decomposition.fast_random_decomps, "cache_clear", lambda: None)
    try:
        decomposition.decompositions.pop(op, None)
        clear()
        lowering.make_fallback(op, warn=False, override_decomp=True)
        yield {}
    finally:
        for table, was in zip(tables, kept):
            table.clear()
            table.update(was)
        clear()
