"""torch, for what runs in a process of the probe's own: imported where it is first used, so that a
report tells of an import that fails."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Torch:
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("torch"), name)


torch: Any = _Torch()
