"""Compile a model with a custom operator: model.py PACKAGE."""

import sys

import act  # noqa: F401
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.aoti_tests.act(x.sin()) + 1


if __name__ == "__main__":
    batch = {"x": {0: torch.export.Dim("batch", min=2, max=200_000)}}
    program = torch.export.export(Model(), (torch.randn(4, 8),), dynamic_shapes=batch)
    torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
