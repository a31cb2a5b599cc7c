"""Commands that take a target, whose own options are easily taken for theirs."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

_HINT = "The target's own options go after --, as in: SCRIPT -- ARGS, or: -m MODULE -- ARGS."


class TargetCommand(TyperCommand):
    """Say of an unknown option where the target's options go."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # typer brings its own copy of click, or takes the installed one, by its version
            if type(error).__name__ == "NoSuchOption":
                error.message = f"{error.message}. {_HINT}"  # type: ignore[attr-defined]
            raise
