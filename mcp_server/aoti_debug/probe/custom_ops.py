"""Find out which Python files and libraries define the operators that are not torch's own."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from . import events

_SHOWN = 50
_REGISTERED = re.compile(r"registered at (.{1,4096}?):\d+")

_last: list[object] = []


def report(torch: Any) -> None:
    """Write a custom_ops event when there are any and they changed since the last one."""
    try:
        state = namespaces(torch), sorted(map(str, torch.ops.loaded_libraries))
    except Exception as error:
        events.note("look for custom ops", error)
        return
    if state == ([], []) or _last == [state]:
        return
    _last[:] = [state]
    events.emit("custom_ops", namespaces=state[0], libraries=state[1])


def namespaces(torch: Any) -> list[dict[str, Any]]:
    """Return the foreign operators, grouped by namespace and by the file that defines them."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for name in _names(torch):
        groups.setdefault((name.split("::")[0], _file(torch, name)), []).append(name)
    holders = _holders(torch) if any(file is None for _, file in groups) else {}
    found = []
    for (namespace, file), names in sorted(groups.items(), key=str):
        module = _module_of(file) if file else holders.get(namespace)
        file = file or getattr(sys.modules.get(module or ""), "__file__", None)
        if not (module or "").startswith("torch.") and not _is_torch(torch, file):
            found.append(
                {
                    "namespace": namespace,
                    "file": file,
                    "module": module,
                    "ops": sorted(names)[:_SHOWN],
                }
            )
    return found


def _holders(torch: Any) -> dict[str, str]:
    """Return which module holds the `torch.library.Library` of a namespace."""
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if type(value) is torch.library.Library:
                found.setdefault(value.ns, name)
    return found


def _names(torch: Any) -> list[str]:
    own = _own_namespaces(torch)
    return [
        name for name in torch._C._dispatch_get_all_op_names() if name.split("::")[0] not in own
    ]


def _own_namespaces(torch: Any) -> set[str]:
    if not _builtin:
        _builtin.update(("aten", "prim", "prims", "inductor", "higher_order", "profiler"))
    return _builtin


_builtin: set[str] = set()


def remember_builtin(torch: Any) -> None:
    """Remember the namespaces that exist right after torch was imported."""
    _own_namespaces(torch).update(
        name.split("::")[0] for name in torch._C._dispatch_get_all_op_names()
    )


def _file(torch: Any, name: str) -> str | None:
    """Return the source file of an operator, as far as torch knows it."""
    definitions = getattr(sys.modules.get("torch._library.custom_ops"), "OPDEFS", {})
    definition = definitions.get(name.split(".")[0])
    function = getattr(definition, "_init_fn", None)
    code = getattr(function, "__code__", None)
    if code is not None:
        return os.path.abspath(str(code.co_filename))  # noqa: PTH100
    match = _REGISTERED.search(str(torch._C._dispatch_dump(name)))
    file = match.group(1) if match else None
    return file if file != os.devnull else None  # what some releases say of all


def places(torch: Any, target: Any) -> dict[str, tuple[str, int]]:
    """Return file and line where an operator ends and where its fake kernel does, each as far as
    it is a Python function that torch knows."""
    import dis  # of a replay alone: a watched program should not pay for them
    import inspect

    found: dict[str, tuple[str, int]] = {}
    try:
        name = str(target._schema.name)
        definition = getattr(sys.modules.get("torch._library.custom_ops"), "OPDEFS", {}).get(name)
        entry = torch._library.simple_registry.singleton.find(name)
        kernel = getattr(getattr(entry, "fake_impl", None), "kernel", None)
        fake = getattr(definition, "_abstract_fn", None) or getattr(kernel, "func", None)
        for what, function in (("real", getattr(definition, "_init_fn", None)), ("fake", fake)):
            code = getattr(inspect.unwrap(function), "__code__", None) if function else None
            if code is not None and not _is_torch(torch, os.path.abspath(code.co_filename)):  # noqa: PTH100
                lines = [line for _, line in dis.findlinestarts(code) if line]
                found[what] = os.path.abspath(code.co_filename), max(lines)  # noqa: PTH100
    except Exception as error:
        events.note("look for an operator's source", error)
    return found


def shared(torch: Any, target: Any) -> dict[str, Any]:
    """Return the first tensor outside of a Python operator's function that it uses, and where."""
    import dis
    import inspect

    definition = getattr(sys.modules.get("torch._library.custom_ops"), "OPDEFS", {}).get(
        str(target._schema.name)
    )
    function = inspect.unwrap(getattr(definition, "_init_fn", None) or shared)
    held = inspect.getclosurevars(function)
    known = {**held.globals, **held.nonlocals}
    names = [name for name, value in known.items() if isinstance(value, torch.Tensor)]
    if function is shared or not names:
        return {}
    line = function.__code__.co_firstlineno
    for one in dis.get_instructions(function):
        starts = one.starts_line
        if starts:  # 3.13 says whether, and the line elsewhere
            line = getattr(one, "line_number", None) or int(starts)
        if one.argval in names:
            file = os.path.abspath(function.__code__.co_filename)  # noqa: PTH100
            return {"name": one.argval, "place": (file, line)}
    return {}


def _is_torch(torch: Any, file: str | None) -> bool:
    return file is not None and file.startswith(os.path.dirname(torch.__file__) + os.sep)  # noqa: PTH120


def _module_of(file: str) -> str | None:
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if path and os.path.abspath(path) == file:  # noqa: PTH100
            return name
    return None
