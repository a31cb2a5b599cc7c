"""Tell what a compile depends on, in typed parts with a digest each: equal parts, equal package.

What cannot be told raises Incomparable, so that it counts as different. Line numbers, names of
files and values of example inputs are left out, because they do not reach the generated code.
Code that replaces functions of torch itself is not seen.
"""

from __future__ import annotations

import ctypes
import dis
import enum
import functools
import hashlib
import inspect
import os
import sys
import types
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from . import custom_ops, operator_source
from .lazy import torch
from .vocabulary import owner

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_CHUNK = 32 << 20  # bytes of a weight
# Of a node, what says where it came from, or follows from its target and arguments.
_DERIVED = frozenset(
    """
    stack_trace nn_module_stack source_fn_stack torch_fn from_node original_aten seq_nr desc
    tensor_meta example_value eager_input_vals unbacked_bindings
    """.split()
)
_SHAPES = (
    "backed_var_to_val var_to_val var_to_hint_override var_to_range replacements divisible "
    "deferred_runtime_asserts size_like unbacked_inputs"
).split()
_OUTSIDE = frozenset("os sys io random time datetime subprocess socket pathlib builtins".split())
_ASKING = frozenset("open input eval exec globals __import__".split())
_DEFINITION = ("_init_fn", "_abstract_fn", "_backend_fns", "_torch_dispatch_fns", "_vmap_fn")
_KERNEL = (
    "fn noinline do_not_specialize do_not_specialize_on_alignment debug configs keys values "
    "reset_to_zero restore_value early_config_prune perf_model configs_top_k value"
).split()


class Incomparable(Exception):
    """A value of which nobody can say whether another one equals it; the message names it."""


def digest(told: object) -> str:
    return hashlib.sha256(repr(told).encode("utf-8", "backslashreplace")).hexdigest()


class Teller:
    """Tells values as nested tuples of text; what several parts share is told once."""

    def __init__(self) -> None:
        self.operators: dict[str, Any] = {}
        self.lines: list[object] = []
        self._nodes: dict[Any, int] = {}
        self._storages: dict[int, tuple[int, str]] = {}
        self._seen: dict[int, Any] = {}  # functions and modules; held, or an id would be used again
        fx = import_module("torch.fx")
        self._kinds: tuple[tuple[Any, Any], ...] = (
            (_PLAIN, repr),
            ((torch.dtype, torch.device, torch.layout, torch.memory_format), repr),
            ((torch.SymInt, torch.SymFloat, torch.SymBool), lambda one: str(one.node.expr)),
            (fx.Node, self._nodes.__getitem__),
            (fx.GraphModule, self.graph),
            (torch.Tensor, self._tensor),
            (torch._ops.OpOverload, self._operator),
            (torch._ops.HigherOrderOperator, lambda one: one.name()),
            (torch.utils._pytree.TreeSpec, torch.utils._pytree.treespec_dumps),
            (dict, lambda one: [(self.tell(key), self.tell(one[key])) for key in one]),
            ((set, frozenset), lambda one: sorted(map(repr, map(self.tell, one)))),
            ((list, tuple), lambda one: list(map(self.tell, one))),
            (slice, lambda one: self.tell((one.start, one.stop, one.step))),
            (enum.Enum, lambda one: one.name),
            (functools.partial, lambda one: self.tell((one.func, one.args, one.keywords))),
            (types.MethodType, lambda one: self.tell((one.__func__, one.__self__))),
            (types.FunctionType, self._function),
            ((types.BuiltinFunctionType, type(torch.add)), self._builtin),
            (types.ModuleType, self._module),
            (type, self._class),
        )

    def tell(self, value: Any) -> object:
        """Tell a value by its kind and content.

        Raises:
            Incomparable
        """
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        for kind, told in self._kinds:
            if isinstance(value, kind):
                return name, told(value)
        if name.startswith("triton."):
            given = {one: getattr(value, one) for one in _KERNEL if hasattr(value, one)}
            return name, self.tell(given or vars(value))
        if name.startswith(("sympy.", "torch.utils._sympy.")):
            return name, str(value)
        if name == "logging.Logger":
            return name, None
        if name == "torch._library.custom_ops.CustomOpDef":
            return str(value), self._defined(value)
        raise Incomparable(f"a {name}")

    def graph(self, module: Any) -> object:
        """Tell nodes, what they promise, and the graphs inside."""
        found: list[object] = []
        for node in module.graph.nodes:
            self._nodes[node] = len(self._nodes)
            self.lines.append((node.meta.get("stack_trace"), str(node.meta.get("nn_module_stack"))))
            target, kwargs = node.target, dict(node.kwargs)
            if node.op == "get_attr":
                target = functools.reduce(getattr, target.split("."), module)
            if node.op == "placeholder":
                target = node.name
            if "kernel_idx" in kwargs:
                table = import_module("torch._higher_order_ops.triton_kernel_wrap")
                table = table.kernel_side_table
                kwargs["kernel_idx"] = table.get_kernel(kwargs["kernel_idx"])
                constants = kwargs.get("constant_args_idx")
                if constants is not None:
                    kwargs["constant_args_idx"] = table.get_constant_args(constants)
            meta = {key: node.meta[key] for key in node.meta if key not in _DERIVED}
            found.append((node.op, *map(self.tell, (target, node.args, kwargs, meta))))
        return found

    def shapes(self, program: Any) -> object:
        """Tell the sizes: their hints, ranges, and what is known of them."""
        values = (node.meta.get("val") for node in program.graph.nodes)
        mode = next((one.fake_mode for one in values if hasattr(one, "fake_mode")), None)
        known = vars(getattr(mode, "shape_env", None) or types.SimpleNamespace())
        guards = [str(one.expr) for one in known.get("guards", ())]
        told = {name: str(known[name]) for name in _SHAPES if name in known}
        return guards, told, str(program.range_constraints)

    def definitions(self) -> object:
        """Tell what defines the foreign operators that were told of: schema, functions, files."""
        found: list[object] = []
        for name, target in sorted(self.operators.items()):
            qualified = str(target._schema.name)
            if qualified.split("::")[0] in custom_ops.builtin:
                continue
            entry = torch._library.simple_registry.singleton.find(qualified)
            kernel = getattr(getattr(entry, "fake_impl", None), "kernel", None)
            definition = custom_ops.definition_of(qualified)
            registered = operator_source.registered([qualified])
            tags = sorted(map(str, target.tags))
            files = self._registering(qualified) if definition is None else []
            functions = self._defined(definition), self.tell(getattr(kernel, "func", None))
            found.append((name, registered, tags, files, functions))
        return found

    def _defined(self, definition: Any) -> object:
        if id(definition) in self._seen:
            return None
        self._seen[id(definition)] = definition
        return [self.tell(getattr(definition, one, None)) for one in _DEFINITION]

    def _registering(self, name: str) -> list[object]:
        """Tell the files, outside of torch, that registered kernels of an operator."""
        dump = str(torch._C._dispatch_dump(name))
        files = set(custom_ops._REGISTERED.findall(dump))
        libraries = sorted(map(str, torch.ops.loaded_libraries))
        found: list[object] = []
        for file in sorted(one for one in files if owner(one) != "torch"):
            if file.endswith(".py"):
                found.append(content(file))
            elif libraries:
                found += [content(one) for one in libraries]
            else:
                raise Incomparable(f"the operator {name}, which compiled code registers")
        return found

    def _operator(self, value: Any) -> str:
        self.operators[str(value)] = value
        return str(value)

    def _tensor(self, value: Any) -> object:
        sizes = [str(one) for one in (*value.shape, "|", *value.stride(), value.storage_offset())]
        about = (str(value.dtype), str(value.device), str(value.layout), value.requires_grad, sizes)
        if hasattr(value, "fake_mode") or value.device.type == "meta":
            return about
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout != torch.strided:
            raise Incomparable(f"a {type(value).__name__} of layout {value.layout}")
        storage = value.untyped_storage()
        if storage._cdata not in self._storages:
            self._storages[storage._cdata] = len(self._storages), _bytes_of(storage)
        return about, self._storages[storage._cdata]

    def _function(self, value: Any) -> object:
        if id(value) in self._seen:
            return value.__qualname__
        self._seen[id(value)] = value
        inner = inspect.unwrap(value)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        held = self.tell([value.__defaults__, value.__kwdefaults__, cells])
        beneath = self.tell(inner) if inner is not value else None
        file = value.__code__.co_filename
        if owner(file) == "torch" or (owner(file) == "library" and os.path.exists(file)):
            return value.__module__, value.__qualname__, _status(file), held, beneath
        codes = list(_codes(value.__code__))
        names = {name for code in codes for name in code.co_names}
        if names & _ASKING:
            raise Incomparable(f"the function {value.__qualname__}, which reads from outside")
        found = value.__globals__
        used = [(name, self._used(found[name], names)) for name in sorted(names & set(found))]
        steps = (one for code in codes for one in dis.get_instructions(code))
        imported = [one.argval for one in steps if one.opname == "IMPORT_NAME"]
        used += [(name, self._used(import_module(name), names)) for name in imported]
        notes = {name: str(one) for name, one in getattr(value, "__annotations__", {}).items()}
        return value.__qualname__, _code(value.__code__), held, beneath, notes, used

    def _used(self, value: Any, names: set[str]) -> object:
        """Tell a global of a function; of a module of the user's also what has one of the names."""
        told = self.tell(value)
        if not isinstance(value, types.ModuleType) or owner(value.__file__ or "") != "user":
            return told
        inside = vars(value)
        own = sorted(names & set(inside))
        return told, [(n, self.tell(inside[n])) for n in own if inside[n] is not value]

    def _module(self, value: Any) -> object:
        if value.__name__.split(".")[0] in _OUTSIDE:
            raise Incomparable(f"code that uses {value.__name__}")
        file = getattr(value, "__file__", None)
        return value.__name__, _status(file) if file else None

    def _builtin(self, value: Any) -> object:
        own = getattr(value, "__self__", None)
        if own is not None and not isinstance(own, (types.ModuleType, type)):
            raise Incomparable(f"the method {value.__qualname__} of a {type(own).__name__}")
        return getattr(value, "__module__", None), value.__qualname__

    def _class(self, value: Any) -> object:
        module = sys.modules.get(value.__module__)
        file = getattr(module, "__file__", None)
        if file is None and value.__module__ not in sys.builtin_module_names:
            raise Incomparable(f"the class {value.__qualname__}")
        return value.__module__, value.__qualname__, _status(file) if file else None


def _status(file: str) -> object:
    """Tell a source file: torch's by torch's version, a library's by size and time, the user's by
    content."""
    whose = owner(file)
    if whose == "torch":
        return whose
    if whose == "user":
        return content(file)
    status = Path(file).stat()
    return file, status.st_size, status.st_mtime_ns


def content(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        raise Incomparable(f"the file {file}: {error.strerror}") from error


def _codes(code: types.CodeType) -> Iterable[types.CodeType]:
    """Yield the code of a function and of those within it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)


def _code(code: Any) -> object:
    """Tell what a function does, without its lines."""
    constants = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return code.co_code, constants, names, counts


def _bytes_of(storage: Any) -> str:
    """Return the digest of a storage's bytes, taken in parts side by side."""
    size, on_host = storage.nbytes(), storage.device.type == "cpu"
    whole = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)

    def part(begin: int) -> bytes:
        data = whole[begin : begin + _CHUNK] if on_host else whole[begin : begin + _CHUNK].cpu()
        memory = (ctypes.c_char * data.numel()).from_address(data.data_ptr())
        return hashlib.sha256(memory).digest()

    if size <= _CHUNK:
        return digest([part(0) for _ in range(min(size, 1))])
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return digest(list(pool.map(part, range(0, size, _CHUNK))))
