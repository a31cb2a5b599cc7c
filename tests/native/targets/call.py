"""Call the package with the operator of a module: call.py PACKAGE ROWS [MODE]."""

import sys

import act
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
if len(sys.argv) > 3:
    act.MODE = sys.argv[3]  # known to this process alone
print("output", model(torch.ones(int(sys.argv[2]), 8)).shape)
