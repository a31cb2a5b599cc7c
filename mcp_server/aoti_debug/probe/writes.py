"""See whether a custom operator writes to an argument that its schema says it only reads."""

from __future__ import annotations

from typing import Any

from .fakes import is_custom

_ELEMENTS = 16 * 1024 * 1024


def keep(torch: Any, node: Any, args: Any) -> list[tuple[int, Any]]:
    """Return copies of the tensors that a custom operator must not write to."""
    if node.op != "call_function" or not is_custom(node.target):
        return []
    schema = getattr(node.target, "_schema", None)
    declared = list(schema.arguments) if schema is not None else []
    return [
        (place, one.detach().clone())
        for place, one in enumerate(args)
        if isinstance(one, torch.Tensor)
        and one.numel() <= _ELEMENTS
        and place < len(declared)
        and not (declared[place].alias_info and declared[place].alias_info.is_write)
    ]


def written(torch: Any, node: Any, args: Any, kept: list[tuple[int, Any]]) -> dict[str, Any] | None:
    """Return which of the kept arguments is no longer what it was."""
    for place, before in kept:
        now = args[place].detach()
        same = now.shape == before.shape and bool(
            ((now == before) | ((now != now) & (before != before))).all()
        )
        if not same:
            name = node.target._schema.arguments[place].name
            at = (now != before).nonzero()[0].tolist() if now.shape == before.shape else []
            return {"argument": name, "from": getattr(node.args[place], "name", ""), "at": at}
    return None
