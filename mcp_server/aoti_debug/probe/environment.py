"""Print what torch says of itself and this machine, as one JSON document."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from . import events
from .lazy import torch

Document = dict[str, Any]


def main() -> int:
    """Print the facts; each that cannot be had is replaced by its error."""
    document: Document = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": sys.platform,
        "machine": platform.machine(),
    }
    try:
        import_module("torch")
    except BaseException as error:
        document["error"] = {"type": type(error).__name__, "message": str(error)[:2000]}
        print(json.dumps(document))
        return 1
    for name, ask in _QUESTIONS.items():
        try:
            document[name] = ask()
        except Exception as error:
            document.setdefault("errors", {})[name] = events.said(error)
    print(json.dumps(document, default=str))
    return 0


def _torch() -> Document:
    return {
        "version": str(torch.__version__),
        "path": torch.__file__,
        "git": torch.version.git_version,
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "xpu": getattr(torch.version, "xpu", None),
        "debug": torch.version.debug,
        "cxx11_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI),
        "arch_list": _architectures(),
        "cudnn": torch.backends.cudnn.version() if torch.version.cuda else None,
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }


def _architectures() -> list[str]:
    """Return what torch's own kernels were built for; get_arch_list() is empty without a GPU."""
    flags = getattr(torch._C, "_cuda_getArchFlags", None)
    return str(flags() or "").split() if flags is not None else []


def _triton() -> Document:
    try:
        triton = import_module("triton")
    except ImportError as error:
        return {"version": None, "error": str(error)[:500]}
    return {"version": triton.__version__, "path": triton.__file__}


def _devices() -> list[Document]:
    if not torch.version.cuda and not getattr(torch.version, "hip", None):
        return []
    return [_device(index) for index in range(torch.cuda.device_count())]


def _device(index: int) -> Document:
    properties = torch.cuda.get_device_properties(index)
    found: Document = {
        "index": index,
        "name": properties.name,
        "capability": [properties.major, properties.minor],
        "memory": properties.total_memory,
        "processors": properties.multi_processor_count,
        "shared_memory": getattr(properties, "shared_memory_per_block_optin", None),
    }
    try:
        found["free"] = torch.cuda.mem_get_info(index)[0]
    except Exception as error:  # the device is there and does not answer
        found["error"] = events.said(error)
    return found


def _compiler() -> Document:
    config = import_module("torch._inductor.config")
    names = config.cpp.cxx
    candidates = [os.environ.get("CXX"), *(names if isinstance(names, (tuple, list)) else [names])]
    found = [shutil.which(name) for name in candidates if name]
    return {
        "cxx": next((path for path in found if path), None),
        "candidates": [name for name in candidates if name],
        "cuda_home": import_module("torch.utils.cpp_extension").CUDA_HOME,
        "cache_dir": os.environ.get("TORCHINDUCTOR_CACHE_DIR"),
        "compile_threads": config.compile_threads,
    }


def _headers() -> Document:
    root = Path(torch.__file__).parent / "include"
    wanted = (
        "torch/csrc/inductor/aoti_runtime/model.h",
        "torch/csrc/inductor/aoti_torch/c/shim.h",
        "ATen/ATen.h",
    )
    python = Path(import_module("sysconfig").get_paths()["include"]) / "Python.h"
    found: Document = {name: (root / name).is_file() for name in wanted}
    return {**found, "Python.h": python.is_file(), "python_include": str(python.parent)}


def _isa() -> list[str]:
    names = ("avx2", "avx512", "amx", "vnni", "sve")
    cpu = torch.cpu
    return [n for n in names if getattr(cpu, f"_is_{n}_supported", bool)()]


_QUESTIONS: dict[str, Callable[[], Any]] = {
    "torch": _torch,
    "triton": _triton,
    "cuda_available": lambda: torch.cuda.is_available(),
    "driver_cuda": lambda: (
        torch._C._cuda_getDriverVersion() if hasattr(torch._C, "_cuda_getDriverVersion") else None
    ),
    "devices": _devices,
    "compiler": _compiler,
    "headers": _headers,
    "isa": _isa,
}
