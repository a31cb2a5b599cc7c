"""Run a reproduction and keep each generated kernel's arguments before it is launched.

The last one that was kept is the one under way when the process ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Document = dict[str, Any]

INPUTS = "kernel.pt"
KERNEL = "kernel.json"


def watch(directory: Path) -> None:
    """Have the kernels that plain Inductor loads from here on say what they are given."""
    compiler = import_module("torch._inductor.async_compile").AsyncCompile
    keep = _Keeper(directory)
    load_cpp, load_triton = compiler.cpp_pybinding, compiler.triton

    def cpp_pybinding(self: Any, argtypes: list[str], source_code: str) -> Callable[..., Any]:
        kernel = _loaded(load_cpp(self, argtypes, source_code))
        about = {"kind": "cpp", "argtypes": argtypes, "source": source_code}

        def launch(*args: Any) -> Any:
            keep(about, args)
            return kernel(*args)

        return launch

    def triton(self: Any, name: str, source_code: str, device_str: str = "cuda") -> Any:
        kernel = _loaded(load_triton(self, name, source_code, device_str))
        about = {"kind": "triton", "name": name, "source": source_code, "device": device_str}
        run = kernel.run

        def launch(*args: Any, **more: Any) -> Any:
            keep(about, args)
            return run(*args, **more)

        kernel.run = launch
        return kernel

    compiler.cpp_pybinding, compiler.triton = cpp_pybinding, triton


def _loaded(kernel: Any) -> Any:
    """Wait for a kernel that is compiled on the side."""
    return kernel.result() if hasattr(kernel, "result") else kernel


class _Keeper:
    """Write a kernel and its arguments; what is not whole is never seen."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._count = 0

    def __call__(self, about: Document, args: tuple[Any, ...]) -> None:
        torch = import_module("torch")
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        plain = (bool, int, float)
        if not all(isinstance(arg, (torch.Tensor, *plain)) for arg in args):
            return
        devices = [str(a.device) if isinstance(a, torch.Tensor) else None for a in args]
        given = [_kept(a) if isinstance(a, torch.Tensor) else a for a in args]
        self._count += 1
        temporary = self._directory / f".{INPUTS}"
        torch.save(given, temporary)
        temporary.replace(self._directory / INPUTS)
        document = {**about, "number": self._count, "devices": devices}
        text = self._directory / f".{KERNEL}"
        text.write_text(json.dumps(document))
        text.replace(self._directory / KERNEL)


def _kept(tensor: Any) -> Any:
    """Return a copy on the CPU that holds no more than the tensor reaches."""
    return tensor.detach().cpu().clone()
