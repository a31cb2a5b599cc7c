"""A kernel that Inductor tries while it compiles stops at an index: the data were made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.facts.trials import without
from aoti_debug.model import Diagnosis
from aoti_debug.read.scan import log_readers, scan_text
from aoti_debug.read.trial_report import WithoutTrial, read_trial
from aoti_debug.triage.observe import observe
from recordings import RECORDED, begin, called, end, events, unpack

ASSERTED = (
    "/tmp/torchinductor_u/kf/ckf.py:34: triton_poi_fused_embedding_0: block: [1,0,0], thread: "
    "[69,0,0] Assertion `index out of bounds: 0 <= tmp4 < 64` failed."
)
SETTINGS = {"triton.autotune_at_compile_time": False}
COMPUTED = {
    "op": "aten.embedding.default",
    "stack": [["/home/u/model.py", 12, "return self.table(ids)"]],
    "upper": 64,
    "inputs": ["x"],
    "by": ["sub", "bucketize"],
}
Lines = list[dict[str, Any]]
RECORDING = RECORDED.parent / "trial.tar.xz"
COMPILES: Lines = [begin(1, flags={"provenance": 1}), begin(2, "autotune", parent=1)]
ERROR = {"type": "RuntimeError", "message": "CUDA driver error: device-side assert triggered"}
FAILED: Lines = [*COMPILES, end(2, False, error=ERROR), end(1, False, error=ERROR)]


def found(lines: Lines, tried: WithoutTrial | None = None) -> Diagnosis:
    records = scan_text(ASSERTED, "stderr.log", log_readers("stderr.log")).records
    ended = Ending(signal="SIGABRT")
    return diagnose(Observations(records, events(*lines), ended, without_trial=tried))[0]


def report(**known: object) -> WithoutTrial:
    return read_trial(
        {"state": "compile", "computed": [COMPUTED], **known}, SETTINGS, "report.json"
    )


def test_an_assert_within_a_compile_is_of_a_trial_and_no_fault_of_the_users_data() -> None:
    best = found(COMPILES)
    assert (best.phase, best.category, best.confidence) == ("autotune", "autotune_error", "likely")
    assert "not tried" in (best.fixes[0].why or "")
    of_call = found([called()])
    assert (of_call.phase, of_call.category) == ("run", "index_out_of_bounds")


def test_a_recorded_trial_on_a_gpu_is_told_as_one(tmp_path: Path) -> None:
    unpack(RECORDING, tmp_path)
    seen = observe(tmp_path, "", Ending(code=1), None)
    tried = report(outside="", state="done", verdict="agrees", seconds=31.0)
    assert diagnose(replace(seen, without_trial=tried))[0].confidence == "proved"
    best = diagnose(seen)[0]
    assert (best.phase, best.category, best.confidence) == ("autotune", "autotune_error", "likely")
    for part in ("tuned a kernel on made-up data", "0 <= index < 64", "no call was made"):
        assert part in best.summary
    assert best.kernel is not None and best.kernel.name == "triton_per_fused_embedding_sub_sum_1"
    assert best.source[0].file == "/tmp/case/case.py"


def test_a_compile_that_ends_without_the_trial_proves_it_and_is_the_fix() -> None:
    works = report(outside="", state="done", verdict="agrees", seconds=31.0)
    assert found(COMPILES, works).confidence == "likely", "the assertion alone is a printed text"
    best = found(FAILED, works)
    assert (best.category, best.confidence) == ("autotune_error", "proved")
    assert "from values of x (sub <- bucketize)" in best.summary
    assert (best.source[0].file, best.source[0].line) == ("/home/u/model.py", 12)
    assert '{"triton.autotune_at_compile_time": False}' in best.fixes[0].what
    assert "tried here in 31 s: the compile succeeds" in (best.fixes[0].why or "")
    assert "len(boundaries) + 1 rows" in best.fixes[1].what
    assert len(best.because) == 2


def test_a_setting_with_which_the_compile_stops_as_well_is_no_fix() -> None:
    best = found(COMPILES, report(outside="", state="compile"))
    assert not any("inductor_configs" in fix.what for fix in best.fixes)
    assert "ended in compile" in best.because[0].result


def test_example_inputs_that_leave_the_bounds_themselves_are_the_cause() -> None:
    said = "aten.embedding.default: index 64 at [0] is out of bounds"
    assert found(COMPILES, report(outside=said)).category == "index_out_of_bounds"


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        ({}, SETTINGS),
        ({"benchmark_fusion": False}, SETTINGS),
        ({"benchmark_fusion": True}, {**SETTINGS, "benchmark_fusion": False}),
    ],
)
def test_settings_leave_out_what_was_asked_for(
    flags: dict[str, object], settings: dict[str, object]
) -> None:
    assert without(flags) == settings
