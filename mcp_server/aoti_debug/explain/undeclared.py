"""A custom operator that writes to what its schema says it only reads."""

from __future__ import annotations

from aoti_debug.model import Fix


def undeclared(op: object, argument: str) -> tuple[str, Fix]:
    """Say that a custom operator writes to what it says it only reads, and what to do."""
    said = f"{op} writes to its argument {argument}; its schema declares no write"
    what = f"declare mutates_args=({argument!r},), or copy {argument} first in the operator"
    return said, Fix(
        what=what, why="the compiler relies on the schema when it reuses and reorders buffers"
    )
