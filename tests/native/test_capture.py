"""A failing call that the first run could not capture, and one that replays do not show."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

GDB = shutil.which("gdb")
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
