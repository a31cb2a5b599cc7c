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
from programs import once

PLACES = (
    "import torch; from pathlib import Path; "
    "print(Path(torch.__file__).parent, int(torch._C._GLIBCXX_USE_CXX11_ABI), sep='\\n')"
)
DEBUGGERS = ("gdb", "cuda-gdb")


class Answer:
    """What `aoti-debug triage --json --verbose` said."""

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
            [sys.executable, "-m", "aoti_debug", "triage", "--json", "--verbose", *map(str, words)],
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
    """Write the programs of SOURCES into one directory."""

    def make(folder: Path) -> None:
        for name, text in SOURCES.items():
            (folder / name).write_text(text, "utf-8")

    return once("native", tmp_path_factory, make)


# Programs around a package whose operator fails, and one without Python: name -> text.
SOURCES = {
    "act.py": '''\
"""A custom operator whose kernel does what MODE says: return, raise, crash or never return."""

import ctypes
import os

import torch

MODE = os.environ.get("ACT", "return")
libc = ctypes.CDLL(None)


@torch.library.custom_op("aoti_tests::act", mutates_args=())
def act(x: torch.Tensor) -> torch.Tensor:
    if MODE == "hang":
        libc.pause()
    elif MODE == "crash":
        libc.strlen(ctypes.c_void_p(8))
    elif MODE == "divide":
        libc.div(1, 0)
    elif MODE == "abort":
        libc.abort()
    elif MODE == "raise":
        raise ValueError("this row cannot be served")
    return x.clone()


@act.register_fake
def _(x):
    return torch.empty_like(x)
''',
    "act.cpp": """\
// The operator of act.py as a library of its own; it takes any number of rows but three.
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor act(const at::Tensor& x) {
  TORCH_CHECK(x.size(0) != 3, "three rows are too few");
  return x.clone();
}

at::Tensor act_meta(const at::Tensor& x) { return at::empty_like(x); }

TORCH_LIBRARY(aoti_tests, library) { library.def("act(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(aoti_tests, CPU, library) { library.impl("act", &act); }
TORCH_LIBRARY_IMPL(aoti_tests, Meta, library) { library.impl("act", &act_meta); }
""",
    "model.py": '''\
"""Compile a model with a custom operator: model.py PACKAGE."""

import sys

import act  # noqa: F401
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.aoti_tests.act(x.sin()) + 1


if __name__ == "__main__":
    batch = {"x": {0: torch.export.Dim("batch", min=2, max=200_000)}}
    program = torch.export.export(Model(), (torch.randn(4, 8),), dynamic_shapes=batch)
    torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
''',
    "call.py": '''\
"""Call the package with the operator of a module: call.py PACKAGE ROWS [MODE]."""

import sys

import act
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
if len(sys.argv) > 3:
    act.MODE = sys.argv[3]  # known to this process alone
print("output", model(torch.ones(int(sys.argv[2]), 8)).shape)
''',
    "served.py": '''\
"""Serve calls until the third one fails: served.py PACKAGE MODE [FILE: fail only without it]."""

import sys
from pathlib import Path

import act
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
MANY = 150_000  # rows: more bytes than are kept of every call as it begins
once = Path(sys.argv[3]) if len(sys.argv) > 3 else None
for rows in (4, 5, MANY):
    if rows == MANY and not (once and once.exists()):
        act.MODE = sys.argv[2]  # known to this process alone
        if once:
            once.touch()
    print("output", model(torch.ones(rows, 8)).shape, flush=True)
''',
    "own_op.py": '''\
"""Call the package with an operator of this script itself: own_op.py PACKAGE ROWS."""

import sys

import torch


@torch.library.custom_op("aoti_tests::act", mutates_args=())
def act(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] == 3:
        raise ValueError("three rows are too few")
    return x.clone()


@act.register_fake
def _(x):
    return torch.empty_like(x)


if __name__ == "__main__":
    model = torch._inductor.aoti_load_package(sys.argv[1])
    print("output", model(torch.ones(int(sys.argv[2]), 8)).shape)
''',
    "generated_op.py": '''\
"""Call the package with an operator that is in no file: generated_op.py PACKAGE ROWS."""

import sys
from pathlib import Path

import torch

if __name__ == "__main__":
    exec((Path(__file__).parent / "act.py").read_text())
    model = torch._inductor.aoti_load_package(sys.argv[1])
    print("output", model(torch.ones(int(sys.argv[2]), 8)).shape)
''',
    "library_op.py": '''\
"""Call the package with an operator of a C++ library: library_op.py PACKAGE ROWS LIBRARY."""

import sys

import torch

if __name__ == "__main__":
    torch.ops.load_library(sys.argv[3])
    model = torch._inductor.aoti_load_package(sys.argv[1])
    print("output", model(torch.ones(int(sys.argv[2]), 8)).shape)
''',
    "waits.py": '''\
"""Start a program and wait for ever."""

import signal
import subprocess


def wait_for_ever():
    while True:
        signal.pause()


subprocess.Popen(["sleep", "1000"])
wait_for_ever()
''',
    "program.cpp": """\
// Load a package and call it once: program PACKAGE ROWS COLUMNS
// PACKAGE may be `-`: then it is the value of SERVED. With HANG set it waits for ever at the end.
#include <ATen/ops/ones.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: program PACKAGE ROWS COLUMNS" << std::endl;
    return 2;
  }
  const std::string given = argv[1];
  torch::inductor::AOTIModelPackageLoader model(given == "-" ? std::getenv("SERVED") : given);
  std::cout << "loaded" << std::endl;
  auto outputs = model.run({at::ones({std::stol(argv[2]), std::stol(argv[3])})});
  std::cout << "output " << outputs.at(0).sizes() << std::endl;
  while (std::getenv("HANG") != nullptr) {
    pause();
  }
  return 0;
}
""",
}
