"""Faults planted in models, found in one run of the exported program; their twins are healthy."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.explain.nodes import Found, read_report
from interpreter import torch_python

TARGET = Path(__file__).with_name("walk_cases.py")
CASES = (
    "embedding", "gather", "advanced", "argmax", "cumsum", "bucketize", "empty", "bags",
    "log_zero", "zero_by_zero", "exp", "unit", "entropy", "pool", "batch_norm", "masked_row",
    "undeclared_write",
)  # fmt: skip


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("walks")
    argv = [torch_python(), str(TARGET), str(out), *CASES]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def found_in(folder: Path) -> tuple[Found | None, dict[str, Any]]:
    expected = json.loads((folder / "expected.json").read_text())
    report = json.loads((folder / "report.json").read_text())
    assert report["state"] == "done"
    return read_report(report, {name: n for n, name in enumerate(expected["inputs"])}), expected


@pytest.mark.parametrize("name", CASES)
def test_a_planted_fault_is_named_with_its_operator_line_and_values(walked: Path, name: str):
    found, expected = found_in(walked / f"{name}-fault")
    assert found is not None
    assert expected["op"] in found.op
    assert all(words in found.summary for words in expected["says"]), found.summary
    assert expected["line"] in [line.text for line in found.source]
    assert found.fixes


@pytest.mark.parametrize("name", CASES)
def test_its_healthy_twin_is_not_blamed(walked: Path, name: str):
    found, _ = found_in(walked / f"{name}-healthy")
    assert found is None


def test_values_along_the_model_lead_to_the_first_that_is_not_finite(walked: Path):
    found, _ = found_in(walked / "masked_row-fault")
    assert found is not None
    marked = [row for row in found.values if row.mark]
    assert [row.node for row in marked] == [found.node]
    before = found.values[: found.values.index(marked[0])]
    assert before and all(row.nan == 0 for row in before)
    numbers = [row.number or 0 for row in found.values]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1 and len(numbers) <= 60
    around = numbers.index(marked[0].number or 0)
    assert numbers[around - 5 : around + 5] == list(range(numbers[around - 5], numbers[around] + 5))
