"""Compile a model that has what toys lack into the current directory, as the guides name files.

Keyword arguments, outputs in a dictionary with a tuple inside, an upcast to float32, tied weights,
buffers of all sizes, a mask of -inf, a free batch.
"""

from __future__ import annotations

import torch


class Norm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(16) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight).to(
            x.dtype
        )


class Rich(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = Norm(), torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)
        self.down.weight = self.up.weight
        self.register_buffer("position", torch.randn(4, 16))
        self.register_buffer("pair", torch.tensor([0.5, 2.0]))
        self.register_buffer("scale", torch.tensor(0.25))

    def forward(self, x: torch.Tensor, *, mask: torch.Tensor) -> dict[str, object]:
        h = self.down(torch.relu(self.up(self.norm(x) + self.position)))
        scores = (h @ h.transpose(-1, -2)) * self.scale * self.pair[1] + mask
        return {"hidden": h, "attention": (scores, scores.softmax(-1))}


def example(batch: int = 3) -> tuple[tuple[torch.Tensor], dict[str, torch.Tensor]]:
    mask = torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), float("-inf"))
    return (torch.randn(batch, 4, 16),), {"mask": mask}


if __name__ == "__main__":
    torch.manual_seed(0)
    args, kwargs = example()
    shapes = {"x": {0: torch.export.Dim("batch")}, "mask": None}
    program = torch.export.export(Rich().eval(), args, kwargs, dynamic_shapes=shapes)
    torch.export.save(program, "model.ep.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path="model.pt2")
    torch.save((args, kwargs), "inputs.pt")
