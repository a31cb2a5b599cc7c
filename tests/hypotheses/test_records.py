"""What the first run shows of the reference and of the memory of calls is a cause only where the
script complains and the package is right when its calls are repeated."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.model import Diagnosis
from aoti_debug.read.check_report import read_reports
from aoti_debug.read.events import read_events

LEAF = {"index": 0, "name": "frames", "kind": "tensor", "dtype": "float32", "device": "cpu"}


def run(
    *more: dict[str, Any],
    memory: dict[str, Any] | None = None,
    code: int = 1,
    verdict: str = "agrees",
) -> Diagnosis:
    """Diagnose a run of two calls; the call's values are as the verdict says."""
    lines: list[dict[str, Any]] = []
    for number in (1, 2):
        given = {**LEAF, "shape": [4, 8], "stride": [8, 1]}
        call = {"id": number, "call": number, "package": "/t/m.pt2", "inputs": [given]}
        caller = {"caller": ["/t/serve.py", 30 + number]}
        lines.append({"event": "begin", "phase": "run", "name": "call", **call, **caller})
        end = {"event": "end", "id": number, "ok": True, "seconds": 0.1}
        lines.append({**end, **({"memory": memory} if memory and number == 2 else {})})
    told = [{"t": 1.0, "pid": 7, **line} for line in (*lines, *more)]
    log = read_events(io.BytesIO("".join(json.dumps(one) + "\n" for one in told).encode()))
    compare = {"state": "done", "verdict": verdict, "outputs": []}
    reports = read_reports({"steps": {"compare": compare}}, "report.json")
    return diagnose(Observations((), log, Ending(code=code), checks=reports))[0]


def reference(**found: Any) -> dict[str, Any]:
    return {"event": "reference", "caller": ["/t/check.py", 12], **found}


@pytest.mark.parametrize(
    ("found", "category", "word"),
    [
        ({"training": ["norm (BatchNorm1d)"]}, "user_code", "training mode"),
        ({"exported_training": ["drop (Dropout)"]}, "wrong_result", "exported in training mode"),
        ({"changed": ["fc.weight"], "changed_count": 1}, "user_code", "fc.weight"),
        ({"autocast": "cpu bfloat16", "exported_autocast": "off"}, "user_code", "autocast"),
        ({"reordered": True}, "user_code", "order"),
        ({"written": [0]}, "user_code", "frames"),
    ],
)
def test_how_the_reference_differs_is_said_with_its_line(
    found: dict[str, Any], category: str, word: str
) -> None:
    best = run(reference(**found))
    assert (best.category, best.confidence) == (category, "likely")
    assert word in best.summary
    assert (best.source[0].file, best.source[0].line) == ("/t/check.py", 12)
    assert best.because


def test_a_reference_is_no_cause_where_nothing_complains_or_the_package_is_wrong() -> None:
    training = reference(training=["norm (BatchNorm1d)"])
    assert run(training, code=0).category == "no_fault"
    assert "training" not in run(training, verdict="differs").summary
    assert "reference" not in run(reference()).summary


def test_an_input_that_is_overwritten_while_a_call_is_under_way_is_a_race() -> None:
    best = run(memory={"overwritten": [0]})
    assert (best.category, best.confidence) == ("concurrency", "likely")
    assert "frames is overwritten while call 2 is under way" in best.summary
    assert best.source[0].line == 32


def test_memory_that_is_given_again_is_a_lead_of_a_script_that_complains_alone() -> None:
    assert run(memory={"reused": [0]}, code=0).category == "no_fault"
    best = run(memory={"reused": [0]})
    assert (best.category, best.confidence) == ("concurrency", "possible")
