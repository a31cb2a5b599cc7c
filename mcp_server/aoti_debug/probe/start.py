"""Start watching: say which process this is, then wait for torch to be imported."""

from __future__ import annotations

import os
import sys

from . import events, hook

_ARGUMENT_LIMIT = 100


def start() -> None:
    """Write the process event and install the import hook."""
    events.emit(
        "process",
        argv=[events.bounded(a, 500) for a in _arguments()[:_ARGUMENT_LIMIT]],
        executable=sys.executable,
        python=".".join(map(str, sys.version_info[:3])),
        cwd=_directory(),
        ppid=os.getppid(),
    )
    hook.install()


def _arguments() -> list[str]:
    full = getattr(sys, "orig_argv", None) or getattr(sys, "argv", None)
    return [str(a) for a in full] if full else []


def _directory() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - pathlib is slow to import
    except OSError:
        return None
