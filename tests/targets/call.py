"""Load a package and call it in one of the ways below: call.py DIRECTORY CASE; or, with constants
replaced where asked to: call.py PACKAGE.pt2 [CONSTANTS]."""

import sys
from pathlib import Path

import torch

# case -> (package, inputs)
CALLS = {
    "healthy": ("dynamic", lambda: (torch.randn(5, 16),)),
    "as_exported": ("dynamic", lambda: (torch.randn(5, 16),)),
    "retrained": ("dynamic", lambda: (torch.randn(5, 16),)),
    "healthy_max": ("dynamic", lambda: (torch.randn(64, 16),)),
    "embedding": ("embedding", lambda: (torch.randint(0, 1000, (4, 6)), torch.rand(4, 6))),
    "index": ("embedding", lambda: (_with(torch.randint(0, 1000, (4, 6)), 5000), torch.rand(4, 6))),
    "second_table": ("tables", lambda: (torch.arange(968, 1000), torch.arange(469, 501))),
    "segfault": ("big", lambda: (torch.randn(16, 16),)),
    "rank": ("static", lambda: (torch.randn(32),)),
    "size": ("static", lambda: (torch.randn(4, 6),)),
    "dtype": ("static", lambda: (torch.randn(4, 8, dtype=torch.float64),)),
    "stride": ("static", lambda: (torch.randn(8, 4).t(),)),
    "int_argument": ("int_argument", lambda: (torch.randn(4, 8), 5)),
    "auto_one": ("auto_one", lambda: (torch.randn(5, 8),)),
    "branch": ("branch", lambda: (torch.randn(3, 4),)),
    "pair": ("pair", lambda: (torch.randn(8, 4), torch.randn(5, 4))),
    "above_max": ("dynamic", lambda: (torch.randn(100, 16),)),
    "reshape": ("reshape", lambda: (torch.randn(150, 4),)),
    "nan": ("nan", lambda: (torch.randn(8, 16),)),
    "batch_one": ("dynamic", lambda: (torch.randn(1, 16),)),
    "odd_stride": ("auto_one", lambda: (torch.randn(1, 16)[:, :8],)),
    "strided_write": ("mutate", lambda: (torch.ones(8)[::2], torch.ones(4))),
    "shared_write": ("mutate", lambda: _overlapping(torch.ones(8))),
}

FULL = {"fc.weight": torch.zeros(16, 16), "fc.bias": torch.zeros(16)}
CONSTANTS = {
    "shape": {**FULL, "fc.weight": torch.zeros(8, 16)},
    "dtype": {**FULL, "fc.bias": torch.zeros(16, dtype=torch.float64)},
    "prefix": {"module.fc.weight": FULL["fc.weight"], "fc.bias": FULL["fc.bias"]},
    "inlined": {**FULL, "scale": torch.zeros(4)},
    "view": {**FULL, "fc.weight": torch.zeros(500_000, 16)[:16]},
    "right": {**FULL, "fc.weight": torch.zeros(500_000, 16)[:16].clone()},
}


def _overlapping(memory):
    return memory[:4], memory[2:6]


def _with(ids, value):
    ids[2, 3] = value
    return ids


if __name__ == "__main__":
    if sys.argv[1].endswith(".pt2"):
        model = torch._inductor.aoti_load_package(sys.argv[1])
        if len(sys.argv) > 2:
            model.load_constants(CONSTANTS[sys.argv[2]], check_full_update=True)
        print(model(torch.ones(4, 16 if len(sys.argv) > 2 else 10)).sum())
        raise SystemExit
    directory, case = Path(sys.argv[1]), sys.argv[2]
    package, inputs = CALLS[case]
    torch.manual_seed(1)
    if case in ("as_exported", "retrained"):
        from models import export

        program = export("dynamic", seed=0 if case == "as_exported" else 7)
    model = torch._inductor.aoti_load_package(str(directory / f"{package}.pt2"))
    output = model(*inputs())
    print("output", tuple(output.shape), flush=True)
