"""Ten violations of a package's contract that return a tensor without a word, none on the CPU;
twenty calls that are right raise no alarm."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import aoti_debug.probe
import pytest
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.facts.categories import OF_A_PROPERTY
from aoti_debug.package.contract import check_call, contract
from aoti_debug.package.inspect import inspect
from aoti_debug.read.check_report import GuardsReport, Raised
from aoti_debug.read.checks import CheckReports
from aoti_debug.run.directory import list_runs
from aoti_debug.triage.observe import events_of
from aoti_debug.vocabulary import Leaf
from programs import calls, triage_all

# case → category, input, property, dim, expected, got
TEN = {
    "rank": ("contract_shape", 0, "rank", None, "2", "1"),
    "size": ("contract_shape", 0, "size", 1, "8", "6"),
    "dtype": ("contract_dtype", 0, "dtype", None, "float32", "float64"),
    "stride": ("contract_stride", 0, "stride", 0, "8", "1"),
    "int_argument": ("contract_argument", 1, "value", None, "3", "5"),
    "auto_one": ("contract_shape", 0, "size", 0, "1", "5"),
    "branch": ("contract_shape", 0, "size", 0, ">= 6", "3"),
    "pair": ("contract_shape", 1, "size", 0, "8 (s17, as another dimension says)", "5"),
    "above_max": ("contract_shape", 0, "size", 0, "<= 64", "100"),
    "reshape": ("contract_guard", 0, "guard", 0, "x.size()[0] % 100 == 0", None),
}
# What the package alone does not state: the value of an argument, a divisor of a reshape.
ONLY_EXPORTED = ("int_argument", "reshape")
MORE = ("batch_one", "odd_stride", "strided_write", "shared_write", "healthy_max")


@pytest.fixture(scope="module")
def home_of_build(built, tmp_path_factory) -> Path:
    """Return a home that holds what the build captured, so that tests leave the build's alone."""
    home = tmp_path_factory.mktemp("home")
    leave = shutil.ignore_patterns("package-*", "call-*")
    for run in list_runs(built.home):
        if any((run.path / "capture").glob("exported-*")):
            shutil.copytree(run.path, home / "runs" / run.id, ignore=leave)
    return home


@pytest.fixture(scope="module")
def known(built, home_of_build, warm_python):
    """Triages where an earlier run kept the exported program."""
    return triage_all(calls(built, *TEN, *MORE), home_of_build, warm_python)


@pytest.fixture(scope="module")
def alone(built, tmp_path_factory, warm_python):
    """Triages where only the package and the call are known."""
    return triage_all(
        calls(built, "pair", *ONLY_EXPORTED), tmp_path_factory.mktemp("alone"), warm_python
    )


@pytest.mark.parametrize("case", TEN)
def test_a_silent_violation_is_found_with_input_and_property(known, case):
    best = known[case].best
    # A size over the bound may be served all the same: the bound is a promise, seldom compiled in.
    sure = "likely" if case == "above_max" else "proved"
    assert (best.category, best.confidence) == (TEN[case][0], sure)
    found = best.input
    assert (found.index, found.property, found.dim, found.expected, found.got) == TEN[case][1:]
    assert known[case].answer.steps[0].exit == "exit 0"
    assert best.fixes
    assert best.guide.startswith("guides/input-contracts.md")


@pytest.mark.parametrize("case", TEN)
def test_the_package_alone_shows_what_it_states(known, built, case):
    model = inspect(built.directory / _package(case)).model()
    events = events_of(known[case].directory)
    assert model is not None
    call = events.calls[-1]
    found = check_call(contract(model), call.inputs)
    if case in ONLY_EXPORTED:
        assert found == []
        return
    first = found[0]
    told = (OF_A_PROPERTY[first.property], first.index, first.property, first.dim)
    assert told == TEN[case][:4]


def _package(case: str) -> str:
    names = {"above_max": "dynamic"}
    static = ("rank", "size", "dtype", "stride")
    return f"{'static' if case in static else names.get(case, case)}.pt2"


def test_a_violation_is_proved_without_the_exported_program(alone):
    best = alone["pair"].best
    assert (best.category, best.confidence) == ("contract_shape", "proved")
    assert (best.input.index, best.input.property, best.input.got) == (1, "size", "5")


def test_what_only_the_exported_program_knows_is_said_not_to_be_checked(alone):
    for case in ONLY_EXPORTED:
        best = alone[case].best
        assert (best.category, best.confidence) == ("no_fault", "possible")
        assert "its values were not compared: the script only loads the package" in best.means
        assert "without the exported program" in best.means
        assert best.next[0].tool == "triage"
    assert "argument 1 = 5 is the value" in alone["int_argument"].best.means


def test_a_size_below_what_the_exported_program_declares_may_be_a_false_alarm(known):
    best = known["batch_one"].best
    assert best.category == "false_alarm"
    assert "0/1 specialization" in f"{best.summary}; {best.means}"


def test_a_healthy_call_is_no_fault_and_what_only_the_check_rejects_is_said(known):
    assert known["healthy_max"].best.category == "no_fault"
    best = known["odd_stride"].best
    assert best.category == "no_fault"
    assert "off by default, would refuse x: stride at dim 0 is 16, not 8" in best.means


@pytest.mark.parametrize(
    ("case", "property", "got"),
    [("strided_write", "stride", "2"), ("shared_write", "aliasing", "shared with y")],
)
def test_an_input_that_is_written_to_needs_memory_of_its_own(known, case, property, got):
    best = known[case].best
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    assert (best.input.name, best.input.property, best.input.got) == ("x", property, got)
    assert "writes to this input" in f"{best.summary}; {best.means}"


PROBE = Path(aoti_debug.probe.__file__).parent
SCRIPT = Path(__file__).with_name("healthy.py")
NAMES = "dynamic static embedding auto_one branch pair reshape int_argument mutate".split()


@pytest.fixture(scope="module")
def found(exported, warm_python):
    paths = json.dumps({name: str(exported[name]) for name in NAMES})
    words = [warm_python, "-W", "ignore", str(SCRIPT), str(PROBE), paths]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def alarms(built, call):
    if call["package"].startswith("empty"):  # exported only: there is no package
        return []
    model = inspect(built.directory / f"{call['package']}.pt2").model()
    assert model is not None
    return check_call(contract(model), list(map(Leaf.of, call["inputs"])))


def test_no_healthy_call_raises_an_alarm(found, built):
    healthy = {name: call for name, call in found.items() if not call["doubtful"]}
    assert len(healthy) >= 20
    for name, call in healthy.items():
        assert call["differences"] == [], name
        assert call["refused"] is None, name
        assert [a for a in alarms(built, call) if not a.harmless] == [], name


def test_what_looks_wrong_and_is_not_is_called_a_false_alarm_with_its_reason(found, built):
    doubtful = {name: call for name, call in found.items() if call["doubtful"]}
    assert len(doubtful) == 4
    for name, call in doubtful.items():
        raised = alarms(built, call)
        assert all(alarm.harmless and alarm.reason for alarm in raised), name
        assert all(d["expected"] == ">= 2" for d in call["differences"]), name
    assert alarms(built, found["one row where two is the least"])


def test_the_odd_stride_of_one_row_is_harmless(found, built):
    (alarm,) = alarms(built, found["a row with an odd stride"])
    assert (alarm.harmless, alarm.property) == (True, "stride")
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
    assert "0 or 1" in f"{best.summary}; {best.means}"
