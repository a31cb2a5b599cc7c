"""Start watching: say which process this is, then wait for modules to be imported, by whoever and
whenever, and act on them just then."""

from __future__ import annotations

import os
import sys

from . import events

_ARGUMENT_LIMIT = 100


def start() -> None:
    """Write the process event and install the import"""
    events.emit(
        "process",
        argv=[events.bounded(a, 500) for a in _arguments()[:_ARGUMENT_LIMIT]],
        executable=sys.executable,
        python=".".join(map(str, sys.version_info[:3])),
        cwd=_directory(),
        ppid=os.getppid(),
    )
    install()


def _arguments() -> list[str]:
    full = getattr(sys, "orig_argv", None) or getattr(sys, "argv", None)
    return [str(a) for a in full] if full else []


def _directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


TYPE_CHECKING = False
if TYPE_CHECKING:  # every process of the user's pays for what is imported here
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

# Modules that hold something to watch; what is done with each stands in hooks.py.
WATCHED = frozenset(
    {
        "torch",
        "torch.export",
        "torch.export.pt2_archive._package",
        "torch._export",
        "torch._inductor",
        "torch._inductor.package.package",
        "torch._inductor.codecache",
        "torch._inductor.codegen.wrapper",
        "torch._inductor.cpp_builder",
        "torch._inductor.runtime.triton_heuristics",
        "torch.fx.experimental.symbolic_shapes",
        "torch.fx.proxy",
        "safetensors.torch",
    }
)


def install() -> None:
    """Act on each watched module: now if it is there already, else when it has been imported."""
    sys.meta_path.insert(0, _Finder())
    for name in sorted(WATCHED & set(sys.modules)):
        _act(sys.modules[name])


class _Finder:
    """Let the other finders find a watched module, and have its loader tell us when it is done.

    The loader stays what it is: only this one instance's `exec_module` is replaced, once.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in WATCHED:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                _tell_when_done(spec)
                return spec
        return None


def _tell_when_done(spec: ModuleSpec) -> None:
    loader = spec.loader
    execute: Callable[[ModuleType], None] | None = getattr(loader, "exec_module", None)
    if loader is None or execute is None:
        return

    def exec_module(module: ModuleType) -> None:
        try:  # noqa: SIM105 - contextlib would be one more import
            del loader.exec_module
        except AttributeError:
            pass
        try:
            execute(module)
        except BaseException as error:
            if spec.name == "torch":
                events.note("import torch", error)
            raise
        _act(module)

    try:
        loader.exec_module = exec_module  # type: ignore[method-assign]
    except AttributeError as error:
        events.note(f"watch {spec.name}", error)


def _act(module: ModuleType) -> None:
    with events.noted(f"watch {module.__name__}"):
        from . import hooks

        hooks.attach(module)
