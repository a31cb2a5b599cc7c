"""Operators whose results have other strides than promised, or only pass such a layout on.

custom_operators.py DIRECTORY        export a model of them and write the inputs of a call
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


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        once = torch.ops.layouts.double(torch.ops.layouts.turn(x))
        return torch.ops.layouts.double(once) + torch.ops.layouts.turn(x + 1)


def main() -> None:
    directory = Path(sys.argv[1])
    x = torch.randn(3, 5)
    torch.export.save(torch.export.export(Model(), (x,)), directory / "exported.pt2")
    described = {"index": 0, "kind": "tensor", "shape": [3, 5]}
    call = {"format": 1, "flat": [x], "inputs": [described], "args": (x,), "kwargs": {}}
    torch.save(call, directory / "inputs.pt")


if __name__ == "__main__":
    main()
