"""The faults that are planted in calls of a healthy package, and what a triage must say of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Inputs = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Fault:
    """`input_of` names the input that is spoilt, None where the fault does not apply."""

    name: str
    category: str
    input_of: Callable[[Any, Inputs], str | None]
    change: Callable[[Any, str, torch.Tensor], torch.Tensor]
    line: str  # "input": a line that uses it; "index": an embedding; "weight"; "call": none needed
    calls: int = 3
    bad: int = 3
    spoil_model: Callable[[Any, Any, str], str] | None = None  # returns the weight's name
    same_values: bool = False  # only the layout differs, so the result tells whether it does harm

    def spoil(self, case: Any, inputs: Inputs) -> Inputs:
        name = self.input_of(case, inputs)
        assert name is not None
        return {**inputs, name: self.change(case, name, inputs[name])}


def bounded(case: Any, inputs: Inputs) -> str | None:
    return None if case.positions else next((n for n in inputs if n in case.bounds), None)


def beyond(case: Any, name: str, value: torch.Tensor) -> torch.Tensor:
    spoilt = value.clone()
    spoilt.view(-1)[-1] = case.bounds[name] + 7
    return spoilt


def first(case: Any, inputs: Inputs) -> str | None:
    floats = [n for n, v in inputs.items() if v.is_floating_point()]
    return (floats or list(inputs))[0]


def other_dtype(case: Any, name: str, value: torch.Tensor) -> torch.Tensor:
    if not value.is_floating_point():
        return value.to(torch.int32)
    return value.to(torch.float32 if case.dtype != torch.float32 else torch.float16)


def fixed_dim(case: Any, name: str, value: torch.Tensor) -> int | None:
    """Return the last dimension that was compiled for one size."""
    free = case.dynamic.get(name, {})
    return next((d for d in reversed(range(value.dim())) if d not in free), None)


def with_fixed_dim(case: Any, inputs: Inputs) -> str | None:
    return next((n for n, v in inputs.items() if fixed_dim(case, n, v) is not None), None)


def longer(case: Any, name: str, value: torch.Tensor) -> torch.Tensor:
    dim = fixed_dim(case, name, value)
    assert dim is not None
    return torch.cat([value, value.narrow(dim, 0, 1)], dim)


def wide(case: Any, inputs: Inputs) -> str | None:
    return next((n for n, v in inputs.items() if v.dim() > 1 and min(v.shape[-2:]) > 1), None)


def transposed(case: Any, name: str, value: torch.Tensor) -> torch.Tensor:
    plain = value.contiguous()
    return plain.transpose(-1, -2).contiguous().transpose(-1, -2)


def on_gpu(case: Any, inputs: Inputs) -> str | None:
    return next((n for n, v in inputs.items() if v.device.type != "cpu"), None)


def table_of_positions(case: Any, inputs: Inputs) -> str | None:
    return next(iter(case.dynamic)) if case.positions else None


def too_long(case: Any, name: str, value: torch.Tensor) -> torch.Tensor:
    return value.repeat(1, 4)[:, :40].contiguous()


TABLES = ("embed", "table", "bag", "token", "position", "wte", "wpe", "users", "items", "steps")


def middle_weight(state: dict[str, torch.Tensor], names: list[str]) -> str | None:
    """Return a matrix in the middle of the model that is no table of embeddings."""
    floats = [n for n, v in state.items() if v.is_floating_point() and v.dim() > 1]
    found = [n for n in floats if n in names and not any(word in n for word in TABLES)]
    found = [name for name in found if len(state[name]) > 1] or found
    return found[len(found) // 2] if found else None


def nan_weight(model: Any, case: Any, device: str) -> str:
    """Load a checkpoint whose one weight holds NaN into the compiled model."""
    import architectures

    state = architectures.prepared(case, device)[0].state_dict()
    name = middle_weight(state, list(model.get_constant_fqns()))
    assert name is not None, "no weight to spoil"
    weight = state[name].clone()
    weight[0] = float("nan")
    model.load_constants({name: weight.contiguous()}, check_full_update=False)
    return name


def any_input(case: Any, inputs: Inputs) -> str | None:
    return None if case.quantised else next(iter(inputs))


def same(case: Any, name: str, value: torch.Tensor) -> torch.Tensor:
    return value


FAULTS = {
    fault.name: fault
    for fault in (
        Fault("bad_id", "index_out_of_bounds", bounded, beyond, "input"),
        Fault("dtype", "contract_dtype", first, other_dtype, "call"),
        Fault("stride", "contract_stride", wide, transposed, "call", same_values=True),
        Fault("nan_weight", "nan_or_inf", any_input, same, "weight", spoil_model=nan_weight),
        Fault("shape", "contract_shape", with_fixed_dim, longer, "call"),
        Fault("middle", "contract_stride", wide, transposed, "call", 200, 57, same_values=True),
        Fault("device", "contract_device", on_gpu, lambda c, n, v: v.cpu(), "call"),
        Fault("positions", "index_out_of_bounds", table_of_positions, too_long, "index"),
    )
}


def applying(case: Any, inputs: Inputs, device: str) -> list[str]:
    found = []
    for name, fault in FAULTS.items():
        possible = fault.input_of(case, inputs) is not None
        if name == "device":
            possible = device != "cpu"  # the inputs looked at here are on the CPU
        if possible:
            found.append(name)
    return found
