from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from aoti_debug.commands.app import run
from interpreter import torch_python


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(place))
    monkeypatch.setenv("AOTI_DEBUG_PYTHON", torch_python())
    monkeypatch.setenv("COLUMNS", "100")
    return place


@pytest.fixture
def aoti(home: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run a command of the command line."""

    def call(*words: object) -> Said:
        status = run([str(word) for word in words])
        out, err = capfd.readouterr()
        return Said(status, out, err)

    return call


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "target.py"
    path.write_text(
        "import os, sys\n"
        "print('args', *sys.argv[1:], 'colour', os.environ.get('COLOUR'), 'in', os.getcwd())\n"
    )
    return path
