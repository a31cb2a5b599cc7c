"""Hooks around all that a loaded package calls: its kernels, torch's shims, the GPU's driver.

    with taps.watched(hook) as watch:
        model = torch._inductor.aoti_load_package(path)
        model(*inputs)

The library calls each of these through a slot of its table of imported functions. A package that is
loaded within the context has its slots replaced before its constants are made, one that is loaded
already at once, and all have their own again at its end. Nothing is compiled.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from . import handles, prototypes, slots
from .prototypes import Param, Prototype
from .slots import Library
from .wrapper_contract import source_in

# What is called: `generated` and `launch` are the kernels that Inductor generated, for CPU and GPU,
# `extern` a library or an operator, `check` an assertion that fails, `pointer` a tensor's address.
KINDS = ("generated", "launch", "extern", "allocation", "free", "view", "pointer", "load", "check")
_SHIMS = {
    "aoti_torch_empty_strided": "allocation",
    "aoti_torch_empty_strided_pinned": "allocation",
    "aoti_torch_cuda_caching_allocator_raw_alloc": "allocation",
    "aoti_torch_cuda_caching_allocator_raw_delete": "free",
    "aoti_torch_delete_tensor_object": "free",
    "aoti_torch__alloc_from_pool": "view",
    "aoti_torch__reinterpret_tensor": "view",
    "aoti_torch_as_strided": "view",
    "aoti_torch_assign_tensors": "view",
    "aoti_torch_assign_tensors_out": "view",
    "aoti_torch_create_tensor_from_blob": "view",
    "aoti_torch_create_tensor_from_blob_v2": "view",
    "aoti_torch_new_tensor_handle": "view",
    "aoti_torch_get_data_ptr": "pointer",
    "aoti_torch_check": "check",
    **dict.fromkeys(
        """
        aoti_torch_proxy_executor_call_function aoti_torch_call_dispatcher aoti_torch_clone
        aoti_torch_clone_preserve_strides aoti_torch_copy_ aoti_torch_tensor_copy_ aoti_torch_zero_
        aoti_torch__mm_plus_mm_out aoti_torch_scatter_out aoti_torch_scatter_reduce_out
        aoti_torch_index_put_out
        """.split(),
        "extern",
    ),
}
PROXY, PROXIED = "aoti_torch_proxy_executor_call_function", "proxy_executor["
_EXTERN = ("cpu_", "cuda_", "xpu_", "mps_", "aten_")  # after aoti_torch_
_GETTERS = ("aoti_torch_cuda_guard_", "aoti_torch_cuda_caching_", "aoti_torch_cuda_stream_")
_LAUNCHES = ("cuLaunchKernel", "hipModuleLaunchKernel")


class Call:
    """One call under way: what is called and with what; `result` once it has returned.

    Of a launch `args` are the kernel's own, as far as they are known; `grid` and `block` say how
    it was launched.
    """

    __slots__ = ("args", "block", "grid", "kind", "name", "params", "result", "stream", "watch")

    def __init__(self, watch: Watch, kind: str, function: Prototype, args: tuple[Any, ...]) -> None:
        self.watch, self.kind, self.name = watch, kind, named(function.name, args)
        self.params, self.args = function.params, args
        self.result: Any = None
        self.grid: tuple[int, ...] | None = None
        self.block: tuple[int, ...] | None = None
        self.stream: int | None = None

    def tensors(self) -> Iterator[tuple[Param, Any]]:
        """Yield the tensors among the arguments, as they are now; those that a function returns are
        there once it has returned, one that is freed before."""
        if self.kind == "free" and self.result is not None:
            return
        for number, (param, value) in enumerate(zip(self.params, self.args)):
            if param.type == "AtenTensorHandle":
                yield param, handles.tensor_of(value)
            elif param.type == "AtenTensorHandle*" and value:
                if self.result is None and returned(param):
                    continue
                for one in range(self._count(number)):
                    yield param, handles.tensor_of(handles.read_handle(value, one))
            elif param.type.endswith("*") and self.kind in ("generated", "launch"):
                yield param, self.watch.pointers.tensor(value)

    def _count(self, number: int) -> int:
        """Return how many handles an array has: its length stands beside it."""
        if self.name.startswith(PROXIED):
            return int(self.args[number - 1])
        after = self.params[number + 1 : number + 2]
        counted = after and after[0].name in (f"{self.params[number].name}_len_", "num_indices")
        return int(self.args[number + 1]) if counted else 1


def named(function: str, args: tuple[Any, ...]) -> str:
    """Return the name of a call; one through the proxy executor is called by its number, too."""
    return f"{PROXIED}{args[1]}]" if function == PROXY else function


def returned(param: Param) -> bool:
    """Tell whether a parameter is where a function puts a tensor that it makes."""
    name = param.name
    return param.type == "AtenTensorHandle*" and (
        name.startswith("ret") or name in ("out", "new_handle")
    )


class Hook:
    """What is done around calls. What it raises is kept, never passed on, and ends the looking."""

    kinds: tuple[str, ...] = KINDS

    def before(self, call: Call) -> None:
        """Look at a call that is about to be made."""

    def after(self, call: Call) -> None:
        """Look at a call that has returned."""


class Watch:
    """The packages that are watched; `error` is what the hook has raised, `unseen` names kernels
    whose calls go by no slot, so that they cannot be seen."""

    def __init__(self, hook: Hook) -> None:
        self.hook, self.pointers = hook, handles.Pointers()
        self.looked_at: set[str] = set()  # paths of libraries
        self.unseen: list[str] = []
        self.error: BaseException | None = None
        self._launcher = prototypes.Launcher({}, {})
        self._functions: dict[int, str] = {}  # of the driver, by address
        self._modules: dict[int, str] = {}
        self._restored = contextlib.ExitStack()

    def add(self, library: Library) -> None:
        """Replace the slots of one more package."""
        source = source_in(Path(library.path)) or ""
        launcher = prototypes.launcher(source)
        self._launcher.params.update(launcher.params)
        self._launcher.binaries.update(launcher.binaries)
        wanted = (*self.hook.kinds, "pointer", "free", "load")
        callbacks, unseen = callbacks_of(library, source, wanted, self._around)
        self.unseen += unseen
        self._restored.callback(callbacks.clear)  # they live as long as a slot holds them
        self._restored.enter_context(slots.replaced(library, callbacks))

    def _around(self, kind: str, function: Prototype, original: Any) -> Callable[..., Any]:
        asked = kind in self.hook.kinds

        def call(*args: Any) -> Any:
            one = self._begin(kind, function, args)
            if asked:
                self.look(lambda: self.hook.before(one))
            result = original(*args)
            one.result = result if result is not None else 0
            self._note(kind, function.name, args)
            if asked:
                self.look(lambda: self.hook.after(one))
            return result

        return call

    def _begin(self, kind: str, function: Prototype, args: tuple[Any, ...]) -> Call:
        """Return a call; a freed tensor is known no longer."""
        call = Call(self, kind, function, args)
        if function.name == "aoti_torch_delete_tensor_object":
            self.pointers.freed(args[0])
        elif kind == "launch":
            call.name = self._functions.get(args[0], f"kernel {args[0]:#x}")
            call.grid, call.block, call.stream = args[1:4], args[4:7], args[8]
            call.params = self._launcher.params.get(call.name, ())
            call.args = tuple(_read(param, args[9], n) for n, param in enumerate(call.params))
        return call

    def look(self, look: Callable[[], None]) -> None:
        """Look, unless that has failed before."""
        if self.error is None:
            try:
                look()
            except BaseException as error:  # it must not reach C++
                self.error = error

    def _note(self, kind: str, name: str, args: tuple[Any, ...]) -> None:
        """Remember what a later call refers to."""
        if kind == "pointer":
            self.pointers.taken(args[0], handles.read_handle(args[1]))
        elif name.endswith("ModuleGetFunction"):
            own = ctypes.string_at(args[2]).decode("utf-8", "replace")
            known = self._modules.get(args[1]) or self._launcher.binaries.get(own, own)
            self._functions[handles.read_handle(args[0]) or 0] = known
        elif kind == "load":
            binary = _symbol(args[1]) if name.endswith("LoadData") else _file(args[1])
            if binary in self._launcher.binaries:
                kernel = self._launcher.binaries[binary]
                self._modules[handles.read_handle(args[0]) or 0] = kernel

    def close(self) -> None:
        self._restored.close()


def callbacks_of(
    library: Library,
    source: str,
    wanted: Collection[str],
    around: Callable[[str, Prototype, Any], Callable[..., Any]],
) -> tuple[slots.Callbacks, list[str]]:
    """Return what a package is to call in place of functions of the wanted kinds, made of the kind,
    the prototype and the function itself; and the kernels that go by no slot."""
    kernels = prototypes.kernels(source)
    known = {**prototypes.shims(), **prototypes.driver(), **kernels}

    def kind(name: str) -> str:
        return "generated" if name in kernels else kind_of(name) or ""

    found = slots.wrapped(
        library,
        [name for name in known if kind(name) in wanted],
        lambda name: known[name].function,
        lambda name, own: around(kind(name), known[name], own),
    )
    return found, [name for name in kernels if name not in found]


def kind_of(name: str) -> str | None:
    """Return the kind of a shim or of a driver's function; None for what only asks."""
    if name in _LAUNCHES:
        return "launch"
    if name in prototypes.driver():
        return "load"
    if (kind := _SHIMS.get(name)) is not None:
        return kind
    own = name.startswith("aoti_torch_") and not name.startswith(_GETTERS)
    return "extern" if own and name[len("aoti_torch_") :].startswith(_EXTERN) else None


def _read(param: Param, arguments: int, number: int) -> Any:
    """Return an argument of a launch: the driver is given the address of each."""
    at, kind = handles.read_handle(arguments, number), param.kind
    return kind.from_address(at).value if at and kind is not None else None


def _file(path: int) -> str:
    return ctypes.string_at(path).decode("utf-8", "replace").rpartition("/")[2]


class _Symbol(ctypes.Structure):
    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _symbol(address: int) -> str:
    found = _Symbol()
    ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found))
    return (found.name or b"").decode("utf-8", "replace")


@contextlib.contextmanager
def watched(hook: Hook) -> Iterator[Watch]:
    """Call a hook around what packages call.

    Raises:
        Unavailable: not on this system, or with this torch.
    """
    watch = Watch(hook)
    loader = handles.torch_library()

    def loading(_: str, original: Any) -> Callable[..., Any]:
        def load(path: int | None, mode: int) -> Any:
            result = original(path, mode)
            watch.look(lambda: _add_new(watch))
            return result

        return load

    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    callbacks = slots.wrapped(loader, ["dlopen"], lambda _: function, loading)
    if not callbacks:
        raise slots.Unavailable("this torch loads packages in a way that cannot be watched")
    try:
        _add_new(watch)
        with slots.replaced(loader, callbacks):
            yield watch
    finally:
        watch.close()


def _add_new(watch: Watch) -> None:
    for library in slots.packages(watch.looked_at):
        watch.add(library)
