"""The interpreter that has torch, which need not be the one of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache


def torch_python() -> str:
    """Return $AOTI_DEBUG_PYTHON, else the interpreter of the tests."""
    return os.environ.get("AOTI_DEBUG_PYTHON") or sys.executable


def torch_version() -> str:
    """Return the version of the torch that the tests run."""
    return asked("import importlib.metadata as m; print(m.version('torch'))")


def torch_folder() -> str:
    """Return where that torch is installed."""
    return asked(
        "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    )


@cache
def asked(program: str) -> str:
    """Return what a one-line program prints under the interpreter that has torch."""
    words = [torch_python(), "-c", program]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
