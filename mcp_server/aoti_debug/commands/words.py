"""What the command line says about the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_debug.commands.options import variables
from aoti_debug.errors import WrongUse

if TYPE_CHECKING:
    from aoti_debug.api import Request


@dataclass(frozen=True, slots=True)
class Words:
    words: tuple[str, ...]
    module: str | None
    is_command: bool
    python: str | None
    env: tuple[str, ...]
    cwd: str | None
    timeout_s: float
    capture: bool
    imports: tuple[str, ...]
    kernels: tuple[str, ...] = ()
    watch_for_s: float | None = None
    search_s: float | None = None

    def request(self) -> Request:
        """Resolve the target.

        Raises:
            WrongUse, TargetNotFound, NoInterpreter
        """
        from aoti_debug import api

        if self.module and self.is_command:
            raise WrongUse("--module and --command exclude each other")
        rest = self.words if self.module or self.is_command else self.words[1:]
        return api.request(
            script=self.words[0] if self.words and rest is not self.words else None,
            module=self.module,
            command=self.words if self.is_command else None,
            args=() if self.is_command else rest,
            python=self.python,
            env=variables(list(self.env)),
            cwd=self.cwd,
            timeout_s=self.timeout_s,
            capture=self.capture,
            imports=self.imports,
            kernels=self.kernels,
            watch_for_s=self.watch_for_s,
            search_s=self.search_s,
        )
