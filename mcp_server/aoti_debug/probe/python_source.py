"""Parse Python source, one thread at a time.

CPython 3.11 before 3.11.8 keeps the depth of the tree that it builds once for all threads
(python/cpython#106905): two threads that parse at once can both fail with a `SystemError`.
"""

from __future__ import annotations

import ast
import os
import threading

_parsing = threading.RLock()


def parse(text: str) -> ast.Module:
    """Return the tree of a module; raises what `ast.parse` does."""
    with _parsing:
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """Return the tree of one expression; raises what `ast.parse` does."""
    with _parsing:
        return ast.parse(text, mode="eval").body


def _after_fork() -> None:
    global _parsing
    _parsing = threading.RLock()  # the thread that holds it may not exist in this process


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
