"""Kernels that NVIDIA's libraries bring: what a memory checker says of them alone proves nothing.

They read padding that nobody wrote and synchronise in ways that the checkers do not know; healthy
models show both.
"""

from __future__ import annotations

import re

# Parts of the names under which cuDNN, cuBLAS, CUTLASS, cuFFT and the like launch their kernels.
_PARTS = (
    r"cudnn", r"cublas", r"cutlass", r"cufft", r"curand", r"cusparse", r"cusolver", r"\bcub::",
    r"^nvjet_", r"^cask", r"xmma", r"^(?:void )?gemv", r"splitK", r"(?:nhwc|nchw)To(?:nhwc|nchw)",
    r"^(?:volta|turing|ampere|hopper|blackwell|maxwell|sm\d{2,3})_", r"flash_(?:fwd|bwd)", r"fmha",
    r"implicit_convolve", r"winograd", r"regular_fft|vector_fft", r"\bDeviceReduce", r"thrust::",
    r"RNN_|LSTM_elementWise|persistRNN", r"bn_fw|bn_bw|batch_norm_(?:fw|bw)",
)  # fmt: skip
_VENDOR = re.compile("|".join(_PARTS), re.IGNORECASE)


def is_vendor_kernel(name: str | None) -> bool:
    """Tell whether a kernel is of a library of NVIDIA's, by its name."""
    return name is not None and _VENDOR.search(name[:500]) is not None
