"""Stand-ins for containers that a library registers with torch's pytree: a package names their
type, and importing what a package names is not for us."""

from __future__ import annotations

from typing import Any

from .lazy import torch


def stand_in() -> None:
    """Have containers of unknown types in the specifications of calls taken as plain ones."""
    pytree: Any = torch.utils._pytree
    known = getattr(pytree, "SERIALIZED_TYPE_TO_PYTHON_TYPE", None)
    if known is not None and not isinstance(known, _Types):
        pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE = _Types(known)


class _Types(dict[str, Any]):
    """The types by their names; one that is asked for and not known gets a stand-in."""

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name) and isinstance(name, str):
            _register(name)
        return super().__contains__(name)


def _register(name: str) -> None:
    class Container:
        def __init__(self, values: list[Any], context: Any) -> None:
            self.values, self.context = values, context

    torch.utils._pytree.register_pytree_node(
        Container,
        lambda one: (one.values, one.context),
        lambda values, context: Container([*values], context),
        serialized_type_name=name,
        to_dumpable_context=lambda context: context,
        from_dumpable_context=lambda context: context,
    )
