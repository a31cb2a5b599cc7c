"""Small models of real architectures, called rightly, or with what indexes past a table.

architectures.py DIRECTORY NAME CASE
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

DIRECTORY, NAME, CASE = Path(sys.argv[1]), sys.argv[2], sys.argv[3]


class Wrapped(nn.Module):
    """A model of transformers that returns tensors alone."""

    def __init__(self, model: nn.Module, output: str) -> None:
        super().__init__()
        self.model = model
        self.output = output

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return getattr(self.model(input_ids=input_ids, use_cache=False), self.output)


def gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=100,
        n_positions=16,
        n_embd=32,
        n_layer=1,
        n_head=2,
        _attn_implementation="eager",
    )
    return Wrapped(GPT2LMHeadModel(config), "logits")


def conv() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=8),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    )


class Bag(nn.Module):
    """A recommender's bags of ids, a choice of rows by index, and a loss."""

    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(50, 8)
        self.table = nn.Parameter(torch.randn(20, 8))
        self.classes = nn.Linear(8, 7)

    def forward(
        self, ids: torch.Tensor, offsets: torch.Tensor, rows: torch.Tensor, target: torch.Tensor
    ) -> torch.Tensor:
        mixed = self.bag(ids, offsets) + torch.index_select(self.table, 0, rows)
        return nn.functional.cross_entropy(self.classes(mixed), target, reduction="none")


def given() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    if NAME == "conv":
        return (torch.randn(2, 3, 16, 16),)
    if NAME == "bag":
        ids = torch.randint(0, 50, (12,))
        return ids, torch.tensor([0, 4, 8]), torch.tensor([0, 1, 2]), torch.tensor([0, 1, 2])
    return (torch.randint(0, 100, (2, 8)),)


def changed(inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Return what the case gives."""
    if CASE == "tokens":
        inputs[0][1, 3] = 500
    if CASE == "one":
        return (inputs[0][:1],)
    if CASE == "long":
        return (torch.randint(0, 100, (2, 20)),)
    if CASE == "ids":
        inputs[0][5] = 77
    if CASE == "rows":
        inputs[2][1] = 20
    if CASE == "target":
        inputs[3][2] = 9
    return inputs


def compiled(package: Path) -> None:
    torch.manual_seed(0)
    model = {"gpt2": gpt2, "conv": conv, "bag": Bag}[NAME]().eval()
    shapes = None
    if NAME == "gpt2":
        batch, length = torch.export.Dim("batch", min=1, max=64), torch.export.Dim("length", max=32)
        shapes = {"input_ids": {0: batch, 1: length}}
    exported = torch.export.export(model, given(), dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(exported, package_path=str(package))


package = DIRECTORY / f"{NAME}.pt2"
if not package.exists():
    compiled(package)
model = torch._inductor.aoti_load_package(str(package))
model(*given())
model(*changed(given()))
print("done")
