"""Targets without Python: a C++ program that loads a package and calls it. Scripts that a signal
ends, that do not end, or whose call was not captured; their operators are defined again where
the call is repeated."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from programs import CALL

CHECKED = "contract of the target"
NATIVE = "native of the target"
GDB = shutil.which("gdb")


def test_a_program_that_ends_well_is_not_said_to_leave_models_alone(
    triage: Any, program: Path, built: Any
) -> None:
    answer = triage("--command", program, built.directory / "static.pt2", 4, 8)

    assert (answer.category, answer.diagnosis["confidence"]) == ("no_fault", "possible")
    assert "no model call was observed" in answer.diagnosis["summary"]
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


SMALL = {"AOTI_DEBUG_CAPTURE_BYTES": "1000"}


def test_a_call_past_the_budget_is_captured_later_and_what_no_replay_shows_is_run_itself(
    triage: Any, targets: Path, acting: Path
) -> None:
    answer = triage(targets / "served.py", "--", acting, "crash", **SMALL)

    assert answer.steps["capture"]["finding"] == "captured; it failed there again in the same way"
    assert "call 3 failed" in answer.steps["capture"]["why"]
    assert "over the budget" in answer.steps["capture"]["why"]
    assert answer.steps["contract"]["finding"] == "nothing found"
    assert "call 3" in answer.diagnosis["summary"]
    if GDB:
        assert "no signal" in answer.steps["native"]["finding"]
        assert answer.steps["native of the target"]["status"] == "done"
        assert "run_impl" in answer.quotes
    else:
        assert answer.steps["native"]["status"] == "impossible"


def test_a_second_run_that_does_not_fail_is_said_to_show_nothing(
    triage: Any, targets: Path, acting: Path, tmp_path: Path
) -> None:
    answer = triage(targets / "served.py", "--", acting, "crash", tmp_path / "once", **SMALL)

    assert "did not fail" in answer.steps["capture"]["finding"]
    assert "on the target itself" in answer.steps["contract of the target"]["why"]


def test_an_abort_in_a_custom_operator_is_followed_to_the_wrapper(
    triage: Any, targets: Path, acting: Path
) -> None:
    answer = triage("--no-capture", targets / "call.py", "--", acting, 4, "abort")

    assert (answer.category, answer.diagnosis["phase"]) == ("host_segfault", "run")
    assert answer.diagnosis["fault"]["signal"] == "SIGABRT"
    assert answer.diagnosis["source"][0]["file"].endswith("act.py")
    assert "capture is off" in answer.steps[CHECKED]["why"]
    if GDB:
        assert "aoti_tests.act" in answer.diagnosis["ops"]
        assert "AOTInductorModel::run_impl" in answer.quotes


def test_a_crash_that_the_package_explains_costs_no_second_run(triage: Any, built: Any) -> None:
    answer = triage("--no-capture", CALL, "--", built.directory, "segfault")

    assert answer.category == "contract_shape"
    assert answer.diagnosis["input"]["got"] == "16"
    assert "capture" not in answer.steps
    assert {answer.steps[name]["status"] for name in (CHECKED, NATIVE)} == {"skipped"}
    assert answer.diagnosis["cost"]["process_runs"] == 1


def test_a_division_by_zero_is_told_without_a_debugger(
    triage: Any, targets: Path, acting: Path, without_debugger: str
) -> None:
    words = ("--no-capture", targets / "call.py", "--", acting, 4, "divide")
    answer = triage(*words, PATH=without_debugger)

    assert answer.diagnosis["fault"]["signal"] == "SIGFPE"
    assert answer.diagnosis["source"][0]["file"].endswith("act.py")
    assert answer.steps[NATIVE]["status"] == "impossible"


RETURNED = """
import ctypes, faulthandler, sys
import torch

model = torch._inductor.aoti_load_package(sys.argv[1])
print(model(torch.ones(4, 8)).shape, flush=True)
if len(sys.argv) > 2:
    faulthandler.disable()
ctypes.string_at(0)
"""


def test_a_crash_after_the_last_call_does_not_run_the_script_again(
    triage: Any, built: Any, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(RETURNED)
    answer = triage(tmp_path / "script.py", "--", built.directory / "static.pt2")

    assert answer.diagnosis["fault"]["signal"] == "SIGSEGV"
    assert answer.diagnosis["source"][0]["line"] == 9
    assert answer.steps["contract"]["finding"] == "nothing found"
    assert answer.steps[NATIVE]["status"] == "skipped"
    assert "the last call had returned" in answer.steps[NATIVE]["finding"]
    assert not {CHECKED, "native"} & set(answer.steps)


def test_a_crash_after_the_last_call_without_a_python_stack_is_taken_to_the_debugger(
    triage: Any, built: Any, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(RETURNED)
    words = ("--no-capture", tmp_path / "script.py", "--", built.directory / "static.pt2", "mute")
    answer = triage(*words)

    assert answer.steps[CHECKED]["status"] == "skipped"
    if GDB:
        assert "SIGSEGV in" in answer.steps[NATIVE]["finding"]
    else:
        assert answer.steps[NATIVE]["status"] == "impossible"


def test_a_hang_in_python_shows_the_line_and_leaves_no_process(triage: Any, targets: Path) -> None:
    answer = triage("--timeout", 3, targets / "waits.py")

    assert answer.category == "hang"
    where = answer.diagnosis["source"][0]
    assert where["file"].endswith("waits.py")
    assert "signal.pause" in (targets / "waits.py").read_text().splitlines()[where["line"] - 1]
    assert answer.left() == []


def test_a_hang_inside_a_call_shows_the_operator_and_the_line_of_the_wrapper(
    triage: Any, targets: Path, acting: Path
) -> None:
    answer = triage("--timeout", 20, targets / "call.py", "--", acting, 4, ACT="hang")

    assert answer.category == "hang"
    assert "call 1 of the loaded model" in answer.diagnosis["summary"]
    assert answer.diagnosis["source"][0]["file"].endswith("act.py")
    assert answer.left() == []
    if GDB:
        assert "wrapper.cpp" in answer.diagnosis["summary"]
        assert "aoti_tests.act" in answer.diagnosis["ops"]
        assert "run_impl" in answer.quotes


@pytest.mark.parametrize(
    ("words", "rows", "said"),
    [
        (("call.py",), 4, "this row cannot be served"),
        (("own_op.py",), 3, "three rows are too few"),
        (("--import", "act", "generated_op.py"), 4, "this row cannot be served"),
    ],
    ids=["of a module beside the script", "of the script itself", "of a module that is named"],
)
def test_the_replay_knows_the_operator(
    triage: Any,
    targets: Path,
    acting: Path,
    words: tuple[str, ...],
    rows: int,
    said: str,
    warm_python: str,
) -> None:
    *options, script = ("--python", warm_python, *words)
    answer = triage("--cwd", targets, *options, script, "--", acting, rows, ACT="raise")

    assert said in answer.steps["contract"]["finding"]


def test_the_replay_loads_the_library_of_an_operator(
    triage: Any, targets: Path, acting: Path, library: Path, warm_python: str
) -> None:
    options = ("--python", warm_python, "--cwd", targets)
    answer = triage(*options, "library_op.py", "--", acting, 3, library)

    assert "three rows are too few" in answer.steps["contract"]["finding"]
