"""Watch packages being written and loaded, and keep a copy of each."""

from __future__ import annotations

import atexit
import io
import itertools
import shutil
from pathlib import Path
from typing import Any

from . import (
    budget,
    capture,
    checkpoints,
    custom_ops,
    events,
    growth,
    memory,
    not_copied,
    reference,
    store,
    wrapper_contract,
)
from .describe import counts, tensor
from .lazy import torch
from .memory import Loaded
from .watch import Details, Point, Span, caller, watched

_instances = itertools.count(1)
FILES = 100  # of a model, that are named in an event
_MODELS = 50
_KERNELS = 3000
# Parameters of aoti_load_package, and of load_package and of a package's loader.
_LOADING = (
    ("path", "run_single_threaded", "device_index"),
    ("path", "model_name", "run_single_threaded", "num_runners", "device_index"),
)
_GIVEN = 8  # calls of load_constants whose weights are kept
_NAMED = 20  # other weights of a checkpoint
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
    if path.endswith(".so"):
        with budget.Apart(), events.noted("keep what lies beside a library"):
            _keep_beside(Path(path), Path(captured).stem)
    return {**found, "captured": captured}


def _keep_beside(library: Path, name: str) -> None:
    """Keep the source of a library, which states its constants, and what its runner reads: kernels
    of a GPU too, which are files by the names that the library has for them."""
    source = wrapper_contract.source_beside(library)
    kernels = sorted(library.parent.glob("*.cubin"))
    beside = [(source, f"{name}.cpp"), (library.with_suffix(".json"), f"{name}.json")]
    for file, to in [*beside, *((one, one.name) for one in kernels[:_KERNELS])]:
        if file is not None and file.is_file() and file.stat().st_size <= store.room():
            store.write(to, lambda to, file=file: shutil.copyfile(file, to))  # type: ignore[misc]


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
    """Take what loads a package: the package, and which of its models."""
    given = dict(zip(_LOADING[not span.name.endswith(".aoti_load_package")], args), **kwargs)
    source, model = given.get("path"), str(given.get("model_name", "model"))
    span.details.update(caller=caller(), model=model)
    loaded, index = loading(span, source, model), given.get("device_index")
    loaded.device_index = index if isinstance(index, int) else None
    for option in ("device_index", "run_single_threaded", "num_runners"):
        if option in given:
            span.details[option] = given[option]


def after_load(span: Span, result: Any) -> Details:
    """Remember where the model came from, and how its calls are nested."""
    loaded = memory.loaded[result] = span.memory["loaded"]
    with events.noted("read the call spec"):  # its own call is about to fail in the same way
        loaded.spec = str(result.loader.get_call_spec()[0])
        memory.loaded[result.loader] = loaded.anew(flat=True)
    growth.loaded(loaded)
    if memory.hands_over:
        from . import handed

        handed.enter()
    return {}


def about(span: Span, loaded: Loaded | None) -> None:
    """Say which line does something to which loaded package."""
    span.details.update(caller=caller(), package=loaded.path if loaded else None)
    if loaded is not None:
        span.details["instance"] = loaded.instance


def loading(span: Span, source: Any, model: str = "model") -> Loaded:
    """Take a package that is about to be loaded; learn what its calls must keep to."""
    loaded = span.memory["loaded"] = Loaded(memory.file_of(source), model)
    loaded.instance = span.details["instance"] = next(_instances)
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
    loading(span, args[0] if args else kwargs.get("so_path"))
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
    found = memory.loaded.get(args[0])
    about(span, found)
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
        if memory.hands_over:
            for value in constants.values():
                not_copied.read(value)
        with budget.Apart():
            span.details.update(_keep_constants(constants, span.details))
        if span.details.get("user_managed") and found is not None:
            used = found.instance > 0 and not span.details.get("inactive")
            now = memory.Managed(_detached(constants), used=used)
            places, known = now.places(), memory.managed.items()
            alike = {instance: held for instance, held in known if places & held.places()}
            own = alike.pop(found.instance, None)
            span.details["shared_with"] = list(alike)[:_GIVEN]
            if own is not None and own.call:
                span.details["written"] = own.call
            memory.managed[found.instance] = now
            _owners[found.instance] = found


_owners: dict[int, Loaded] = {}  # of user-managed weights, by instance


def _detached(constants: dict[Any, Any]) -> dict[str, Any]:
    found = {str(name): value for name, value in constants.items()}
    return {n: v.detach() for n, v in found.items() if isinstance(v, torch.Tensor)}


def _before_end(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    span.details.update(package=args[0].path, instance=args[0].instance)
    if any(one.numel() and not one.untyped_storage().nbytes() for one in args[1].values()):
        span.details["released"] = True
        return
    with budget.Apart():
        span.details.update(_keep_constants(args[1], span.details))


@atexit.register
def _at_end() -> None:
    """Keep what user-managed constants hold at the process's end."""
    point = Point("torch", "user-managed constants", "overwrite", _before_end)
    report = watched(lambda loaded, constants: None, point)
    for instance, loaded in _owners.items():
        report(loaded, memory.managed[instance].tensors)


def _keep_constants(constants: dict[Any, Any], details: Details) -> Details:
    """Keep weights that are given, so that a replay can be given them too."""
    memory.given += 1
    given = {str(name): value for name, value in constants.items()}
    reference.given({n: v for n, v in given.items() if isinstance(v, torch.Tensor)})
    rest = checkpoints.rest_of(given)
    size, room = capture.storage_bytes([*given.values(), *rest.values()]), store.room()
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
    document = {"format": 1, "constants": tensors, "options": options, "rest": rest}
    try:
        name = store.new_name("constants", ".pt")
        captured = store.write(name, lambda to: torch.save(document, to))
        return {"captured": captured, **({"rest": list(rest)[:_NAMED]} if rest else {})}
    except (OSError, RuntimeError) as error:
        return {"captured": None, "why_not": events.said(error)}


def _not_finite(value: Any) -> dict[str, int]:
    """Count the NaNs and infinities of a weight that is given; {} where it has none."""
    try:
        small = value.is_floating_point() and value.numel() <= _COUNTED
        return {kind: n for kind, n in counts(value).items() if n} if small else {}
    except Exception:  # a dtype or a layout without these operators
        return {}
