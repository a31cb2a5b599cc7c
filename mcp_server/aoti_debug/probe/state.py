"""The state of an exported module: the tensors of its own that its calls write to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

from . import describe
from .lazy import torch

_names: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


class State:
    """What a module's calls write to; nothing for one that keeps no state."""

    def __init__(self, module: Any) -> None:
        if module not in _names:
            _names[module] = describe.own_state(module)
        self._own = [attrgetter(name)(module) for name in _names[module]]

    def __bool__(self) -> bool:
        return bool(self._own)

    def now(self) -> list[Any]:
        """Return a copy of each tensor."""
        return [one.detach().clone() for one in self._own]

    def put(self, values: list[Any]) -> None:
        with torch.no_grad():
            for one, value in zip(self._own, values):
                one.copy_(value)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Have the state be afterwards what it was before."""
        before = self.now()
        try:
            yield
        finally:
            self.put(before)
