"""What is watched in which module of torch, over all its versions."""

from __future__ import annotations

import atexit
import os
import sys
from types import ModuleType
from typing import Any

from . import (
    between,
    call_memory,
    calls,
    checkpoints,
    cpp_files,
    custom_ops,
    events,
    frames,
    guards,
    memory,
    packages,
    programs,
    reference,
    reuse,
    runners,
)
from .lazy import torch
from .watch import Point, Span, phases, watched, wrap_once


def _packaging(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    packages.before_package(span, args, kwargs)
    if "lower" in phases():  # that span keeps the package
        span.memory["lower"] = True
    else:
        span.details["files"] = packages.files_of_models(span)


def _kernel(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Name the kernel that a CachingAutotuner is about to measure."""
    tuner = args[0]
    meta = getattr(tuner, "inductor_meta", None) or {}
    function = getattr(tuner, "fn", None)
    span.details["kernel"] = meta.get("kernel_name") or getattr(function, "__name__", None)
    span.details["file"] = getattr(tuner, "filename", None)
    span.details["configs"] = len(getattr(tuner, "launchers", None) or ())


_INDUCTOR = "torch._inductor"
_HOMES = ("torch.export.pt2_archive._package", "torch._inductor.package.package")
_MODEL = "AOTICompiledModel"

POINTS = (
    Point("torch.export", "export", "export", programs.before_export, programs.after_export),
    Point(
        _INDUCTOR,
        "aoti_compile_and_package",
        "lower",
        programs.before_lower,
        programs.after_lower,
        reuse.instead,
    ),
    *(
        Point(home, "aot_compile", "lower", programs.before_aot_compile, programs.after_lower)
        for home in (_INDUCTOR, "torch._export")
    ),
    *(
        Point(home, name, "load", packages.before_load, programs.after_load)
        for home, name in ((_INDUCTOR, "aoti_load_package"), (_HOMES[1], "load_package"))
    ),
    Point(
        "torch._export", "aot_load", "load", packages.before_aot_load, replace=calls.watch_callable
    ),
    *(Point(home, f"{_MODEL}.__call__", "run", wrap=calls.watch_method) for home in _HOMES),
    *(
        Point(home, f"{_MODEL}.load_constants", "constants", packages.before_constants)
        for home in _HOMES
    ),
    Point(_HOMES[1], "package_aoti", "package", _packaging, packages.after_package),
    Point("torch._inductor.codecache", "AotCodeCompiler.compile", "cpp_compile"),
    Point("torch._inductor.cpp_builder", "run_compile_cmd", "cpp_compile", wrap=cpp_files.timed),
    Point(
        "torch._inductor.codegen.wrapper",
        "PythonWrapperCodegen.generate_and_run_autotune_block",
        "autotune",
        fold=False,
    ),
    Point(
        "torch._inductor.runtime.triton_heuristics",
        "CachingAutotuner.benchmark_all_configs",
        "autotune",
        _kernel,
        fold=False,
    ),
)


def attach(module: ModuleType) -> None:
    """Wrap what is watched in a module that has just been imported."""
    if module.__name__ == "torch":
        _report_torch()
        checkpoints.watch()
        runners.watch_runners(sys.modules.get("torch._C._aoti"))
    if module.__name__ == "safetensors.torch":
        checkpoints.watch_file(module)
    for point in POINTS:
        if point.module == module.__name__:
            _wrap(module, point)
    if module.__name__ == "torch.fx.proxy":
        wrap_once(module.TracerBase, "_filter_traceback_frames", frames.with_functions)
    if module.__name__ == "torch.fx.experimental.symbolic_shapes":
        wrap_once(module.ShapeEnv, "_log_guard", guards.remembering)
    if module.__name__ == "torch.export":
        program: Any = sys.modules["torch.export.exported_program"].ExportedProgram
        wrap_once(program, "module", _remembering)


def _wrap(module: ModuleType, point: Point) -> None:
    owner: Any = module
    *outer, last = point.attribute.split(".")
    for part in outer:
        owner = vars(owner).get(part)
        if owner is None or owner.__module__ != module.__name__:
            return
    original = vars(owner).get(last)
    if isinstance(original, (classmethod, staticmethod)):
        if not hasattr(original.__func__, "_aoti_debug"):
            setattr(owner, last, type(original)(watched(original.__func__, point)))
    elif callable(original) and not hasattr(original, "_aoti_debug"):
        if not outer and getattr(original, "__module__", None) != module.__name__:
            return  # imported from elsewhere, watched there
        setattr(owner, last, watched(original, point))


def _remembering(original: Any) -> Any:
    """Wrap `ExportedProgram.module`: remember which program its result was made of."""

    def module(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        memory.remember_program(result, self)
        return result

    return module


def _report_torch() -> None:
    version = torch.version
    events.emit(
        "torch",
        version=str(torch.__version__),
        cuda=version.cuda,
        hip=getattr(version, "hip", None),
        git=version.git_version,
        path=torch.__file__,
        triton=reuse.triton_version(),
    )
    custom_ops.remember_builtin()
    custom_ops.watch()
    if memory.hands_over:
        from . import handed

        handed.begin()
        atexit.register(handed.ended)
    atexit.register(_report_end, os.getpid())


def _report_end(pid: int) -> None:
    """Say that the process ends by itself, and of which exception, if nobody caught one."""
    if os.getpid() == pid:
        with events.noted("settle the calls of devices"):
            call_memory.settle(wait=True)
            reference.ended()
        error = getattr(sys, "last_value", None)
        found = {"error": events.describe_error(error)} if error else {}
        events.emit("ended", threads=torch.get_num_threads(), **between.report(), **found)
