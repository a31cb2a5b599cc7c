"""The interpreter that has torch, which need not be the one of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache


def torch_python() -> str:
    """Return $AOTI_DEBUG_PYTHON, else the interpreter of the tests."""
    return os.environ.get("AOTI_DEBUG_PYTHON") or sys.executable


@cache
def torch_version() -> str:
    """Return the version of the torch that the tests run."""
    ask = "import importlib.metadata as m; print(m.version('torch'))"
    words = [torch_python(), "-c", ask]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
