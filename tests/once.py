"""Make what is expensive once for all workers of a test session."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


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
