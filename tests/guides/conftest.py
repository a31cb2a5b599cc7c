from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from guides.documents import GUIDES, blocks, runnable
from interpreter import once, torch_python

RUNNER = Path(__file__).with_name("run_blocks.py")


@pytest.fixture(scope="session")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Run every block once, those that compile first: the others use the package they leave."""
    results = once("guides", tmp_path_factory, run_all) / "done.json"
    found = json.loads(results.read_text("utf-8"))
    return lambda name: str(found.get(name, "was not reached"))


def run_all(directory: Path) -> None:
    chosen = [b for path in GUIDES for b in blocks(path) if runnable(b)]
    chosen.sort(key=lambda b: "compile" not in b.words)
    todo, done = directory / "todo.json", directory / "done.json"
    todo.write_text(json.dumps([{"name": b.name, "source": b.source} for b in chosen]), "utf-8")
    environment = {**os.environ, "INDUCTOR_PROVENANCE": "1", "CUDA_VISIBLE_DEVICES": ""}
    with (directory / "log").open("wb") as log:
        subprocess.run(
            [torch_python(), str(RUNNER), str(todo), str(done)],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=900,
            check=False,
        )
