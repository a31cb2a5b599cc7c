"""Do one order of the minifier in a process of its own: survey a program, or see how one fails."""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from . import operator_source, standalone, store, survey
from .graph_run import on_cpu
from .lazy import torch

Document = dict[str, Any]
INPUTS = "kernel.pt"
KERNEL = "kernel.json"
DEFINED = "defined.json"


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
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        plain = (bool, int, float)
        if not all(isinstance(arg, (torch.Tensor, *plain)) for arg in args):
            return
        devices = [str(a.device) if isinstance(a, torch.Tensor) else None for a in args]
        given = list(map(on_cpu, args))  # copies, which hold no more than a tensor reaches
        self._count += 1
        store.whole(self._directory / INPUTS, lambda to: torch.save(given, to))
        text = json.dumps({**about, "number": self._count, "devices": devices})
        store.whole(self._directory / KERNEL, lambda to: to.write_text(text))


def perform(order: Document, directory: Path) -> None:
    """Do what the order asks for; a failure is an exception, or whatever ends the process."""
    kinds = (survey.nodes, survey.values, collect, script, define, package, program, kernel)
    next(kind for kind in kinds if kind.__name__ == order["kind"])(order, directory)


def step(name: str) -> None:
    """Say what comes next, in the words of a reproduction."""
    print(f"step: {name}", flush=True)


def script(order: Document, directory: Path) -> None:
    """Run a reproduction as the user will, up to the step that the failure needs."""
    standalone.skip_isa_probe()
    path = directory / "repro.py"
    sys.argv = [str(path), *order.get("words", [])]
    runpy.run_path(str(path), run_name="__main__")


def define(order: Document, directory: Path) -> None:
    """Run what is to define operators, and write down what is registered of them then."""
    own = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [path for path in sys.path if path not in own]  # as a reproduction is run
    script(order, directory)
    found = operator_source.registered(order["operators"])
    (directory / DEFINED).write_text(json.dumps(found))


def kernel(order: Document, directory: Path) -> None:
    """Run a reproduction that uses plain Inductor, and keep what its kernels are given."""
    watch(directory)
    script(order, directory)


def collect(order: Document, directory: Path) -> None:
    """Put saved values into one file, as a reproduction reads it."""
    sizes = {int(size): to for size, to in (order.get("sizes") or {}).items()}
    found = {}
    for name, path in order["files"].items():
        value = torch.load(path, weights_only=True)
        for dim, size in enumerate(getattr(value, "shape", ())):
            value = value.narrow(dim, 0, sizes[size]) if size in sizes else value
        found[name] = value.clone() if sizes and hasattr(value, "clone") else value
    store.whole(Path(order["to"]), lambda to: torch.save(found, to))


def package(order: Document, directory: Path) -> None:
    """Call the captured package with the captured inputs."""
    words = ["--inputs", order["inputs"], "--package", order["package"], "--model", order["model"]]
    parser = standalone.arguments("", package=True)
    options = parser.parse_args([*words, *order.get("arguments", [])])
    standalone.prepare(options)
    inputs = standalone.read_inputs(order["inputs"])
    step("load")
    model = standalone.load_package(options, inputs, standalone.Report(None))
    step("run")
    standalone.results(model, inputs)
    step("done")


def program(order: Document, directory: Path) -> None:
    """Compile the exported program itself with the settings of its compile."""
    options = standalone.arguments("", inputs=False).parse_args(order.get("arguments", []))
    standalone.prepare(options)
    standalone.skip_isa_probe()
    exported = standalone.load_program(options, order["exported"])
    step("lower")
    settings = dict(order.get("settings") or {})
    if order.get("until") == "codegen":
        settings["aot_inductor.package_cpp_only"] = True
    path = str(directory / "model.pt2")
    inductor = import_module("torch._inductor")
    inductor.aoti_compile_and_package(exported, package_path=path, inductor_configs=settings)
    step("done")
