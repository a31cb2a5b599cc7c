"""What a model should return with new weights: its exported program with them, or where there is
none a container that was loaded afresh."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import compare, eager, standalone
from .describe import is_float
from .graph_run import outputs_of
from .lazy import torch

_TRIED = 48  # weights, one run of the program each
_TOGETHER = 6  # of them


def tensors_of(module: Any) -> dict[str, Any]:
    """Return the weights and buffers of a module by all their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


class Program:
    """An exported program on the inputs of a call."""

    def __init__(self, program: Any, inputs: Callable[[], standalone.Inputs]) -> None:
        self._module, self._inputs = compare.unguarded(program), inputs
        self._tensors = tensors_of(self._module)
        state = {**dict(program.state_dict), **dict(program.constants)}
        tensors = {n: v for n, v in state.items() if isinstance(v, torch.Tensor)}
        # The module has the memory of the program, and is given other weights.
        self.old = {name: tensor.detach().clone() for name, tensor in tensors.items()}

    def outputs(self, weights: Mapping[str, Any]) -> list[Any]:
        """Return what it gives with these weights, and its own for the others."""
        self._set(weights)
        return outputs_of(self._module, self._inputs().flat)

    def agrees(self, given: list[Any], weights: Mapping[str, Any]) -> bool:
        """Tell whether outputs are those of the program with these weights."""
        self._set(weights)
        exact = eager.exact(self._module, self._inputs())
        right = outputs_of(self._module, self._inputs().flat)
        return compare.agrees(given, right, exact["outputs"] if exact else None)

    def _set(self, weights: Mapping[str, Any]) -> None:
        with torch.no_grad():
            for name, tensor in self._tensors.items():
                value = weights.get(name, self.old.get(name))
                if value is not None and value.shape == tensor.shape:
                    tensor.copy_(value)


def apart(some: list[Any], others: list[Any]) -> float:
    """Return the root of the mean square of the differences, over all float outputs."""
    total, count = 0.0, 0
    for one, other in zip(some, others):
        if is_float(one) and one.shape == other.shape:
            off = one.to(torch.float64) - other.to(torch.float64)
            off = off[torch.isfinite(off)]
            total, count = total + float((off * off).sum()), count + off.numel()
    return float((total / count) ** 0.5) if count else 0.0


def stale_in(
    truth: Program,
    given: list[Any],
    weights: Mapping[str, Any],
    names: Sequence[str],
    likely: Sequence[str] = (),
) -> list[str]:
    """Return which of the named weights a package computes with as they were before: with those
    old values the program gives the package's outputs; none where that explains nothing. `likely`:
    those that are looked at first, together."""

    def with_old(some: Sequence[str]) -> dict[str, Any]:
        return {**weights, **{name: truth.old[name] for name in some if name in truth.old}}

    def explains(some: Sequence[str]) -> bool:
        return bool(some) and truth.agrees(given, with_old(some))

    def needed(some: Sequence[str]) -> list[str]:
        left = list(some)
        for name in some[:_TRIED]:
            without = [one for one in left if one != name]
            if explains(without):
                left = without
        return left

    if explains(likely):
        return needed(likely)
    chosen: list[str] = []
    left, off = list(names)[:_TRIED], apart(given, truth.outputs(weights))
    while left and len(chosen) < _TOGETHER:
        rated = [(apart(given, truth.outputs(with_old([*chosen, name]))), name) for name in left]
        best, name = min(rated)
        if best >= off * 0.98:
            break
        chosen, off = [*chosen, name], best
        left.remove(name)
        if explains(chosen):
            return chosen
    return list(names) if explains(names) else []
