"""Watch packages being written and loaded, and keep a copy of each."""

from __future__ import annotations

import atexit
import io
from pathlib import Path
from typing import Any

from . import budget, capture, custom_ops, events, memory, reference, store, wrapper_contract
from .describe import counts, tensor
from .lazy import torch
from .memory import Loaded
from .watch import Details, Point, Span, caller, watched

FILES = 100  # of a model, that are named in an event
_MODELS = 50
# Parameters of aoti_load_package, and of load_package.
_LOADING = (
    ("path", "run_single_threaded", "device_index"),
    ("path", "model_name", "run_single_threaded", "num_runners", "device_index"),
)
_GIVEN = 8  # calls of load_constants whose weights are kept
_COUNTED = 1 << 24  # elements of a weight that is given


def describe(source: Any) -> Details:
    """Describe a package and keep it: path, bytes, mtime, captured or why not."""
    path = memory.file_of(source)
    if path is None:
        return _buffer(source)
    try:
        status = Path(path).stat()
    except OSError as error:
        return {"path": path, "captured": None, "why_not": error.strerror}
    found: Details = {"path": path, "bytes": status.st_size, "mtime": status.st_mtime}
    if Path(path).is_dir():
        return {**found, "captured": None, "why_not": "it is a directory"}
    identity = (path, status.st_size, status.st_mtime_ns)
    if identity in memory.kept:
        return {**found, "captured": memory.kept[identity]}
    with budget.Apart():
        captured, why_not = store.keep(path, "package", Path(path).suffix or ".pt2")
    if captured is None:
        return {**found, "captured": None, "why_not": why_not}
    memory.kept[identity] = captured
    return {**found, "captured": captured}


def _buffer(source: Any) -> Details:
    found: Details = {"path": None, "captured": None}
    if not isinstance(source, io.BytesIO):
        return {**found, "why_not": f"it is a {type(source).__name__}"}
    size = source.getbuffer().nbytes
    found["bytes"] = size
    if store.directory() is None:
        return {**found, "why_not": "capture is off"}
    if size > store.room():
        return {**found, "why_not": f"{size} bytes are over the budget"}
    name = store.new_name("package", ".pt2")
    content = source.getvalue()
    return {**found, "captured": store.write(name, lambda to: Path(to).write_bytes(content))}


def before_load(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `aoti_load_package` and `load_package`: the package, and which of its models."""
    given = dict(zip(_LOADING[span.name.endswith(".load_package")], args), **kwargs)
    source, model = given.get("path"), str(given.get("model_name", "model"))
    span.details.update(caller=caller(), model=model)
    loaded, index = _loading(span, source, model), given.get("device_index")
    loaded.device_index = index if isinstance(index, int) else None
    for option in ("device_index", "run_single_threaded", "num_runners"):
        if option in given:
            span.details[option] = given[option]


def after_load(span: Span, result: Any) -> Details:
    """Remember where the model came from, and how its calls are nested."""
    loaded = memory.loaded[result] = span.memory["loaded"]
    with events.noted("read the call spec"):  # its own call is about to fail in the same way
        loaded.spec = str(result.loader.get_call_spec()[0])
    _watch_loader(type(getattr(result, "loader", None)))
    return {}


def watch_runners(runners: Any) -> None:
    """Watch the runners of libraries: what weights they are given, and which are in use."""
    for name, kind in vars(runners).items():
        if name.startswith("AOTIModelContainerRunner") and "_aoti_debug" not in vars(kind):
            kind._aoti_debug = True
            for method, phase, before in _OF_RUNNERS:
                if hasattr(kind, method):
                    point = Point(runners.__name__, f"{name}.{method}", phase, before)
                    setattr(kind, method, watched(getattr(kind, method), point))


def _before_runner(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take a runner's `__init__(self, library, number)`."""
    span.details["caller"] = caller()
    memory.loaded[args[0]] = _loading(span, args[1] if len(args) > 1 else None)


def _to_runner(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `update_constant_buffer(runner, map, use_inactive, validate, user_managed)`."""
    names = ("", "tensor_map", "use_inactive", "validate_full_updates", "user_managed")
    given = {**dict(zip(names, args)), **kwargs}
    given["constants_map"] = given.pop("tensor_map", None)
    given["check_full_update"] = given.pop("validate_full_updates", False)
    span.details["inactive"] = bool(given.pop("use_inactive", False))
    before_constants(span, args[:1], given)


def _of_runner(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take what a runner does without arguments."""
    loaded = memory.loaded.get(args[0])
    span.details.update(caller=caller(), package=loaded.path if loaded else None)


_OF_RUNNERS = (
    ("__init__", "load", _before_runner),
    ("update_constant_buffer", "constants", _to_runner),
    ("update_constant_buffer_from_cpu", "constants", _to_runner),
    ("swap_constant_buffer", "swap", _of_runner),
    ("free_inactive_constant_buffer", "free", _of_runner),
)


def _watch_loader(kind: Any) -> None:
    """Watch weights that are given to the loader behind a model."""
    if kind.__name__ == "AOTIModelPackageLoader" and not hasattr(kind, "_aoti_debug"):
        kind._aoti_debug = True
        for name in ("load_constants", "update_constant_buffer"):
            point = Point(kind.__module__, f"{kind.__name__}.{name}", "constants", _to_loader)
            setattr(kind, name, watched(getattr(kind, name), point))


def _to_loader(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `load_constants(loader, constants, use_inactive, check_full_update, user_managed)`."""
    models = (one for one in list(memory.loaded) if getattr(one, "loader", None) is args[0])
    names = ("", "constants_map", "use_inactive", "check_full_update", "user_managed")
    given = {**dict(zip(names, args)), **kwargs}
    given.setdefault("constants_map", given.get("tensor_map"))
    span.details["inactive"] = bool(given.pop("use_inactive", False))
    before_constants(span, (next(models, None),), given)


def _loading(span: Span, source: Any, model: str = "model") -> Loaded:
    """Take a package that is about to be loaded; learn what its calls must keep to."""
    loaded = span.memory["loaded"] = Loaded(memory.file_of(source), model)
    found = span.details["package"] = describe(source)
    folder, captured = store.directory(), found.get("captured")
    path = loaded.path or (folder.parent / captured if folder and captured else None)
    with events.noted("read the package's contract"):  # of a damaged one the loader will say so
        if path is not None:
            loaded.state(wrapper_contract.contract_in(Path(path), model))
    custom_ops.report()
    return loaded


def before_aot_load(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `torch._export.aot_load`: a shared library and a device."""
    _loading(span, args[0] if args else kwargs.get("so_path"))
    span.details["device"] = str(args[1] if len(args) > 1 else kwargs.get("device"))


def before_package(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `package_aoti`: the archive, and the files of each model."""
    span.memory["archive"] = args[0] if args else kwargs.get("archive_file")
    files = args[1] if len(args) > 1 else kwargs.get("aoti_files")
    models = files if isinstance(files, dict) else {"model": files}
    span.memory["models"] = {str(name): _paths(files) for name, files in models.items()}
    span.details["models"] = list(span.memory["models"])[:_MODELS]


def files_of_models(span: Span) -> dict[str, list[str]]:
    """Return the first files of each model, by which its lowering can be told."""
    models = list(span.memory["models"].items())[:_MODELS]
    return {name: files[:FILES] for name, files in models}


def _paths(files: Any) -> list[str]:
    given = files if isinstance(files, (list, tuple)) else [files]
    return [file for file in given if isinstance(file, str)]


def after_package(span: Span, result: Any) -> Details:
    """Remember the input names of each model in the archive."""
    path = memory.file_of(span.memory["archive"])
    for model, files in span.memory["models"].items():
        names = memory.names_of_files(files)
        if names and path:
            memory.names_of_package[path, model] = names
    if "lower" in span.memory:
        return {}
    return {"package": describe(span.memory["archive"])}


def before_constants(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take `load_constants`: what is given for which name."""
    span.details["caller"] = caller()
    found = memory.loaded.get(args[0]) if args[0] is not None else None
    span.details["package"] = found.path if found else None
    constants = args[1] if len(args) > 1 else kwargs.get("constants_map")
    for option in ("check_full_update", "user_managed", "allow_h2d_copy"):
        if option in kwargs:
            span.details[option] = kwargs[option]
    if isinstance(constants, dict):
        span.details["count"] = len(constants)
        span.details["constants"] = [
            {"name": str(name), **tensor(value), **_not_finite(value)}
            for name, value in list(constants.items())[:200]
            if isinstance(value, torch.Tensor)
        ]
        with budget.Apart():
            span.details.update(_keep_constants(constants, span.details))
        if span.details.get("user_managed") and found is not None:
            _managed[found.path] = _detached(constants)


_managed: dict[str | None, dict[str, Any]] = {}  # by package: what its owner may write to later


def _detached(constants: dict[Any, Any]) -> dict[str, Any]:
    found = {str(name): value for name, value in constants.items()}
    return {n: v.detach() for n, v in found.items() if isinstance(v, torch.Tensor)}


def _before_end(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    span.details["package"] = args[0]
    with budget.Apart():
        span.details.update(_keep_constants(args[1], span.details))


@atexit.register
def _at_end() -> None:
    """Keep what user-managed constants hold at the process's end."""
    point = Point("torch", "user-managed constants", "overwrite", _before_end)
    report = watched(lambda path, constants: None, point)
    for path, constants in _managed.items():
        report(path, constants)


def _keep_constants(constants: dict[Any, Any], details: Details) -> Details:
    """Keep weights that are given, so that a replay can be given them too."""
    memory.given += 1
    given = {str(name): value for name, value in constants.items()}
    reference.given({n: v for n, v in given.items() if isinstance(v, torch.Tensor)})
    size, room = capture.storage_bytes(list(given.values())), store.room()
    why_not = ""
    if store.directory() is None:
        why_not = "capture is off"
    elif memory.given > _GIVEN:
        why_not = f"load_constants was called more than {_GIVEN} times"
    elif not all(type(value) in (torch.Tensor, torch.nn.Parameter) for value in given.values()):
        why_not = "not all of them are plain tensors"
    elif size > room:
        why_not = f"{size} bytes are over the budget: {room}"
    if why_not:
        return {"captured": None, "why_not": why_not}
    options = {key: details[key] for key in ("user_managed",) if type(details.get(key)) is bool}
    tensors = {name: value.detach() for name, value in given.items()}
    document = {"format": 1, "constants": tensors, "options": options}
    try:
        name = store.new_name("constants", ".pt")
        return {"captured": store.write(name, lambda to: torch.save(document, to))}
    except (OSError, RuntimeError) as error:
        return {"captured": None, "why_not": events.said(error)}


def _not_finite(value: Any) -> dict[str, int]:
    """Count the NaNs and infinities of a weight that is given; {} where it has none."""
    try:
        small = value.is_floating_point() and value.numel() <= _COUNTED
        return {kind: n for kind, n in counts(value).items() if n} if small else {}
    except Exception:  # a dtype or a layout without these operators
        return {}
