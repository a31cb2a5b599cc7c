"""Watch the loaders of packages and the runners of libraries, which scripts use without a model
around them."""

from __future__ import annotations

from typing import Any

from . import calls, events, growth, memory, packages
from .watch import Point, Span, caller, watched

_RUNNER = "AOTIModelContainerRunner"
_LOADER = "AOTIModelPackageLoader"
# Parameters of load_constants, and those of update_constant_buffer that have other names.
_GIVING = (
    "",
    "constants_map",
    "use_inactive",
    "check_full_update",
    "user_managed",
    "allow_h2d_copy",
)
_LISTED = 200
_ALSO = {"tensor_map": "constants_map", "validate_full_updates": "check_full_update"}


def watch_runners(runners: Any) -> None:
    """Watch what they load, their calls, what weights they are given, and which are in use."""
    for name, kind in vars(runners).items():
        if not name.startswith((_RUNNER, _LOADER)) or "_aoti_debug" in vars(kind):
            continue
        kind._aoti_debug = True
        for method, phase, before in _OF_RUNNERS:
            if hasattr(kind, method):
                wrap = calls.watch_run if phase == "run" else None
                point = Point(runners.__name__, f"{name}.{method}", phase, before, wrap=wrap)
                setattr(kind, method, watched(getattr(kind, method), point))


def _before_runner(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take the `__init__` of a loader, or of a runner: (self, library, number, …)."""
    if _LOADER in span.name:
        packages.before_load(span, args[1:], kwargs)
    else:
        span.details["caller"] = caller()
        packages.loading(span, args[1] if len(args) > 1 else None)
        span.details["num_runners"] = args[2] if len(args) > 2 else 1
    loaded = memory.loaded[args[0]] = span.memory["loaded"]
    loaded.flat = True
    growth.loaded(loaded)


def _to_runner(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take a loader's `load_constants`, or the `update_constant_buffer` of either."""
    given = {_ALSO.get(name, name): value for name, value in kwargs.items()}
    given = {"check_full_update": False, **dict(zip(_GIVING, args)), **given}
    if span.name.endswith("_from_cpu"):
        given["allow_h2d_copy"] = True
    span.details["inactive"] = bool(given.pop("use_inactive", False))
    constants = given.get("constants_map")
    if isinstance(constants, dict) and not span.name.endswith("load_constants"):
        names = _names_of(args[0])
        given["constants_map"] = {names.get(n, n): v for n, v in constants.items() if "." not in n}
        if ignored := [name for name in constants if "." in name]:
            span.details["ignored"] = ignored[:_LISTED]
    packages.before_constants(span, args[:1], given)


def _names_of(runner: Any) -> dict[str, str]:
    """Return the names that a model gave its weights, by those of the container, which are names
    in C++ and without a dot. A loader does not tell these: they differ in the dots alone."""
    with events.noted("read the names of constants"):
        known = getattr(runner, "get_constant_names_to_original_fqns", None)
        if known is not None:
            return dict(known())
        return {name.replace(".", "_"): name for name in runner.get_constant_fqns()}
    return {}


def _from_file(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    _of_runner(span, args, kwargs)
    span.details["why_not"] = "they are in a file of bytes without names"


def _of_runner(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Take what a runner does without arguments."""
    found = memory.loaded.get(args[0])
    packages.about(span, found)
    held = memory.managed.get(found.instance) if found is not None else None
    if held is not None and span.phase == "swap":
        held.used = False


_OF_RUNNERS: tuple[tuple[str, str, Any], ...] = (
    ("__init__", "load", _before_runner),
    ("run", "run", None),
    ("boxed_run", "run", None),
    ("load_constants", "constants", _to_runner),
    ("update_constant_buffer", "constants", _to_runner),
    ("update_constant_buffer_from_blob", "constants", _from_file),
    ("update_constant_buffer_from_cpu", "constants", _to_runner),
    ("swap_constant_buffer", "swap", _of_runner),
    ("free_inactive_constant_buffer", "free", _of_runner),
)
