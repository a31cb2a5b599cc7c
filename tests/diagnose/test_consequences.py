"""What a memory checker or a warning says counts where something is wrong because of it."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.diagnose.excuse import is_vendor_kernel
from aoti_debug.model import Diagnosis
from aoti_debug.read.check_report import CheckReports, read_reports
from aoti_debug.read.events import read_events
from aoti_debug.read.scan import log_readers, scan_text
from aoti_debug.signatures import matcher

# Healthy models on an H100, torch 2.11: what was said of them, and the events of one such run.
RECORDED = json.loads(
    (Path(__file__).parents[1] / "recorded" / "gpu" / "healthy.json").read_text(encoding="utf-8")
)
SAID = {one["model"]: one for one in RECORDED["said"]}
CHECKED = {name: one for name, one in SAID.items() if one["tool"]}
EVENTS = "\n".join(json.dumps(event) for event in RECORDED["events"])
WARNINGS = (
    "W1121 20:01:00.0 101 torch/_inductor/lowering.py:7905] Online softmax is disabled on the fly "
    "since Inductor decides to split the reduction",
    "/v/lib/python3.12/site-packages/torch/_inductor/compile_fx.py:282: UserWarning: TensorFloat32 "
    "tensor cores for float32 matrix multiplication available but not enabled.",
    "/usr/lib/python3.12/copyreg.py:99: FutureWarning: `isinstance(treespec, LeafSpec)` is "
    "deprecated, use `isinstance(treespec, TreeSpec) and treespec.is_leaf()` instead.",
)
STEADY = {
    "compare": {"state": "done", "verdict": "agrees"},
    "repeats": {"state": "done", "verdict": "same", "calls": 4},
    "poison": {"state": "done", "verdict": "same", "patterns": ["0xFF", "0x3C"]},
}
DIFFERS = {"verdict": "differs", "output": 0, "wrong": 7, "elements": 49, "at": [3],
           "first": 1.5, "then": "nan"}  # fmt: skip


def checks(**changed: object) -> CheckReports:
    return read_reports({"steps": {**STEADY, **changed}}, "steps/02-checks/report.json")


def run(text: str, reports: CheckReports, artifact: str = "stderr.log") -> Observations:
    """Return a run that ended well, with a text that one of its processes left."""
    found = scan_text(text, artifact, [*log_readers(artifact), matcher(artifact)]).records
    events = read_events(io.BytesIO(EVENTS.encode()))
    return Observations(found, events, Ending(code=0), checks=reports)


def best(name: str, reports: CheckReports) -> Diagnosis:
    tool = SAID[name]["tool"]
    artifact = f"steps/07-{tool}/stdout.log" if tool else "stderr.log"
    return diagnose(run(SAID[name]["text"], reports, artifact))[0]


@pytest.mark.parametrize("name", SAID)
def test_what_was_said_of_a_healthy_model_is_no_fault(name: str) -> None:
    found = best(name, checks())
    assert found.category == "no_fault"
    assert len(found.misleading) == 1  # and not left out


@pytest.mark.parametrize("name", CHECKED)
def test_a_checkers_word_without_any_check_of_values_is_no_fault_either(name: str) -> None:
    assert best(name, CheckReports()).category == "no_fault"


@pytest.mark.parametrize("name", ["timm_mixer", "fcn"])
def test_where_values_differ_the_kernel_that_a_checker_names_is_told(name: str) -> None:
    found = best(name, checks(repeats={"state": "done", **DIFFERS}))
    assert found.category in ("wrong_result", "concurrency")
    assert found.kernel is not None
    assert found.kernel.name.startswith("triton_")


@pytest.mark.parametrize("name", ["r3d", "inception", "convnext_bf16", "resnet18_fp16"])
def test_a_vendors_kernel_is_not_the_cause_even_where_values_differ(name: str) -> None:
    found = best(name, checks(poison={"state": "done", **DIFFERS}))
    assert found.category == "wrong_result"
    assert "changes with what free memory held" in found.summary
    assert found.kernel is None


@pytest.mark.parametrize("name", CHECKED)
def test_in_a_log_a_vendors_kernel_is_a_lead_and_no_more(name: str) -> None:
    observations = run(SAID[name]["text"], CheckReports(), "log")
    found = diagnose(replace(observations, ending=None, events=None))[0]
    kernel = found.kernel.name if found.kernel is not None else None
    assert found.confidence == ("possible" if is_vendor_kernel(kernel) else "likely")


@pytest.mark.parametrize("text", WARNINGS)
def test_a_warning_of_a_healthy_run_is_never_the_headline(text: str) -> None:
    assert diagnose(run(text, checks()))[0].category == "no_fault"
    assert diagnose(run(text, CheckReports()))[0].category == "no_fault"


def test_results_that_follow_from_the_calls_before_are_no_fault() -> None:
    counted = {"state": "done", **DIFFERS, "stateful": True}
    assert diagnose(run("", checks(repeats=counted)))[0].category == "no_fault"


def test_an_operator_that_is_wrong_in_two_places_is_told_once() -> None:
    wrong = {"op": "shop.sort_rows.default", "output": 0, "property": "stride",
             "expected": "[8, 1]", "got": "[1, 4]", "count": 2, "stack": ""}  # fmt: skip
    found = diagnose(run("", checks(fakes={"state": "done", "mismatches": [wrong]})))
    assert [one.category for one in found] == ["custom_op_fake_kernel"]
    assert "at 2 places" in found[0].summary
    words = " ".join(f"{fix.what} {fix.why}" for fix in found[0].fixes)
    assert "reads past" not in words
    assert ".contiguous()" in words
    assert "call the package as it is" in words
    assert "make the fake kernel of shop.sort_rows.default promise" in words
