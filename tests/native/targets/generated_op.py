"""Call the package with an operator that is in no file: generated_op.py PACKAGE ROWS."""

import sys
from pathlib import Path

import torch

if __name__ == "__main__":
    exec((Path(__file__).parent / "act.py").read_text())
    model = torch._inductor.aoti_load_package(sys.argv[1])
    print("output", model(torch.ones(int(sys.argv[2]), 8)).shape)
