"""Keep the lines of the functions that a model's `forward` calls in the stacks of its nodes: newer
releases of torch keep the frames of `forward` alone."""

from __future__ import annotations

from typing import Any

from .vocabulary import owner


def with_functions(original: Any) -> Any:
    """Wrap `TracerBase._filter_traceback_frames`, which takes and returns a StackSummary."""

    def kept(self: Any, stack: Any) -> Any:
        found = original(self, stack)
        if not found:
            return found
        last = found[-1]
        place = next((n for n, one in enumerate(stack, 1) if one is last), len(stack))
        own = [
            one
            for one in stack[place:]
            if owner(one.filename) == "user" or one.filename == last.filename
        ]
        return type(found).from_list([*found, *own])

    return kept
