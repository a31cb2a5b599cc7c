"""The recorded packages that most tests here begin with."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def newest(packages: Path) -> Path:
    return packages / "torch-2.13"


@pytest.fixture(scope="session")
def dyn(newest: Path) -> Path:
    return newest / "dyn.pt2"
