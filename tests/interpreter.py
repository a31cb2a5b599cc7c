"""The interpreter that has torch, which need not be the one of the tests; what is made once for
all workers of a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock


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


def once(
    name: str,
    factory: pytest.TempPathFactory,
    make: Callable[[Path], object],
    root: Path | None = None,
) -> Path:
    """Return a directory that `make` has filled: the first worker that asks fills it, the others
    wait. It stands in `root` if that is given, where it outlives the session."""
    if root is None:
        root = factory.getbasetemp()
        if os.environ.get("PYTEST_XDIST_WORKER"):
            root = root.parent  # each worker has a directory of its own in that of the session
    root.mkdir(parents=True, exist_ok=True)
    directory, complete = root / name, root / f"{name}.complete"
    with FileLock(root / f"{name}.lock"):
        if not complete.exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            make(directory)
            complete.touch()
    return directory
