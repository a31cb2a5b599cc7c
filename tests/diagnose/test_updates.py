"""What a played update of weights proves."""

from __future__ import annotations

import pytest
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.diagnose.observations import UpdatePlayed
from aoti_debug.probe.update_steps import Finding
from aoti_debug.read.examine_reports import StepSeen, WeightsReport


@pytest.mark.parametrize(
    ("reason", "constant", "confidence"),
    [("not_swapped", "fc.weight", "proved"), ("outputs", "", "likely")],
)
def test_other_outputs_alone_prove_no_constant_wrong(
    reason: str, constant: str, confidence: str
) -> None:
    steps = StepSeen("load-full-inactive"), StepSeen("call", agrees=False)
    finding = Finding(constant, "old", 1, reason)
    report = WeightsReport(state="done", steps=steps, findings=(finding,))
    played = UpdatePlayed(report, (None, None), "steps/update-1/report.json")
    [best, *_] = diagnose(Observations((), ending=Ending(code=0), updates=(played,)))
    assert (best.category, best.confidence) == ("constants_mismatch", confidence)
