"""Find out which Python files and libraries define the operators that are not torch's own."""

from __future__ import annotations

import dis
import inspect
import mmap
import os
import re
import sys
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

from . import events
from .lazy import torch
from .vocabulary import owner
from .watch import wrap_once

_SHOWN = 50
_SITES = 500
_HERE = os.path.dirname(__file__)
_REGISTERED = re.compile(r"registered at (.{1,4096}?):\d+")

_last: list[object] = []


@dataclass(frozen=True)
class Site:
    """Where an operator, a kernel of it or its fake kernel was registered: the user's lines,
    innermost first. `word` brings it back: a module to import (`__main__`: the script itself),
    MODULE:FUNCTION to call then, or MODULE:FUNCTION=OPERATOR, a fake kernel to register."""

    op: str
    lines: tuple[tuple[str, int], ...]
    word: str | None
    file: str | None

    @property
    def call(self) -> str | None:
        """Return the function to call, where importing the module is not enough."""
        function = (self.word or "").partition(":")[2]
        return function if function and "=" not in function else None


sites: list[Site] = []
kernels: dict[str, Any] = {}  # the latest Python function registered for NAMESPACE::NAME[.OVERLOAD]
builtin = {"aten", "prim", "prims", "inductor", "higher_order", "profiler"}  # namespaces


def watch() -> None:
    """Remember from here on which of the user's lines register operators."""
    for name in ("define", "impl", "_register_fake"):
        wrapper = partial(_noting, name=name)
        wrap_once(torch.library.Library, name, wrapper)


def _noting(original: Any, name: str) -> Any:
    fake = name == "_register_fake"

    def register(self: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        with events.noted("look at a registration"):
            own = _name(op)
            _note(f"{self.ns}::{own.partition('.')[0]}", args[0] if fake and args else None)
            if name == "impl" and args and _is_users(args[0]):
                kernels[f"{self.ns}::{own}"] = args[0]
        if fake and len(args) > 1:  # how many frames to look back, which are one more now
            args = (args[0], args[1] + 1, *args[2:])
        elif fake:
            kwargs["_stacklevel"] = kwargs.get("_stacklevel", 1) + 1
        return original(self, op, *args, **kwargs)

    return register


def _is_users(function: Any) -> bool:
    """Tell a Python function of the user's from torch's wrapper of one."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return code is not None and owner(code.co_filename) != "torch"


def _name(op: Any) -> str:
    """Return NAME, or NAME.OVERLOAD, of an operator or of a schema."""
    text = op if isinstance(op, str) else str(op.name())
    return text.partition("(")[0].rpartition("::")[2]


def _note(op: str, fake: Any) -> None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.endswith(_LIBRARY):
        frame = frame.f_back
    if frame is None or owner(frame.f_code.co_filename) == "torch" or len(sites) >= _SITES:
        return
    lines: list[tuple[str, int]] = []
    called: tuple[str, str] | None = None
    module = "__main__"
    while frame is not None:
        code, name = frame.f_code, str(frame.f_globals.get("__name__"))
        if not code.co_filename.startswith((_HERE, "<")) and owner(code.co_filename) != "torch":
            lines.append((os.path.abspath(code.co_filename), frame.f_lineno))
            if called is None and name != module and _plain(frame):
                called = name, code.co_name
            if code.co_name == "<module>":
                module = name
                break
        frame = frame.f_back
    word = None
    if module != "__main__":
        called, word = None, module if module in sys.modules else None
    elif called is not None:
        word = ":".join(called)
    elif fake is not None:
        name, function = str(fake.__module__), str(fake.__qualname__)
        if name != "__main__" and getattr(sys.modules.get(name), function, None) is fake:
            called, word = (name, function), f"{name}:{function}={op}"
    if word is None and module == "__main__":  # by a function that takes arguments
        word = module
    file = getattr(sys.modules.get(called[0] if called else module), "__file__", None)
    sites.append(Site(op, tuple(lines), word, file and os.path.abspath(file)))


_LIBRARY = tuple(
    os.path.join("torch", *path)
    for path in (("library.py",), ("_library", "custom_ops.py"), ("_library", "triton.py"))
)


def _plain(frame: FrameType) -> bool:
    """Tell whether a frame is a call of a module's function that takes no arguments."""
    code = frame.f_code
    takes = code.co_argcount + code.co_kwonlyargcount
    own = getattr(frame.f_globals.get(code.co_name), "__code__", None)
    return not takes and own is code


def report() -> None:
    """Write a custom_ops event when there are any and they changed since the last one."""
    with events.noted("look for custom ops"):
        groups = namespaces()
        native = [one["file"] for one in groups if not (one["file"] or ".py").endswith(".py")]
        libraries = sorted({*map(str, torch.ops.loaded_libraries), *_mapped(native)})
        busy = _under_way()  # what goes on to use a model does more than to register
        words = dict.fromkeys((o.word, o.file) for o in sites if o.word and o.word not in busy)
        state = groups, libraries, [list(one) for one in words]
        if any(state) and _last != [state]:
            _last[:] = [state]
            events.emit("custom_ops", namespaces=groups, libraries=libraries, registered=state[2])


def _under_way() -> set[str]:
    """Return the functions that this thread is in, as MODULE:FUNCTION."""
    found: set[str] = set()
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        found.add(f"{frame.f_globals.get('__name__')}:{frame.f_code.co_name}")
        frame = frame.f_back
    return found


def _mapped(sources: list[str]) -> set[str]:
    """Return the libraries of this process that were made of one of these files: their operators
    say which."""
    found: set[str] = set()
    if not sources or not os.path.exists("/proc/self/maps"):
        return found
    with open("/proc/self/maps") as maps:
        paths = {line.split(None, 5)[5].strip() for line in maps if "/" in line}
    for path in paths:
        if ".so" not in path or owner(path) == "torch" or path.startswith(("/usr/", "/lib")):
            continue
        with open(path, "rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if any(content.find(source.encode()) >= 0 for source in sources):
                found.add(path)
    return found


def namespaces() -> list[dict[str, Any]]:
    """Return the foreign operators, grouped by namespace and by the file that defines them."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for name in torch._C._dispatch_get_all_op_names():
        namespace = name.split("::")[0]
        if namespace not in builtin:
            groups.setdefault((namespace, _file(name)), []).append(name)
    holders = _holders() if any(file is None for _, file in groups) else {}
    found = []
    for (namespace, file), names in sorted(groups.items(), key=str):
        module = _module_of(file) if file else holders.get(namespace)
        file = file or getattr(sys.modules.get(module or ""), "__file__", None)
        if not (module or "").startswith("torch.") and not _is_torch(file):
            ops = sorted(names)[:_SHOWN]
            found.append({"namespace": namespace, "file": file, "module": module, "ops": ops})
    return found


def _holders() -> dict[str, str]:
    """Return which module holds the `torch.library.Library` of a namespace."""
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if type(value) is torch.library.Library:
                found.setdefault(value.ns, name)
    return found


def definition_of(operator: str) -> Any:
    """Return what `torch.library.custom_op` made of NAMESPACE::NAME; None of other operators."""
    return getattr(sys.modules.get("torch._library.custom_ops"), "OPDEFS", {}).get(operator)


def function_of(target: Any) -> Any:
    """Return the Python function of an operator, as far as it has one that was seen; else None."""
    definition = definition_of(str(target._schema.name))
    known = getattr(definition, "_init_fn", None) or kernels.get(target.name())
    return inspect.unwrap(known) if inspect.isfunction(known) else None


def remember_builtin() -> None:
    """Remember the namespaces that exist right after torch was imported."""
    builtin.update(name.split("::")[0] for name in torch._C._dispatch_get_all_op_names())


def _file(name: str) -> str | None:
    """Return the source file of an operator, as far as torch knows it."""
    function = getattr(definition_of(name.split(".")[0]), "_init_fn", None)
    code = getattr(function, "__code__", None)
    if code is not None:
        return os.path.abspath(str(code.co_filename))
    match = _REGISTERED.search(str(torch._C._dispatch_dump(name)))
    file = match.group(1) if match else None
    return file if file != os.devnull else None  # what some releases say of all


def places(target: Any) -> dict[str, tuple[str, int]]:
    """Return file and line where an operator ends and where its fake kernel does, each as far as
    it is a Python function that torch knows."""
    found: dict[str, tuple[str, int]] = {}
    with events.noted("look for an operator's source"):
        definition = definition_of(str(target._schema.name))
        entry = torch._library.simple_registry.singleton.find(target.name())
        kernel = getattr(getattr(entry, "fake_impl", None), "kernel", None)
        fake = getattr(definition, "_abstract_fn", None) or getattr(kernel, "func", None)
        for what, function in (("real", function_of(target)), ("fake", fake)):
            code = getattr(inspect.unwrap(function), "__code__", None) if function else None
            if code is not None and not _is_torch(os.path.abspath(code.co_filename)):
                lines = [line for _, line in dis.findlinestarts(code) if line]
                found[what] = os.path.abspath(code.co_filename), max(lines)
    return found


def shared(target: Any) -> dict[str, Any]:
    """Return the first tensor outside of a Python operator's function that it uses, and where."""
    function = function_of(target)
    if function is None:
        return {}
    held = inspect.getclosurevars(function)
    known = {**held.globals, **held.nonlocals}
    names = [name for name, value in known.items() if isinstance(value, torch.Tensor)]
    if not names:
        return {}
    line = function.__code__.co_firstlineno
    for one in dis.get_instructions(function):
        starts = one.starts_line
        if starts:  # 3.13 says whether, and the line elsewhere
            line = getattr(one, "line_number", None) or int(starts)
        if one.argval in names:
            file = os.path.abspath(function.__code__.co_filename)
            return {"name": one.argval, "place": (file, line)}
    return {}


def _is_torch(file: str | None) -> bool:
    return file is not None and file.startswith(os.path.dirname(torch.__file__) + os.sep)


def _module_of(file: str) -> str | None:
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if path and os.path.abspath(path) == file:
            return name
    return None
