"""Targets without Python: a C++ program that loads a package and calls it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

CHECKED = "contract of the target"
NATIVE = "native of the target"
GDB = shutil.which("gdb")


def test_a_program_that_ends_well_is_not_said_to_leave_models_alone(
    triage: Any, program: Path, built: Any
) -> None:
    answer = triage("--command", program, built.directory / "static.pt2", 4, 8)

    assert (answer.category, answer.diagnosis["confidence"]) == ("no_fault", "possible")
    assert "nobody saw" in answer.diagnosis["summary"]
    assert "float32[4, 8] on cpu" in answer.steps["package"]["finding"]
    assert answer.steps[CHECKED]["finding"] == "nothing found"
    assert answer.diagnosis["next"][0]["tool"] == "inspect_package"


def test_a_wrong_size_that_returns_garbage_is_found_by_a_run_with_checks(
    triage: Any, program: Path, built: Any
) -> None:
    answer = triage("--command", program, built.directory / "static.pt2", 4, 6)

    assert answer.category == "contract_shape"
    finding = answer.diagnosis["input"]
    assert (finding["index"], finding["dim"]) == (0, 1)
    assert (finding["expected"], finding["got"]) == ("8", "6")
    assert answer.steps["first run"]["exit"] == "exit 0"


def test_a_crash_is_explained_by_the_contract_and_by_the_line_of_the_kernel(
    triage: Any, program: Path, built: Any
) -> None:
    answer = triage("--command", program, built.directory / "big.pt2", 16, 16)

    assert answer.category == "contract_shape"
    assert answer.diagnosis["input"]["expected"] == "4096"
    assert answer.steps["first run"]["exit"].startswith("SIGSEGV")
    if GDB:
        assert answer.diagnosis["kernel"]["name"].startswith("cpp_fused_")
        assert answer.diagnosis["kernel"]["file"].endswith(".kernel.cpp")
        assert answer.diagnosis["kernel"]["line"] > 0
        assert "SIGSEGV in kernel cpp_fused_" in answer.steps[NATIVE]["finding"]
    else:
        assert answer.steps[NATIVE]["status"] == "impossible"


def test_without_a_debugger_the_step_says_so_and_the_contract_is_still_found(
    triage: Any, program: Path, built: Any, without_debugger: str
) -> None:
    package = built.directory / "big.pt2"
    answer = triage("--command", program, package, 16, 16, PATH=without_debugger)

    assert answer.category == "contract_shape"
    assert answer.steps[NATIVE]["status"] == "impossible"
    assert "gdb" in answer.steps[NATIVE]["finding"]


def test_a_missing_package_is_a_fault_of_loading(
    triage: Any, program: Path, tmp_path: Path
) -> None:
    answer = triage("--command", program, tmp_path / "none.pt2", 4, 8)

    assert (answer.category, answer.diagnosis["phase"]) == ("package_corrupt", "load")
    assert answer.steps["package"]["status"] == "impossible"
    assert CHECKED not in answer.steps


def test_a_truncated_package_is_told_by_the_package_too(
    triage: Any, program: Path, built: Any, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.pt2"
    cut.write_bytes((built.directory / "static.pt2").read_bytes()[:300_000])
    answer = triage("--command", program, cut, 4, 8)

    assert (answer.category, answer.diagnosis["phase"]) == ("package_corrupt", "load")
    assert "truncated" in answer.steps["package"]["finding"]
    assert CHECKED not in answer.steps


def test_a_hang_shows_its_line_and_the_package_that_no_argument_names(
    triage: Any, program: Path, built: Any
) -> None:
    served = str(built.directory / "static.pt2")
    answer = triage("--timeout", 5, "--command", program, "-", 4, 8, SERVED=served, HANG="1")

    assert (answer.category, answer.diagnosis["phase"]) == ("hang", "hang")
    assert answer.left() == []
    assert answer.steps["package"]["finding"].startswith("static")
    assert "float32[4, 8] on cpu" in answer.steps["package"]["finding"]
    if GDB:
        assert "main (program.cpp:" in answer.diagnosis["summary"]
        assert "pause" in (answer.directory / "stacks.log").read_text()
        assert any(e["artifact"] == "stacks.log" for e in answer.diagnosis["evidence"])
