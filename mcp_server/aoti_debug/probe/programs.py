"""Watch a program being lowered: how it is configured, and the exported program itself."""

from __future__ import annotations

import atexit
import copy
import os
import weakref
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from . import (
    budget,
    capture,
    custom_ops,
    describe,
    events,
    exported,
    graph_run,
    memory,
    packages,
    reference,
    reuse,
    store,
)
from .lazy import torch
from .watch import Details, Span, caller

# What an event calls it -> the setting of torch._inductor.config.
_FLAGS = {
    **{
        setting.rpartition(".")[2]: setting
        for setting in """
        aot_inductor.debug_intermediate_value_printer aot_inductor.filtered_kernel_names
        aot_inductor.dump_aoti_minifier aot_inductor.repro_level aot_inductor.debug_compile
        aot_inductor.debug_symbols aot_inductor.package_cpp_only
        aot_inductor.package_constants_in_so triton.autotune_at_compile_time nan_asserts
        runtime_triton_nan_asserts max_autotune benchmark_fusion benchmark_combo_kernel
        compile_threads
        """.split()
    },
    "provenance": "trace.provenance_tracking_level",
}

_SMALL = 1024  # bytes of a weight that is part of the graph
_OF_PASSES = ("pre_grad_fusion_options", "post_grad_fusion_options")  # by name, their options
_NOT_REPEATED = frozenset({"aot_inductor.output_path", "aot_inductor.package", "cpp_wrapper"})


def before_lower(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `aoti_compile_and_package(program, package_path=, inductor_configs=)`."""
    program = args[0] if args else kwargs.get("exported_program")
    span.details["caller"] = caller()
    _begin(span, program, kwargs.get("inductor_configs"))
    with budget.Apart():
        reuse.begin(span, program, kwargs.get("inductor_configs"))


def before_aot_compile(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `aot_compile(graph module, args, kwargs, options=)`."""
    module = args[0] if args else kwargs.get("gm", kwargs.get("f"))
    _begin(span, memory.program_of(module), kwargs.get("options"))


def before_export(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `export(mod, args, ...)`."""
    span.memory["module"] = args[0] if args else kwargs.get("mod")


def after_export(span: Span, result: Any) -> Details:
    """Keep what a script exports beside a package that it did not compile: they may differ."""
    memory.exported = weakref.ref(result)
    reference.watch_exported(span.memory.get("module"), result)
    return beside_package() if memory.foreign else {}


def beside_package() -> Details:
    """Keep the last program that was exported and not lowered, once."""
    program = memory.exported() if memory.exported is not None else None
    memory.exported = None
    if program is None:
        return {}
    with budget.Apart():
        captured, why_not = keep_program(program)
    if captured is None:
        return {"exported_program_skipped": why_not}
    return {"exported_program": captured, "input_names": memory.input_names(program)}


def after_load(span: Span, result: Any) -> Details:
    """Remember where the model came from, and whether this process compiled it."""
    packages.after_load(span, result)
    loaded = span.memory["loaded"]
    reference.loaded()
    if (loaded.path, loaded.model) in memory.names_of_package:
        return {}
    memory.foreign = True
    return beside_package()


def after_lower(span: Span, result: Any) -> Details:
    """Keep the package, and remember the names of its inputs."""
    names = span.memory.get("names")
    details: Details = {"input_names": names} if names else {}
    if isinstance(result, (list, tuple)):  # loose files, packaged later
        files = [file for file in result if isinstance(file, str)]
        if names:
            memory.remember_files(files, names)
        return {**details, "files": files[: packages.FILES]}
    details["package"] = packages.describe(result)
    path = memory.file_of(result)
    if path and names:
        memory.names_of_package[path, "model"] = names
        memory.promised[path, "model"] = span.memory.get("promised") or []
        if span.details.get("mutates"):
            memory.stateful.add(path)
    return {**details, **reuse.end(span, details["package"].get("captured"))}


def _begin(span: Span, program: Any, options: Any) -> None:
    custom_ops.report()
    for name, read in (("flags", flags), ("settings", settings)):
        with events.noted(f"read the compiler's {name}"):
            span.details[name] = read(options if isinstance(options, dict) else {})
    span.details["cache_dir"] = reuse.cache_directory()
    if program is not None:
        if memory.exported is not None and memory.exported() is program:
            memory.exported = None
        span.memory["names"] = memory.input_names(program)
        exported.lowered(program)
        span.memory["promised"] = memory.outputs_of(program)
        if describe.state(program):
            span.details["mutates"] = True
        with events.noted("find what no input changes"):
            span.details["input_free"] = graph_run.input_free(program)
            span.details["unrolled"] = graph_run.unrolled(program)
    with budget.Apart():  # lowering takes far longer than this
        captured, why_not = keep_program(program)
    if captured is not None:
        span.details["exported_program"] = captured
    else:
        span.details["exported_program_skipped"] = why_not
    if program is not None and _waits(captured):
        with budget.Apart():
            span.details["exported_graph"] = keep_graph(program)


def flags(options: dict[str, Any]) -> Details:
    """Return the settings in force: those of the call before those of the process."""
    config = import_module("torch._inductor.config")
    found: Details = {}
    for name, setting in _FLAGS.items():
        found[name] = options.get(setting, reuse.attribute(config, setting))
    return found


def settings(options: dict[str, Any]) -> Details:
    """Return the compiler's settings that are not its defaults: what a repetition must set too."""
    config: Any = import_module("torch._inductor.config")
    known = config.get_config_copy().items()
    changed = {name: value for name, value in known if not _is_default(config, name, value)}
    given = {n: value for n, value in options.items() if value != reuse.attribute(config, n)}
    repeated = {**changed, **given}.items()
    plain = (one for one in repeated if _plain(one[1]) or one[0] in _OF_PASSES)
    return {name: value for name, value in plain if name not in _NOT_REPEATED}


def _is_default(config: Any, name: str, value: Any) -> bool:
    """Tell whether a setting has its default value, also where that was set: Inductor sets some
    while it compiles, and leaves them so."""
    if config._is_default(name):
        return True
    entry = getattr(config, "_config", {}).get(name)
    unset = getattr(import_module("torch.utils._config_module"), "_UNSET_SENTINEL", None)
    by_environment = (getattr(entry, f"env_value_{kind}", None) for kind in ("default", "force"))
    return all(one is unset for one in by_environment) and value == getattr(entry, "default", None)


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def keep_program(program: Any) -> tuple[str | None, str | None]:
    """Save an exported program before it is lowered; return its name, or None and why."""
    if store.directory() is None:
        return None, "capture is off"
    if program is None:
        return None, "the exported program is not known"
    try:
        size = capture.storage_bytes(list(_values(program)))
    except Exception as error:
        return None, f"its size is unknown: {events.said(error)}"
    name = store.new_name("exported", ".pt2")
    if size > store.room():
        return _later(program, name, size)
    return _saved(program, name)


def _saved(program: Any, name: str) -> tuple[str | None, str | None]:
    try:
        return store.write(name, lambda to: torch.export.save(program, to)), None
    except Exception as error:
        store.discard(name)
        return None, events.said(error)


def _waits(captured: str | None) -> bool:
    """Tell whether a program is not kept, or only when the script's own work is over."""
    folder = store.directory()
    if folder is None:
        return False
    return captured is None or not (folder.parent / captured).stat().st_size


def keep_graph(program: Any) -> str | None:
    """Save an exported program without its weights, each of which becomes zeros of its shape that
    share one element; return its name. Guards and the model's lines need no more."""
    weightless = copy.copy(program)
    weightless._state_dict = {n: _weightless(v) for n, v in program.state_dict.items()}
    weightless._constants = {n: _weightless(v) for n, v in program.constants.items()}
    weightless._example_inputs = None
    found, why_not = _saved(weightless, store.new_name("graph", ".pt2"))
    if found is None:
        events.note("save the graph of the exported program", why_not)
    return found


def _weightless(value: Any) -> Any:
    plain = isinstance(value, torch.Tensor) and value.layout == torch.strided
    if not plain or value.untyped_storage().nbytes() <= _SMALL:
        return value
    with torch.no_grad():
        zeros = torch.zeros((), dtype=value.dtype, device=value.device).expand(value.shape)
    is_parameter = isinstance(value, torch.nn.Parameter)
    return torch.nn.Parameter(zeros, requires_grad=False) if is_parameter else zeros


def _later(program: Any, name: str, size: int) -> tuple[str | None, str | None]:
    """Save a large program when the script's own work is over, if it still has it then and its
    weights are as they were."""
    if size > store.free() // 2:
        store.discard(name)
        return None, f"{size} bytes of weights are more than half of what the disk has left"
    kept = weakref.ref(program)
    versions = _versions(program)
    process = os.getpid()

    def save() -> None:
        still = kept()
        if still is None or os.getpid() != process or _versions(still) != versions:
            events.note("save the exported program", "it was gone or changed at the end")
        elif size > store.free() // 2:
            events.note("save the exported program", f"the disk has no room for {size} bytes")
        else:
            saved, why_not = _saved(still, name)
            if saved is None:
                events.note("save the exported program", why_not)

    atexit.register(save)
    folder = store.directory()
    assert folder is not None
    return f"{folder.name}/{name}", None


def _versions(program: Any) -> list[int]:
    return [
        value._version
        for value in _values(program)
        if isinstance(value, torch.Tensor) and not value.is_inference()
    ]


def _values(program: Any) -> Iterable[Any]:
    """Yield parameters, buffers, constants and example inputs."""
    yield from program.state_dict.values()
    yield from program.constants.values()
    yield from torch.utils._pytree.tree_leaves(program.example_inputs)
