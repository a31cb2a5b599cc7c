"""A custom operator that writes to what its schema says it only reads."""

from __future__ import annotations

from aoti_debug.model import Fix


def undeclared(op: object, argument: str) -> tuple[str, Fix]:
    """Say that a custom operator writes to what it says it only reads, and what to do."""
    said = f"{op} writes to its argument {argument}, which its schema says it only reads"
    what = f"declare it, mutates_args=({argument!r},), or copy {argument} in the operator first"
    return said, Fix(
        what=what, why="compiled code reuses and reorders buffers by what the schema says"
    )
