"""Serve calls until the third one fails: served.py PACKAGE MODE [FILE: fail only without it]."""

import sys
from pathlib import Path

import act
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
once = Path(sys.argv[3]) if len(sys.argv) > 3 else None
for rows in (4, 5, 64):
    if rows == 64 and not (once and once.exists()):
        act.MODE = sys.argv[2]  # known to this process alone
        if once:
            once.touch()
    print("output", model(torch.ones(rows, 8)).shape, flush=True)
