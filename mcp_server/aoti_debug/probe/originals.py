"""Keep what the operators of a script computed before it was fixed: the original program computes
with these, whatever the fix has made of them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from . import compare, definitions, fakes, graph_run
from .lazy import replaced, torch

_NOTHING = ("register_fake", "impl_abstract", "register_autograd", "register_kernel")
_META = ("Meta", "Autograd", "AutogradCPU", "AutogradCUDA")


class Original(NamedTuple):
    file: str
    kernel: Callable[..., Any] | None


def taken(files: Sequence[str]) -> dict[str, Original]:
    """Return the operators that files define, none of which is registered."""
    found: dict[str, Original] = {}
    for file in files:
        kernels: dict[str, Any] = {}
        with contextlib.suppress(Exception), _apart(file), _noting(kernels, file):
            definitions.run(file)
        found.update({name: Original(file, kernel) for name, kernel in kernels.items()})
    return found


def register(originals: dict[str, Original]) -> None:
    """Register those that the fixed script has no more, by what defines no other."""
    known = {str(name).partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    missing = {name: one.file for name, one in originals.items() if name not in known}
    for file in dict.fromkeys(missing.values()):
        if all(name in missing for name, one in originals.items() if one.file == file):
            definitions.run(file)


def put(program: Any, originals: dict[str, Original]) -> None:
    """Have a program call the kernels as they were."""
    for node in program.graph.nodes:
        overload = isinstance(node.target, torch._ops.OpOverload)
        one = originals.get(node.target.name().partition(".")[0]) if overload else None
        if one is not None and one.kernel is not None:
            node.target = _as_it_was(one.kernel, node.target)
    program.graph_module.recompile()


def _as_it_was(kernel: Callable[..., Any], target: Any) -> Callable[..., Any]:
    """Return a function that computes as an operator did. Of a result that is not as the fake
    kernel promises, the operator as it is may give the rest."""

    def original(*args: Any, **kwargs: Any) -> Any:
        given = graph_run.copied((args, kwargs))
        was, promised = kernel(*args, **kwargs), fakes.promised_for(target, given)
        if promised is None or fakes.kept(promised, was):
            return was
        now = target(*given[0], **given[1])
        return now if fakes.kept(promised, now) and _extends(now, was) else was

    return original


def _extends(now: Any, was: Any) -> bool:
    """Tell whether results are the same where both have elements, and made up nowhere else."""
    leaves = torch.utils._pytree.tree_leaves
    for one, other in zip(leaves(now), leaves(was)):
        if not isinstance(one, torch.Tensor) or one.dim() != other.dim():
            return False
        both = tuple(slice(min(sizes)) for sizes in zip(one.shape, other.shape))
        beyond = torch.ones_like(one, dtype=torch.bool)
        beyond[both] = False
        rest = one[beyond]
        same = other[both].numel() and compare.agrees([one[both].to(other.dtype)], [other[both]])
        if not same or (rest.numel() and len(rest.unique()) < 2):
            return False
    return True


@contextlib.contextmanager
def _apart(file: str) -> Iterator[None]:
    """Import what is beside a file, and have forgotten it then: the fixed script has its own."""
    folder = str(Path(file).resolve().parent)
    before, path = set(sys.modules), list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                del sys.modules[name]


@contextlib.contextmanager
def _noting(found: dict[str, Any], file: str) -> Iterator[None]:
    """Note what the files beside one register, in place of registering it."""
    library, folder = import_module("torch.library"), str(Path(file).resolve().parent)
    for module, _ in definitions.ENDS:  # which register operators of torch's own
        with contextlib.suppress(ImportError):
            import_module(module)

    def note(name: str, kernel: Any, key: Any = "") -> Any:
        if key not in _META:
            found[name] = found.get(name) or kernel
        return kernel

    class Definition:
        def __init__(self, name: str, kernel: Any) -> None:
            note(name, kernel)
            self.name, self.kernel = name, kernel

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return self.kernel(*args, **kwargs)

        def register_kernel(self, device: Any, kernel: Any = None, /) -> Any:
            return kernel or (lambda kernel: note(self.name, kernel))

        def __getattr__(self, name: str) -> Any:
            return _nothing

    def custom_op(name: str, kernel: Any = None, /, **kwargs: Any) -> Any:
        return Definition(name, kernel) if kernel else lambda kernel: Definition(name, kernel)

    def define(name: str, *args: Any, **kwargs: Any) -> Any:
        note(name, None)
        return _nothing

    def impl(name: Any, key: Any, kernel: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(name, str):  # a library, the name, and the key
            name, key, kernel = f"{name.ns}::{key}", kernel, None
        return note(name, kernel, key) if kernel else lambda kernel: note(name, kernel, key)

    init = library.Library.__init__

    def init_in(self: Any, namespace: str, kind: str, *args: Any, **kwargs: Any) -> None:
        kind = "FRAGMENT" if kind == "DEF" else kind  # of which there may be several
        init(self, namespace, kind, *args, **kwargs)

    def define_in(self: Any, schema: str, *args: Any, **kwargs: Any) -> str:
        name = schema.partition("(")[0]
        note(f"{self.ns}::{name}", None)
        return name

    def impl_in(self: Any, name: Any, kernel: Any, key: Any = "", **kwargs: Any) -> None:
        name = name if isinstance(name, str) else name._schema.name
        note(f"{self.ns}::{name.rpartition('::')[2]}", kernel, key)

    stubs = [(library, name, _nothing) for name in _NOTHING]
    stubs += [(library, name, custom_op) for name in ("custom_op", "triton_op")]
    stubs += [(library, "define", define), (library, "impl", impl)]
    stubs += [(library.Library, "define", define_in), (library.Library, "impl", impl_in)]
    stubs += [(library.Library, "__init__", init_in)]
    with replaced(
        (owner, name, _for_own(stub, getattr(owner, name, None), folder))
        for owner, name, stub in stubs
    ):
        yield


def _for_own(stub: Any, value: Any, folder: str) -> Callable[..., Any]:
    """Return what is the one for the files of a folder, and the other for torch's own."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        own = sys._getframe(1).f_code.co_filename.startswith(folder)
        return (stub if own else value)(*args, **kwargs)

    return chosen


def _nothing(*args: Any, **kwargs: Any) -> Any:
    """Be a decorator, or what makes one."""
    return args[-1] if args and callable(args[-1]) else _nothing
