"""Twenty calls that are right raise no alarm: by the exported program and by the package."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import aoti_debug.probe
import pytest
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.package.contract import check_call, contract
from aoti_debug.package.inspect import inspect
from aoti_debug.read.check_report import CheckReports, GuardsReport, Raised

PROBE = Path(aoti_debug.probe.__file__).parent
SCRIPT = Path(__file__).with_name("healthy.py")
NAMES = (
    "dynamic", "static", "embedding", "auto_one", "branch", "pair", "reshape", "int_argument",
    "mutate",
)  # fmt: skip


@pytest.fixture(scope="module")
def found(exported, python):
    paths = json.dumps({name: str(exported[name]) for name in NAMES})
    words = [python, "-W", "ignore", str(SCRIPT), str(PROBE), paths]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def alarms(built, call):
    if call["package"].startswith("empty"):  # exported only: there is no package
        return []
    model = inspect(built.directory / f"{call['package']}.pt2").model()
    return check_call(contract(model), call["inputs"])


def test_no_healthy_call_raises_an_alarm(found, built):
    healthy = {name: call for name, call in found.items() if not call["doubtful"]}
    assert len(healthy) >= 20
    for name, call in healthy.items():
        assert call["differences"] == [], name
        assert call["refused"] is None, name
        assert [a for a in alarms(built, call) if not a.false_alarm] == [], name


def test_what_looks_wrong_and_is_not_is_called_a_false_alarm_with_its_reason(found, built):
    doubtful = {name: call for name, call in found.items() if call["doubtful"]}
    assert len(doubtful) == 4
    for name, call in doubtful.items():
        raised = alarms(built, call)
        assert all(alarm.false_alarm and alarm.reason for alarm in raised), name
        assert all(d["expected"] == ">= 2" for d in call["differences"]), name
    assert alarms(built, found["one row where two is the least"])


def test_the_odd_stride_of_one_row_is_harmless(found, built):
    (alarm,) = alarms(built, found["a row with an odd stride"])
    assert (alarm.false_alarm, alarm.finding.property) == (True, "stride")
    assert "never used" in alarm.reason


def test_a_size_that_export_set_apart_is_refused_by_the_exported_program_alone(found, built):
    call = found["a reshape to one column"]
    assert call["refused"] == "Guard failed: x.size()[0] != 100"
    assert alarms(built, call) == []


def test_a_guard_against_one_size_is_not_called_proved():
    refused = Raised(type="AssertionError", message="Guard failed: x.size()[0] != 100")
    guards = GuardsReport(where="guards", exception=refused, broken=("x.size()[0] != 100",))
    best = diagnose(Observations(checks=CheckReports(guards=guards)))[0]
    assert (best.category, best.confidence) == ("contract_guard", "likely")
    assert "0 or 1" in best.summary
