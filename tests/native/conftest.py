"""C++ built against the installed libtorch, a package with a custom operator, triage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from interpreter import once
from native.sources import SOURCES

PLACES = (
    "import torch; from pathlib import Path; "
    "print(Path(torch.__file__).parent, int(torch._C._GLIBCXX_USE_CXX11_ABI), sep='\\n')"
)
DEBUGGERS = ("gdb", "cuda-gdb")


class Answer:
    """What `aoti-debug triage --json` said."""

    def __init__(self, document: dict[str, Any], home: Path) -> None:
        self.run: str = document["run"]
        self.diagnosis: dict[str, Any] = document["diagnosis"]
        self.steps: dict[str, dict[str, Any]] = {s["name"]: s for s in document["steps"]}
        self.directory = home / "runs" / self.run

    @property
    def category(self) -> str:
        return self.diagnosis["category"]

    @property
    def quotes(self) -> str:
        return "\n".join(found["quote"] for found in self.diagnosis["evidence"])

    def left(self) -> list[psutil.Process]:
        """Return the processes of the run that still live."""
        return [process for process in psutil.process_iter() if self.run == run_of(process)]


def run_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("AOTI_DEBUG_RUN")
    except (psutil.Error, OSError):
        return None


Triage = Callable[..., Answer]


@pytest.fixture
def triage(tmp_path: Path) -> Triage:
    def run(*words: object, **environment: str) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "aoti_debug", "triage", "--json", *map(str, words)],
            env={**os.environ, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.stdout, done.stderr
        return Answer(json.loads(done.stdout), tmp_path / "home")

    return run


def built(python: str, source: Path, target: Path, *options: str) -> Path:
    """Build a C++ source against the libtorch of `python`."""
    asked = subprocess.run([python, "-c", PLACES], capture_output=True, text=True, check=True)
    torch, abi = asked.stdout.split("\n")[:2]
    words = [
        os.environ.get("CXX", "g++"),
        "-std=c++20",
        "-O0",
        "-g1",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        *options,
        f"-I{torch}/include",
        f"-I{torch}/include/torch/csrc/api/include",
        str(source),
        "-o",
        str(target),
        f"-L{torch}/lib",
        f"-Wl,-rpath,{torch}/lib",
        "-Wl,--no-as-needed",
        "-ltorch",
        "-ltorch_cpu",
        "-lc10",
    ]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, targets: Path, warm_python: str) -> Path:
    """Build program.cpp; it has no Python in it."""

    def make(folder: Path) -> None:
        built(warm_python, targets / "program.cpp", folder / "program")

    return once("program", tmp_path_factory, make) / "program"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, targets: Path, warm_python: str) -> Path:
    """Build the library of act.cpp."""

    def make(folder: Path) -> None:
        built(warm_python, targets / "act.cpp", folder / "libact.so", "-shared", "-fPIC")

    return once("library", tmp_path_factory, make) / "libact.so"


@pytest.fixture(scope="session")
def acting(tmp_path_factory: pytest.TempPathFactory, targets: Path, warm_python: str) -> Path:
    """Compile the model with the custom operator of act.py."""

    def make(folder: Path) -> None:
        words = [warm_python, str(targets / "model.py"), str(folder / "acting.pt2")]
        done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ))
        assert done.returncode == 0, done.stderr

    return once("acting", tmp_path_factory, make) / "acting.pt2"


@pytest.fixture(scope="session")
def without_debugger(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a PATH on which all is but the debuggers."""
    links = tmp_path_factory.mktemp("bin")
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        for tool in folder.iterdir() if folder.is_dir() else ():
            if tool.name not in DEBUGGERS and not (links / tool.name).is_symlink():
                (links / tool.name).symlink_to(tool)
    return str(links)


@pytest.fixture(scope="session")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the programs of sources.py into one directory."""

    def make(folder: Path) -> None:
        for name, text in SOURCES.items():
            (folder / name).write_text(text, "utf-8")

    return once("native", tmp_path_factory, make)
