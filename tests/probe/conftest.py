"""Run real scripts with the probe; compile one small model for all tests."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aoti_debug.probe
import pytest
from programs import once, torch_python

PROBE = Path(aoti_debug.probe.__file__).parent
SITE = PROBE / "site"
IMPORTS = {"PYTHONPATH": f"{PROBE.parent}{os.pathsep}{PROBE.parents[1]}"}

MODEL = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table = torch.nn.Embedding(50, 8)
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, ids, weights, *, bias):
        return self.linear(self.table(ids) * weights.unsqueeze(-1)).relu() + bias


def export():
    batch = torch.export.Dim("batch", min=2, max=64)
    return torch.export.export(
        Model(),
        (torch.zeros(4, 3, dtype=torch.int64), torch.ones(4, 3)),
        {"bias": torch.ones(4)},
        dynamic_shapes={"ids": {0: batch}, "weights": {0: batch}, "bias": None},
    )
"""

COMPILE = """
import torch
from model import export

torch._inductor.aoti_compile_and_package(export(), package_path="model.pt2")
model = torch._inductor.aoti_load_package("model.pt2")
model(torch.zeros(4, 3, dtype=torch.int64), torch.ones(4, 3), bias=torch.ones(4))
"""

LOAD = """
import torch
from torch._inductor import aoti_load_package

model = aoti_load_package("model.pt2")
ids = torch.arange(12).reshape(4, 3)
weights = torch.ones(4, 3)
bias = torch.zeros(4)


def call():
    return model(ids, weights, bias=bias)
"""


@dataclass
class Ran:
    code: int
    stdout: str
    stderr: str
    directory: Path
    events: list[dict[str, Any]]

    def of(self, event: str, **wanted: Any) -> list[dict[str, Any]]:
        """Return the events of a kind whose fields are as wanted."""
        return [
            e
            for e in self.events
            if e["event"] == event and all(e.get(k) == v for k, v in wanted.items())
        ]

    def begun(self, phase: str = "run") -> list[dict[str, Any]]:
        return self.of("begin", phase=phase)

    def end_of(self, begin: dict[str, Any]) -> dict[str, Any] | None:
        ends = self.of("end", id=begin["id"], pid=begin["pid"])
        return ends[0] if ends else None


def run_python(
    directory: Path,
    *argv: str,
    probe: bool = True,
    env: dict[str, str] | None = None,
    python: str | None = None,
    code: int | None = 0,
) -> Ran:
    """Run the interpreter in a directory, with or without the probe; it has to end with `code`."""
    log = directory / "events.jsonl"
    log.unlink(missing_ok=True)
    given = env or {}
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | given
    if probe:
        paths = [str(SITE), *filter(None, [given.get("PYTHONPATH")])]
        variables |= {
            "AOTI_DEBUG_EVENTS": str(log),
            "AOTI_DEBUG_CAPTURE": str(directory / "capture"),
            **given,
            "PYTHONPATH": os.pathsep.join(paths),
        }
    done = subprocess.run(
        [python or torch_python(), *argv],
        cwd=directory,
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert code in (None, done.returncode), done.stderr
    return Ran(done.returncode, done.stdout, done.stderr, directory, events_in(directory))


def printed(directory: Path, source: str, python: str | None = None, **env: str) -> str:
    """Return what a program prints that imports modules of the probe, or of aoti_debug."""
    (directory / "program.py").write_text(source, "utf-8")
    env |= IMPORTS
    return run_python(directory, "program.py", probe=False, env=env, python=python).stdout


def events_in(directory: Path) -> list[dict[str, Any]]:
    log = directory / "events.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@dataclass
class Compiled:
    directory: Path
    ran: Ran
    package: Path

    @property
    def healthy(self) -> dict[str, Path]:
        """Package, inputs and program of the call that the compiling script made."""
        kept = {"package": "package-1.pt2", "inputs": "call-first.pt", "exported": "exported-1.pt2"}
        return {what: self.directory / "capture" / name for what, name in kept.items()}


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """A healthy package with a dynamic batch of 2 to 64, compiled under the probe."""

    def make(directory: Path) -> None:
        (directory / "model.py").write_text(MODEL)
        (directory / "compile.py").write_text(COMPILE)
        run_python(directory, "compile.py")

    directory = once("compiled", tmp_path_factory, make)
    ran = Ran(0, "", "", directory, events_in(directory))
    return Compiled(directory, ran, directory / "model.pt2")


@pytest.fixture(scope="session")
def python(warm_python: str) -> str:
    """What a start of the interpreter does is tested with torch_python()."""
    return warm_python


RunScript = Callable[..., Ran]


@pytest.fixture
def run_script(tmp_path: Path, compiled: Compiled, python: str) -> RunScript:
    """Run a script next to model.pt2; `load=True` puts loading and inputs before it."""

    def run(source: str, *, load: bool = True, **options: Any) -> Ran:
        if not (tmp_path / "model.pt2").exists():
            (tmp_path / "model.pt2").hardlink_to(compiled.package)
        (tmp_path / "script.py").write_text((LOAD if load else "") + textwrap.dedent(source))
        return run_python(tmp_path, "script.py", **{"python": python, **options})

    return run


@dataclass
class Replayed:
    ran: Ran
    report: dict[str, Any]


@pytest.fixture
def run_step(tmp_path: Path, python: str) -> Callable[..., Replayed]:
    """Run one of the probe's scripts and read its report."""

    def run(name: str, *argv: object) -> Replayed:
        report = tmp_path / f"{name}.json"
        report.unlink(missing_ok=True)
        script = str(PROBE / "script.py")
        words = (script, name, *map(str, argv), "--report", str(report))
        ran = run_python(tmp_path, *words, probe=False, python=python, code=None)
        assert report.stat().st_mode & 0o077 == 0
        return Replayed(ran, json.loads(report.read_text()))

    return run


@pytest.fixture(scope="module")
def check(python: str) -> Callable[..., dict[str, Any]]:
    """Run the checks of a call in one process; return what each reported, status and stderr."""

    def run(directory: Path, paths: dict[str, Path], *more: object) -> dict[str, Any]:
        report = directory / "report.json"
        named = [str(word) for name, path in paths.items() for word in (f"--{name}", path)]
        script = str(PROBE / "script.py")
        argv = [script, "checks", *named, "--report", str(report), *map(str, more)]
        ran = run_python(directory, *argv, probe=False, python=python, code=None)
        assert report.exists(), ran.stderr
        found: dict[str, Any] = json.loads(report.read_text())["steps"]
        return {**found, "stderr": ran.stderr, "code": ran.code}

    return run


@pytest.fixture(scope="module")
def run_file(python: str) -> Callable[..., Ran]:
    """Run a Python file without the probe."""
    return lambda directory, *argv: run_python(directory, *argv, probe=False, python=python)
