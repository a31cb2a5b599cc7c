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
    return [
        {
            "namespace": namespace,
            "file": file,
            "module": _module_of(file),
            "ops": sorted(names)[:_SHOWN],
        }
        for (namespace, file), names in sorted(groups.items(), key=str)
        if not _is_torch(torch, file)
    ]


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
    return match.group(1) if match else None


def _is_torch(torch: Any, file: str | None) -> bool:
    return file is not None and file.startswith(os.path.dirname(torch.__file__) + os.sep)  # noqa: PTH120


def _module_of(file: str | None) -> str | None:
    if file is None:
        return None
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if path and os.path.abspath(path) == file:  # noqa: PTH100
            return name
    return None
