from __future__ import annotations

from pathlib import Path

import pytest
from package_archives import RECORDED, unpack


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the recorded packages once."""
    folder = tmp_path_factory.mktemp("packages")
    for path in RECORDED.glob("*.tar.xz"):
        unpack(path, folder)
    return folder
