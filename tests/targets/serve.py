"""Call a package that is used rightly, and do something else wrong: serve.py DIRECTORY CASE."""

import ctypes
import os
import sys
import threading

import torch

directory, case = sys.argv[1:]
NAN = case.startswith("nan")
model = torch._inductor.aoti_load_package(f"{directory}/{'nan' if NAN else 'static'}.pt2")
given = torch.ones(8, 16) if NAN else torch.ones(4, 8)
if case == "given_nan":
    given[1, 2] = float("nan")
output = model(given)
first, second = threading.Lock(), threading.Lock()
both = threading.Barrier(2)


def take(one, other):
    with one:
        both.wait()
        with other:
            pass


if case == "prints":
    print("last night: RuntimeError: CUDA error: an illegal memory access was encountered")
elif case in ("given_nan", "nan_raises"):
    assert torch.isfinite(output).all(), "not finite"
elif case == "crashes":
    ctypes.string_at(8)
elif case == "waits":
    other = threading.Thread(target=take, args=(second, first))
    other.start()
    take(first, second)
elif case == "exits":
    os._exit(3)
