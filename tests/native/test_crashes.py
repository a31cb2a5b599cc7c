"""Scripts that a signal of the host ends; the call is not captured, so the script runs again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

CHECKED = "contract of the target"
NATIVE = "native of the target"
GDB = shutil.which("gdb")


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


def test_a_crash_that_the_package_explains_costs_no_second_run(
    triage: Any, targets: Path, built: Any
) -> None:
    script = targets.parent.parent / "targets" / "call.py"
    answer = triage("--no-capture", script, "--", built.directory, "segfault")

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
