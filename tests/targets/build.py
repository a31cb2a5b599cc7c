"""Compile the named models into a directory: build.py DIRECTORY [NAME ...]."""

import sys
from pathlib import Path

import torch
from models import CASES, export

directory = Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
for name in sys.argv[2:] or CASES:
    torch._inductor.aoti_compile_and_package(
        export(name), package_path=str(directory / f"{name}.pt2")
    )
    print("built", name, flush=True)
