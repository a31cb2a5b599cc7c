"""The interpreter that has torch, which need not be the one of the tests."""

from __future__ import annotations

import os
import sys


def torch_python() -> str:
    """Return $AOTI_DEBUG_PYTHON, else the interpreter of the tests."""
    return os.environ.get("AOTI_DEBUG_PYTHON") or sys.executable
