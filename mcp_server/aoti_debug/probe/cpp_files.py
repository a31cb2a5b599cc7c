"""Say of each C++ file that a compile builds how long that took, and with which flags."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import events
from .watch import Point, phases

_SOURCES = (".cpp", ".o", ".S", ".cu")
_FLAGS = ("-O", "-g", "-fsanitize", "-march", "-mavx")
_WORDS = 2000


def timed(original: Callable[..., Any], point: Point) -> Callable[..., Any]:
    """Wrap the function that runs a compiler's command line."""

    def run_compile_cmd(cmd_line: Any, *args: Any, **kwargs: Any) -> Any:
        began = time.time()
        try:
            return original(cmd_line, *args, **kwargs)
        finally:
            if "lower" in phases():
                with events.noted("a C++ file"):
                    events.emit("cpp_file", began=began, **described(cmd_line))

    return run_compile_cmd


def described(command: Any) -> dict[str, Any]:
    """Return the sources of a command and the flags that its time depends on."""
    words = command if isinstance(command, list) else shlex.split(str(command))
    words = [str(word) for word in words[:_WORDS]]
    target = words[words.index("-o") + 1] if "-o" in words[:-1] else ""
    sources = [Path(w).name for w in words[1:] if w.endswith(_SOURCES) and w != target]
    flags = [word for word in words if word.startswith(_FLAGS)]
    return {"sources": sources[:8], "flags": flags[:8], "links": "-c" not in words}
