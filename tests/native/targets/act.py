"""A custom operator whose kernel does what MODE says: return, raise, crash or never return."""

import ctypes
import os

import torch

MODE = os.environ.get("ACT", "return")
libc = ctypes.CDLL(None)


@torch.library.custom_op("aoti_tests::act", mutates_args=())
def act(x: torch.Tensor) -> torch.Tensor:
    if MODE == "hang":
        libc.pause()
    elif MODE == "crash":
        libc.strlen(ctypes.c_void_p(8))
    elif MODE == "divide":
        libc.div(1, 0)
    elif MODE == "abort":
        libc.abort()
    elif MODE == "raise":
        raise ValueError("this row cannot be served")
    return x.clone()


@act.register_fake
def _(x):
    return torch.empty_like(x)
