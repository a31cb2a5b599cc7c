"""Programs with planted faults, and packages whose values are wrong for a known reason."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.explain.nodes import Found, read_report
from aoti_debug.explain.wrong import read_bisection

WALKED = Path(__file__).with_name("walk_cases.py")
CASES = tuple(
    """
    embedding gather advanced argmax cumsum bucketize empty bags log_zero zero_by_zero exp unit
    entropy pool batch_norm masked_row undeclared_write
    """.split()
)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    out = tmp_path_factory.mktemp("walks")
    argv = [warm_python, str(WALKED), str(out), *CASES]
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


COMPILED = Path(__file__).with_name("wrong_cases.py")


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    out = tmp_path_factory.mktemp("wrong")
    done = subprocess.run(
        [warm_python, str(COMPILED), str(out)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def wrong_in(folder: Path) -> tuple[Found | None, dict[str, Any]]:
    report = json.loads((folder / "report.json").read_text())
    assert report["state"] == "done", report
    return read_bisection(report), report


def test_a_package_of_the_model_as_it_is_is_not_blamed(looked: Path):
    found, report = wrong_in(looked / "healthy")
    assert found is None and report["agrees"] and report["compiles"] == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("other_weights", ("up.weight differs in 512 of 512 values", "gives the package")),
        ("other_shapes", ("up.weight is float32[32, 16] there and float32[48, 16] in the model",)),
    ],
)
def test_a_package_of_another_version_of_the_model_is_stale(
    looked: Path, name: str, says: tuple[str, ...]
):
    found, report = wrong_in(looked / name)
    assert found is not None and found.category == "constants_mismatch"
    assert found.summary.startswith("stale package")
    assert all(words in found.summary for words in says), found.summary
    assert found.fixes and report["compiles"] == []


@pytest.mark.parametrize("name", ["bfloat16", "tf32"])
def test_products_in_less_than_float32_are_measured(looked: Path, name: str):
    found, report = wrong_in(looked / name)
    assert found is not None and f"matrix products in {name}" in found.summary
    assert report["reason"]["left"] < 0.2 * report["reason"]["apart"]
    assert report["compiles"] == []


def test_rounding_that_a_jump_makes_large_is_named_and_not_blamed_on_the_compiler(looked: Path):
    found, report = wrong_in(looked / "floor")
    assert report["agrees"] and found is not None
    assert (found.node, found.op) == ("floor", "aten.floor.default")
    assert "no further from float64" in found.summary


def test_an_operator_that_is_compiled_wrong_is_located_and_left_as_a_script(looked: Path):
    found, report = wrong_in(looked / "relu")
    assert found is not None and found.op == "aten.relu.default"
    assert "# planted" in str(found.source[0].text)
    assert "compiled wrong alone" in found.summary
    assert report["first"]["located_with"] <= 2
    assert (looked / "relu" / "one_kernel.py").is_file()
    marked = [row for row in found.values if row.mark == "first wrong"]
    assert [row.node for row in marked] == ["relu"]


@pytest.mark.parametrize(
    ("package", "expected", "wraps"),
    [(-1294967296, 3000000000, True), (7, 8, False), (0.5, 4294967296.5, False)],
)
def test_a_whole_number_without_its_upper_bits_was_computed_in_32(
    package: float, expected: float, wraps: bool
):
    first = {"node": "mul", "op": "aten.mul.Tensor", "wrong": 9, "elements": 12, "exact": True}
    first["first_wrong"] = {"at": [3], "package": package, "expected": expected}
    found = read_bisection({"state": "done", "first": first})
    assert found is not None
    assert ("computed in 32 bits" in found.summary) == wraps
    assert ("buffer" in found.fixes[0].what) == wraps


def test_convolutions_in_tf32_are_granted_and_a_wrong_element_is_not(looked: Path):
    told = json.loads((looked / "tf32.json").read_text())
    assert told["dtype"] == "torch.float64" and told["on the cpu"] is None
    assert told["plain"] == ["agrees", "differs", "differs"]
    assert told["granted"] == ["agrees", "agrees", "differs"]
