from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from package_archives import RECORDED


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the recorded packages once."""
    folder = tmp_path_factory.mktemp("packages")
    for path in RECORDED.glob("*.tar.xz"):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    return folder
