"""Scripts that do not end."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

GDB = shutil.which("gdb")


def test_a_hang_in_python_shows_the_line_and_leaves_no_process(triage: Any, targets: Path) -> None:
    answer = triage("--timeout", 3, targets / "waits.py")

    assert answer.category == "hang"
    where = answer.diagnosis["source"][0]
    assert where["file"].endswith("waits.py")
    assert "time.sleep" in (targets / "waits.py").read_text().splitlines()[where["line"] - 1]
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
