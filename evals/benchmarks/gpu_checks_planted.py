"""Operators with Triton kernels that are wrong: one leaves elements unwritten, one races."""

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

BLOCK = 256


@triton.jit
def leave_kernel(x, y, n, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + at, tl.load(x + at, at < n) * 2, (at < n) & (at % 7 != 0))


@triton.jit
def race_kernel(x, y, n, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(y + at % 64, tl.load(x + at, at < n), at < n)


@triton_op("planted::leave", mutates_args={})
def leave(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    wrap_triton(leave_kernel)[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), SIZE=BLOCK)
    return y


@triton_op("planted::race", mutates_args={})
def race(x: torch.Tensor) -> torch.Tensor:
    y = x.new_empty(64)
    wrap_triton(race_kernel)[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), SIZE=BLOCK)
    return y
