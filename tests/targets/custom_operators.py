"""Operators whose results have other strides than promised, or only pass such a layout on.

custom_operators.py DIRECTORY turns|healthy    export a model of them and write the inputs of a call
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch


@torch.library.custom_op("layouts::turn", mutates_args=())
def turn(x: torch.Tensor) -> torch.Tensor:
    """Return the columns as rows in memory, with the sizes as they were."""
    return x.t().contiguous().t()


@turn.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("layouts::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    """Keep the layout of the input, as the fake kernel says."""
    return x * 2


@double.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("layouts::shift", mutates_args=())
def shift(x: torch.Tensor, by: float) -> torch.Tensor:
    """Keep the layout of the input, where the fake kernel knows contiguous ones alone."""
    return x + by


@shift.register_fake
def _(x: torch.Tensor, by: float) -> torch.Tensor:
    return x.new_empty(x.shape)


class Model(torch.nn.Module):
    def __init__(self, turns: bool) -> None:
        super().__init__()
        self.turn = torch.ops.layouts.turn if turns else torch.ops.layouts.double

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        once = torch.ops.layouts.shift(torch.ops.layouts.double(self.turn(x)), 0.5)
        return torch.ops.layouts.double(once.relu()) + self.turn(x + 1)


def main() -> None:
    directory = Path(sys.argv[1])
    x = torch.randn(3, 5)
    model = Model(sys.argv[2] == "turns")
    torch.export.save(torch.export.export(model, (x,)), directory / "exported.pt2")
    described = {"index": 0, "kind": "tensor", "shape": [3, 5]}
    call = {"format": 1, "flat": [x], "inputs": [described], "args": (x,), "kwargs": {}}
    torch.save(call, directory / "inputs.pt")


if __name__ == "__main__":
    main()
