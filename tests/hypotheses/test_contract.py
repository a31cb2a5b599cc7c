"""A broken contract is the cause only where calls that break it are wrong, those that keep it are
right, or taking it away helps; else it is true and not the cause."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.experiments import Change, Trial
from aoti_debug.hypotheses.contract import weigh
from aoti_debug.model import InputFinding
from aoti_debug.package.record import CompiledModel, Package, Wrapper
from aoti_debug.probe.judge import Dim
from aoti_debug.probe.judge import Input as Declared
from aoti_debug.read.check_report import read_reports
from aoti_debug.read.torch_trace import read_guards
from recordings import called, end, events

ROWS = (4, 16, 3)  # of the three calls
OVER = InputFinding(index=0, name="x", property="size", dim=0, expected="<= 15", got="16")
AGREES: dict[str, Any] = {"verdict": "agrees"}
DIFFERS: dict[str, Any] = {
    "verdict": "differs",
    "index": 0,
    "wrong": 60,
    "elements": 64,
    "max_abs_apart": 0.3,
    "largest": 8.0,
}
REFUSED: dict[str, Any] = {"verdict": "refused", "why": "RuntimeError: sizes do not fit"}


def run(
    breaking: dict[str, Any],
    keeping: dict[str, Any] | None,
    without: dict[str, Any] | None = None,
    *more: dict[str, Any],
    exported: tuple[int, int] = (2, 256),
) -> Observations:
    """Return a run of three calls of 4, 16 and 3 rows; the package was compiled for at most 15."""
    leaf = {"name": "x", "dtype": "float32", "device": "cpu", "stride": [8, 1]}
    lines: list[dict[str, Any]] = []
    for number, rows in enumerate(ROWS, 1):
        begun = called({**leaf, "shape": [rows, 8]}, breaks=["size"] if rows > 15 else [])
        lines += [{**begun, "id": number, "call": number}, end(number)]
    log = events(*lines, *more)
    x = Declared(0, "x", "float32", "cpu", (Dim(symbol="s0", high=15), Dim(size=8)))
    wrapper = Wrapper("model.wrapper.cpp", 1, inputs=(x,), leaves=1, checks="environment")
    package = Package(
        Path("m.pt2"), "prefixed", 1, models=(CompiledModel("model", "", wrapper=wrapper),)
    )
    calls = log.calls
    change = (Change(0, "size", 15, 0),)
    trials = [Trial(calls[1], Path("2.pt"), (OVER,), change)]
    told = [{"pid": 7, "call": 2, "given": breaking, **({"without": without} if without else {})}]
    if keeping is not None:
        trials.append(Trial(calls[2], Path("3.pt")))
        told.append({"pid": 7, "call": 3, "given": keeping})
    compare = {"state": "done", "verdict": breaking["verdict"], "outputs": []}
    if breaking["verdict"] == "differs":
        first = {"at": [0, 1], "package": 2.2, "expected": 2.3}
        one = {"index": 0, "verdict": "differs", "wrong": 60, "elements": 64, "first_wrong": first}
        compare["outputs"] = [one]
    steps = {
        "guards": {
            "state": "done",
            "passed": True,
            "inputs": [{"name": "x", "shape": ["s0", 8]}],
            "ranges": {"s0": list(exported)},
        },
        "compare": compare,
        "trials": {"state": "done", "trials": told},
    }
    reports = read_reports({"steps": steps}, "steps/02-checks/report.json")
    if breaking["verdict"] == "refused":
        reports = replace(reports, compare=None)
    found = Observations((), log, Ending(code=1), package=package, checks=reports)
    return replace(found, trials=tuple(trials))


def test_a_bound_that_calls_within_it_are_as_wrong_as_those_above_is_not_the_cause() -> None:
    best = diagnose(run(DIFFERS, DIFFERS, DIFFERS))[0]
    assert (best.category, best.confidence) == ("wrong_result", "proved")
    (line,) = best.also_true
    assert "compiled for <= 15" in line and "exported for 2..256" in line and "call 3" in line
    assert 1 <= len(best.because) <= 3


@pytest.mark.parametrize(("keeping", "role"), [(DIFFERS, "also_true"), (AGREES, "open")])
def test_a_break_of_a_call_that_was_not_kept_is_judged_by_the_others(
    keeping: dict[str, Any], role: str
) -> None:
    found = run(DIFFERS, keeping)
    assert weigh(OVER, replace(found, trials=found.trials[1:])).role == role


def test_a_break_of_a_call_that_the_script_does_not_complain_of_is_not_the_cause() -> None:
    apart = {"apart": 0.5, "largest": 1.0, "unlike": 0, "wrong": 9, "of": 32}
    settings = {"autocast": "cpu bfloat16", "exported_autocast": "off"}
    seen = {"event": "reference", "caller": ["/t/check.py", 12], "call": 1, **apart, **settings}
    best = diagnose(run(REFUSED, AGREES, AGREES, seen))[0]
    assert best.category == "user_code" and "autocast" in best.summary, best.summary
    (line,) = best.also_true
    assert "x: size" in line and "call 1" in line
    assert diagnose(run(REFUSED, AGREES, AGREES, {**seen, "call": 2}))[0].category != "user_code"


@pytest.mark.parametrize(("apart", "role"), [(1e-7, "also_true"), (0.5, "cause")])
def test_a_break_whose_results_the_module_gives_in_the_script_is_not_the_cause(
    apart: float, role: str
) -> None:
    seen = {"event": "reference", "caller": ["/t/check.py", 12], "call": 2}
    pair = {**seen, "apart": apart, "largest": 1.0, "unlike": 0, "wrong": 0, "of": 32}
    assert weigh(OVER, run(REFUSED, AGREES, AGREES, pair, exported=(2, 15))).role == role


@pytest.mark.parametrize(
    ("code", "again", "handling", "role"),
    [
        (0, True, False, "also_true"),
        (0, False, False, "cause"),
        (1, True, False, "cause"),
        (1, True, True, "also_true"),
    ],
)
def test_a_break_whose_error_the_script_handles_is_not_the_cause(
    code: int, again: bool, handling: bool, role: str
) -> None:
    found = run(REFUSED, AGREES, AGREES, exported=(2, 15))
    failed = (2,) if again else (2, 3)
    phases = tuple(replace(one, ok=one.id not in failed) for one in found.run.phases)
    calls = tuple(replace(one, handling=handling and one.id == 3) for one in found.run.calls)
    record = replace(found.run, phases=phases, calls=calls)
    assert weigh(OVER, replace(found, run=record, ending=Ending(code=code))).role == role


def test_a_bound_that_no_result_depends_on_is_not_the_cause_of_an_exit() -> None:
    best = diagnose(run(AGREES, AGREES, AGREES))[0]
    assert not best.category.startswith("contract_")
    assert "results of call 2 are right" in best.also_true[0]


def test_results_that_change_with_free_memory_are_not_right_despite_a_break() -> None:
    found = run(AGREES, AGREES, AGREES)
    poison = read_reports({"steps": {"poison": {"verdict": "differs"}}}, "report.json").poison
    changing = replace(found, checks=replace(found.checks, poison=poison))
    assert weigh(OVER, found).role == "also_true"
    assert weigh(OVER, changing).role == "open"


def test_a_bound_is_the_cause_where_only_calls_above_it_are_wrong() -> None:
    best = diagnose(run(DIFFERS, AGREES, AGREES))[0]
    assert (best.category, best.confidence) == ("contract_shape", "proved")
    assert best.input is not None and best.input.got == "16"
    assert any("call 2" in one.experiment for one in best.because)
    assert best.also_true == []


@pytest.mark.parametrize(
    ("breaking", "keeping", "without", "exported", "role"),
    [
        (DIFFERS, None, AGREES, (2, 256), "cause"),
        (DIFFERS, None, DIFFERS, (2, 256), "also_true"),
        (DIFFERS, None, None, (2, 256), "open"),
        (REFUSED, AGREES, AGREES, (2, 15), "cause"),
        (AGREES, None, None, (2, 256), "also_true"),
        (AGREES, None, None, (2, 15), "open"),  # the program's word is not valid there
    ],
)
def test_what_the_experiments_mean(
    breaking: dict[str, Any],
    keeping: dict[str, Any] | None,
    without: dict[str, Any] | None,
    exported: tuple[int, int],
    role: str,
) -> None:
    found = run(breaking, keeping, without, exported=exported)
    assert weigh(OVER, found).role == role


BOOL = InputFinding(index=0, name="x", property="dtype", expected="bool", got="uint8")


def of_bytes(most: int, **outcomes: Any) -> Observations:
    """Return a run whose second call was given bytes in place of a bool."""
    found = run(outcomes.pop("given"), None, **outcomes)
    calls = []
    for call in found.run.calls:
        leaf = replace(call.inputs[0], dtype="uint8", min=0, max=most)
        calls.append(replace(call, inputs=(leaf,)))
    found = replace(found, run=replace(found.run, calls=tuple(calls)))
    return replace(found, trials=(replace(found.trials[0], breaks=(BOOL, OVER)),))


def test_bytes_of_0_and_1_are_the_bytes_of_a_bool() -> None:
    assert weigh(BOOL, of_bytes(1, given=AGREES)).role == "also_true"
    assert weigh(BOOL, of_bytes(7, given=AGREES)).role == "open"
    assert weigh(BOOL, of_bytes(1, given=DIFFERS, without=AGREES)).role == "cause"
    assert diagnose(of_bytes(1, given=DIFFERS, without=DIFFERS))[0].category == "wrong_result"


def test_a_bound_is_not_the_cause_where_the_weights_of_the_reference_explain_the_complaint() -> (
    None
):
    found = run(AGREES, None, exported=(2, 15))
    assert weigh(OVER, found).role == "open"
    apart = {"apart": 0.5, "largest": 1.0, "unlike": 0, "wrong": 9, "of": 32}
    same = {"apart": 0.0, "largest": 1.0, "unlike": 0, "wrong": 0, "of": 32}
    told = {"pid": 7, "call": 2, "given": AGREES}
    pair = {"call": 3, "anew": apart, "weights": 2, "left": [], "given": same}
    steps = {"trials": {"state": "done", "trials": [told], "pair": pair}}
    checks = read_reports({"steps": steps}, "report.json")
    assert weigh(OVER, replace(found, checks=checks)).role == "also_true"


TRACE = b"""\
V1123 x.py:1] {"str": ["/v/torch/fx/experimental/symbolic_shapes.py", 1]}
V1123 x.py:1] {"str": ["/v/torch/_subclasses/fake_impls.py", 2]}
V1123 x.py:1] {"guard_added_fast": {"expr": "Eq(s3, s0)", "stack": [{"filename": 2, \
"line": 9, "name": "a"}]}}
V1123 x.py:1] {"guard_added_fast": {"expr": "s0 < 16", "stack": [{"filename": 2, "line": 1811, \
"name": "conv"}, {"filename": 1, "line": 8494, "name": "_evaluate_expr"}]}}
V1123 x.py:1] {"guard_added_fast": 5}
V1123 x.py:1] {"guard_added_fast": {"expr": "s0
"""


def test_who_asked_for_a_bound_is_read_from_the_trace() -> None:
    asked = [one for one in read_guards(io.BytesIO(TRACE)) if one.bounds("s0")]
    assert [(one.text, one.function, one.line) for one in asked] == [("s0 < 16", "conv", 1811)]
    found = replace(run(DIFFERS, DIFFERS, DIFFERS), asked=tuple(asked))
    assert "conv at fake_impls.py:1811 asked s0 < 16" in diagnose(found)[0].also_true[0]
