"""Call the package with an operator of a C++ library: library_op.py PACKAGE ROWS LIBRARY."""

import sys

import torch

if __name__ == "__main__":
    torch.ops.load_library(sys.argv[3])
    model = torch._inductor.aoti_load_package(sys.argv[1])
    print("output", model(torch.ones(int(sys.argv[2]), 8)).shape)
