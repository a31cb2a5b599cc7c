"""The models of the tests: small, each for one kind of fault.

models.py DIRECTORY compiles them into it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim


class Static(torch.nn.Module):
    def forward(self, x):
        return torch.sin(x) * 2 + x.sum(-1, keepdim=True)


class Dynamic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.fc(x)) + x.mean(0)


class Embedding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(1000, 16)

    def forward(self, ids, weight):
        return (self.table(ids) * weight.unsqueeze(-1)).sum(1)


class Tables(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.users = torch.nn.Embedding(1000, 16)
        self.items = torch.nn.Embedding(500, 16)

    def forward(self, user, item):
        return self.users(user) * self.items(item)


class Big(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(4096)

    def forward(self, x):
        return self.norm(torch.sin(x) * 2 + 1)


class IntArgument(torch.nn.Module):
    def forward(self, x, k):
        return x * k + 1


class Plus(torch.nn.Module):
    def forward(self, x):
        return x * 2 + 1


class Branch(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] > 5:
            return x * 2
        return x * 3


class Pair(torch.nn.Module):
    def forward(self, x, y):
        return x + y


class Reshape(torch.nn.Module):
    def forward(self, x):
        return x.reshape(100, -1).sum(1)


class Nan(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 16)

    def forward(self, x):
        return torch.log(self.fc(x)).softmax(-1)


class Mutate(torch.nn.Module):
    def forward(self, x, y):
        x.add_(1)
        return x * y


@dataclass(frozen=True)
class Case:
    module: Callable[[], torch.nn.Module]
    inputs: Callable[[], tuple[Any, ...]]
    dynamic_shapes: Any = field(default=None)


CASES: dict[str, Case] = {
    "static": Case(Static, lambda: (torch.randn(4, 8),)),
    "dynamic": Case(
        Dynamic, lambda: (torch.randn(8, 16),), {"x": {0: Dim("batch", min=2, max=64)}}
    ),
    "embedding": Case(
        Embedding,
        lambda: (torch.randint(0, 1000, (4, 6)), torch.rand(4, 6)),
        {"ids": {0: Dim("batch", min=2, max=64)}, "weight": {0: Dim("batch", min=2, max=64)}},
    ),
    "tables": Case(Tables, lambda: (torch.randint(0, 1000, (32,)), torch.randint(0, 500, (32,)))),
    "big": Case(Big, lambda: (torch.randn(4096, 4096),)),
    "int_argument": Case(IntArgument, lambda: (torch.randn(4, 8), 3)),
    "auto_one": Case(Plus, lambda: (torch.randn(1, 8),), {"x": {0: Dim.AUTO}}),
    "branch": Case(Branch, lambda: (torch.randn(8, 4),), {"x": {0: Dim.AUTO}}),
    "pair": Case(
        Pair,
        lambda: (torch.randn(8, 4), torch.randn(8, 4)),
        {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO}},
    ),
    "reshape": Case(Reshape, lambda: (torch.randn(200, 4),), {"x": {0: Dim.AUTO}}),
    "nan": Case(Nan, lambda: (torch.randn(8, 16),)),
    "mutate": Case(Mutate, lambda: (torch.ones(4), torch.ones(4))),
}


def export(name: str, seed: int = 0) -> torch.export.ExportedProgram:
    torch.manual_seed(seed)
    case = CASES[name]
    with torch.no_grad():
        return torch.export.export(
            case.module().eval(), case.inputs(), dynamic_shapes=case.dynamic_shapes
        )


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        package = str(directory / f"{name}.pt2")
        torch._inductor.aoti_compile_and_package(export(name), package_path=package)
        print("built", name, flush=True)
