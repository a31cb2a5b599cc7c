"""Load a package, replace constants if asked to, call it: load.py PACKAGE [CONSTANTS]."""

import sys

import torch

FULL = {"fc.weight": torch.zeros(16, 16), "fc.bias": torch.zeros(16)}
CONSTANTS = {
    "shape": {**FULL, "fc.weight": torch.zeros(8, 16)},
    "dtype": {**FULL, "fc.bias": torch.zeros(16, dtype=torch.float64)},
    "prefix": {"module.fc.weight": FULL["fc.weight"], "fc.bias": FULL["fc.bias"]},
    "inlined": {**FULL, "scale": torch.zeros(4)},
    "view": {**FULL, "fc.weight": torch.zeros(500_000, 16)[:16]},
    "right": {**FULL, "fc.weight": torch.zeros(500_000, 16)[:16].clone()},
}

if __name__ == "__main__":
    model = torch._inductor.aoti_load_package(sys.argv[1])
    if len(sys.argv) > 2:
        model.load_constants(CONSTANTS[sys.argv[2]], check_full_update=True)
        print(model(torch.ones(4, 16)).sum())
    else:
        print(model(torch.ones(4, 10)).sum())
