"""Compile a model with an operator whose fake kernel raises while Inductor works on it."""

import sys

import torch


@torch.library.custom_op("tests::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] // 2].clone()


exported = False


@halve.register_fake
def fake(x):
    if exported:
        raise ValueError("halve knows no such size")
    return x.new_empty(x.shape[0] // 2, *x.shape[1:])


class Model(torch.nn.Module):
    def forward(self, x):
        return halve(torch.sin(x)) + 1


program = torch.export.export(Model(), (torch.ones(4, 8),))
exported = True
torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
