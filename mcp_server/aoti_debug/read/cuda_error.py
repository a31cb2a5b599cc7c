"""Read error texts of CUDA, its driver and libraries, and of Triton's launcher."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from aoti_debug.read.record import CudaError, Line
from aoti_debug.read.text import span_of

Api = Literal["runtime", "driver", "cublas", "cudnn", "triton", "other"]

_KEPT = 500
_MARKS: tuple[tuple[str, Api], ...] = (
    ("CUDA error: ", "runtime"),
    ("CUDA driver error: ", "driver"),
    ("Triton Error [CUDA]: ", "triton"),
    ("cuDNN error: ", "cudnn"),
    ("cuDNN Frontend error: ", "cudnn"),
    ("CUBLAS_STATUS_", "cublas"),
    ("CUDNN_STATUS_", "cudnn"),
    ("CUDA_ERROR_", "driver"),
    ("Failed to destroy CUDA event in AOTInductor model: ", "runtime"),
    ("Failed to free GPU memory in AOTInductor model", "runtime"),
    ("Failed to unload CUDA module in AOTInductor model: ", "driver"),
    ("Program hit ", "runtime"),  # compute-sanitizer
    ("HIP error: ", "other"),
    ("NCCL error", "other"),
)
_NAMED = re.compile(
    r"\b(cudaError[A-Z]\w{1,60}|CUBLAS_STATUS_[A-Z_]{1,60}|CUDNN_STATUS_[A-Z_]{1,60}|"
    r"CUDA_ERROR_[A-Z_]{1,60}|hipError[A-Z]\w{1,60})"
)
_SEARCH = "Search for `"  # torch 2.9 and later name the code on the next line
# What cudaGetErrorString and cuGetErrorString say, for the codes that end a context or a launch.
_TEXTS = {
    "an illegal memory access was encountered": "cudaErrorIllegalAddress",
    "device-side assert triggered": "cudaErrorAssert",
    "misaligned address": "cudaErrorMisalignedAddress",
    "operation not supported on global/shared address space": "cudaErrorInvalidAddressSpace",
    "unspecified launch failure": "cudaErrorLaunchFailure",
    "an illegal instruction was encountered": "cudaErrorIllegalInstruction",
    "invalid program counter": "cudaErrorInvalidPc",
    "hardware stack error": "cudaErrorHardwareStackError",
    "the launch timed out and was terminated": "cudaErrorLaunchTimeout",
    "too many resources requested for launch": "cudaErrorLaunchOutOfResources",
    "out of memory": "cudaErrorMemoryAllocation",
    "invalid argument": "cudaErrorInvalidValue",
    "invalid configuration argument": "cudaErrorInvalidConfiguration",
    "invalid device function": "cudaErrorInvalidDeviceFunction",
    "invalid device ordinal": "cudaErrorInvalidDevice",
    "invalid resource handle": "cudaErrorInvalidResourceHandle",
    "no kernel image is available for execution on the device": "cudaErrorNoKernelImageForDevice",
    "no CUDA-capable device is detected": "cudaErrorNoDevice",
    "initialization error": "cudaErrorInitializationError",
    "unknown error": "cudaErrorUnknown",
}


class CudaErrorReader:
    """Give each distinct text once, where it first stood: after a fault the first one counts."""

    triggers: tuple[str, ...] = tuple(mark for mark, _ in _MARKS)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: dict[tuple[str, str], CudaError] = {}
        self._last: tuple[str, str] | None = None

    def feed(self, line: Line) -> bool:
        if self._last is not None and line.text.startswith(_SEARCH):
            self._name(self._last, line.text)
            self._last = None
            return False
        self._last = None
        if line.text.startswith("warning: Cuda Driver error detected"):  # cuda-gdb at start-up
            return False
        for mark, api in _MARKS:
            at = line.text.find(mark)
            if at >= 0:
                self._add(line, line.text[at:], mark, api)
                return True
        return False

    def finish(self) -> Iterable[CudaError]:
        return list(self._found.values())

    def _add(self, line: Line, text: str, mark: str, api: Api) -> None:
        text = (text if mark.endswith("_") else text[len(mark) :]).strip()[:1000]
        named = _NAMED.search(text)
        if mark == "Program hit " and named is None:
            return
        code = named[1] if named else _TEXTS.get(text)
        if code is not None and code.startswith("CUBLAS_STATUS_"):
            api = "cublas"
        elif code is not None and code.startswith("CUDNN_STATUS_"):
            api = "cudnn"
        key = (api, text)
        if key not in self._found and len(self._found) < _KEPT:
            self._found[key] = CudaError(span_of(self._artifact, [line]), api, text, code)
        self._last = key

    def _name(self, key: tuple[str, str], text: str) -> None:
        named = _NAMED.search(text)
        error = self._found.get(key)
        if named and error is not None and error.code is None:
            self._found[key] = replace(error, code=named[1])
