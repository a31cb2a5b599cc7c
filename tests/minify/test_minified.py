"""A real failure becomes a small script that fails alike by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[2] / "evals" / "cases" / "to_minify.py"


@pytest.fixture(scope="module")
def minified(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Minify a lowering exception in a model of 14 operators: no C++ is compiled for it."""
    words = ["minify", str(CASES), "--python", python, "--json", "--", "lowering", "3"]
    home = tmp_path_factory.mktemp("minified")
    ran = subprocess.run(
        [sys.executable, "-m", "aoti_debug", *words],
        env={**os.environ, "AOTI_DEBUG_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def test_one_operator_is_left_and_it_fails_alike_alone(minified: dict[str, Any]) -> None:
    assert minified["reproduced"] and minified["nodes"] == 1
    assert minified["confirmed"] == "2 of 2 runs alone failed alike"
    assert "lower of act: MissingOperatorWithoutDecomp" in minified["signature"]


def test_few_candidates_are_tried_where_the_operator_is_named(minified: dict[str, Any]) -> None:
    assert minified["candidates"] <= 6


def test_the_reproduction_brings_the_operator_along(minified: dict[str, Any]) -> None:
    text = Path(minified["repro"]).read_text("utf-8")
    assert "planted::act" in text and "class Layers" not in text
    assert "implicit_fallbacks" in text
    report = Path(minified["repro"]).with_name("report.md").read_text("utf-8")
    assert text.strip() in report
