"""torch, imported where it is first used, so that a report tells of an import that fails; and its
functions replaced for a while."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any


class _Torch:
    def __getattr__(self, name: str) -> Any:
        found = getattr(sys.modules.get("torch") or import_module("torch"), name)
        # Functions may be replaced; classes, modules, dtypes and layouts are not.
        if isinstance(found, (type, ModuleType)) or type(found).__module__ == "torch":
            self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module("torch"), name, value)


torch: Any = _Torch()


def below_autograd() -> Any:
    """Return a context in which nothing is recorded for a gradient; quicker than `no_grad`."""
    recorded = torch.is_grad_enabled()
    return torch._C._AutoDispatchBelowAutograd() if recorded else contextlib.nullcontext()


@contextlib.contextmanager
def replaced(others: Iterable[tuple[Any, str, Any]]) -> Iterator[None]:
    """Give objects other attributes, each (owner, name, value), and then back their own; names that
    an owner lacks are left out."""
    present = [one for one in others if hasattr(one[0], one[1])]
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in present]
    try:
        for one in present:
            setattr(*one)
        yield
    finally:
        for one in kept:
            setattr(*one)
