"""Hundreds of damaged packages: no traceback, no write, bounded time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MEMORY_MIB = 300
TESTS = Path(__file__).parents[1]


def test_no_mutation_raises_writes_or_grows(packages: Path, tmp_path: Path) -> None:
    work, cwd, result = tmp_path / "work", tmp_path / "cwd", tmp_path / "result.json"
    work.mkdir()
    cwd.mkdir()
    source = packages / "torch-2.13" / "dyn.pt2"
    done = subprocess.run(
        [sys.executable, str(TESTS / "package" / "mutate.py"), str(source), str(work), str(result)],
        cwd=cwd,
        env={
            **os.environ,
            "PYTHONPATH": str(TESTS),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path / "hypothesis"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    facts = json.loads(result.read_text())
    assert facts["count"] >= 240
    assert facts["writes"] == []
    assert facts["peak_mib"] < MEMORY_MIB
    assert list(cwd.iterdir()) == []
    assert facts["found"] > facts["count"] // 2
