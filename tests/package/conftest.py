"""The recorded package that most tests here begin with."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def dyn(packages: Path) -> Path:
    return packages / "torch-2.13" / "dyn.pt2"
