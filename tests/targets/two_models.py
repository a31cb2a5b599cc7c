"""Two models in one package, each compiled on its own: two_models.py PACKAGE [STEM_COLUMNS].

The package is made if it is missing.
"""

import sys
from pathlib import Path

import torch
from torch._inductor.package import load_package, package_aoti


class Stem(torch.nn.Module):
    def forward(self, x):
        return x.sin().sum(-1, keepdim=True) * torch.ones(3)


class Head(torch.nn.Module):
    def forward(self, features):
        return features.softmax(-1) + 1


def lowered(model, example):
    program = torch.export.export(model, (example,))
    options = {"aot_inductor.package": True}
    return torch._inductor.aot_compile(program.module(), (example,), options=options)


if __name__ == "__main__":
    package = sys.argv[1]
    columns = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    if not Path(package).exists():
        head, stem = lowered(Head(), torch.randn(4, 3)), lowered(Stem(), torch.randn(4, 8))
        package_aoti(package, {"stem": stem, "head": head})
    features = load_package(package, "stem")(torch.randn(4, columns))
    if columns == 8:
        print(load_package(package, "head")(features).shape)
