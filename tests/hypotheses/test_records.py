"""What the first run shows of the reference and of the memory of calls is a cause only where the
script complains and the package is right when its calls are repeated."""

from __future__ import annotations

import importlib
import json
import pkgutil
from dataclasses import replace
from typing import Any

import pytest
from aoti_debug import hypotheses
from aoti_debug.diagnose import Ending, Observations, diagnose
from aoti_debug.diagnose.observations import PutBack
from aoti_debug.model import Diagnosis, SourceLine
from aoti_debug.probe.experiments import numbers
from aoti_debug.read.check_report import read_reports
from aoti_debug.read.record import PrintedDifference, Span
from recordings import begin, called, end, events

LEAF = {"name": "frames", "dtype": "float32", "device": "cpu", "shape": [4, 8], "stride": [8, 1]}


def observed(
    *more: dict[str, Any],
    memory: dict[str, Any] | None = None,
    code: int = 1,
    verdict: str = "agrees",
    compared: dict[str, Any] | None = None,
    leaves: tuple[dict[str, Any], ...] = (LEAF,),
    **steps: dict[str, Any],
) -> Observations:
    """Return a run of two calls; the call's values are as the verdict says."""
    begun = [called(*leaves, caller=["/t/serve.py", 30 + number]) for number in (1, 2)]
    begun = [{**line, "id": number, "call": number} for number, line in enumerate(begun, 1)]
    ended = end(1), {**end(2), **({"memory": memory} if memory else {})}
    log = events(begun[0], ended[0], begun[1], ended[1], *more)
    compare = {"state": "done", "verdict": verdict, "outputs": [], **(compared or {})}
    done = {name: {"state": "done", **step} for name, step in steps.items()}
    reports = read_reports({"steps": {"compare": compare, **done}}, "report.json")
    return Observations((), log, Ending(code=code), checks=reports)


def run(*more: dict[str, Any], **given: Any) -> Diagnosis:
    return diagnose(observed(*more, **given))[0]


def reference(**found: Any) -> dict[str, Any]:
    return {"event": "reference", "caller": ["/t/check.py", 12], **found}


@pytest.mark.parametrize(
    ("found", "category", "word"),
    [
        ({"training": ["norm (BatchNorm1d)"]}, "user_code", "training mode"),
        ({"exported_training": ["drop (Dropout)"]}, "wrong_result", "exported in training mode"),
        ({"changed": ["fc.weight"], "changed_count": 1}, "user_code", "fc.weight"),
        ({"autocast": "cpu bfloat16", "exported_autocast": "off"}, "user_code", "autocast"),
        ({"reordered": [1, 0]}, "contract_argument", "other places"),
        ({"written": [0]}, "user_code", "frames"),
    ],
)
def test_how_the_reference_differs_is_said_with_its_line(
    found: dict[str, Any], category: str, word: str
) -> None:
    best = run(reference(**found))
    assert (best.category, best.confidence) == (category, "likely")
    assert word in best.summary
    assert ("/t/check.py", 12) in [(line.file, line.line) for line in best.source]
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
    declared = {"inputs": [{"name": "frames", "shape": [4, 8], "written": True}]}
    assert run(memory={"overwritten": [0]}, guards=declared).category != "concurrency"


def test_an_input_that_an_operator_of_the_model_writes_to_is_no_race() -> None:
    place = {"real": {"file": "/t/ops.py", "line": 9}}
    wrote = {"op": "flow.squash.default", "argument": "x", "places": place}
    best = run(memory={"overwritten": [0]}, writes={"wrote": [wrote]})
    assert (best.category, best.confidence) == ("wrong_result", "likely")
    assert "flow.squash.default writes to its argument x" in best.summary
    assert (best.source[0].file, best.source[0].line) == ("/t/ops.py", 9)
    assert run(memory={"overwritten": [0]}, writes={"wrote": []}).category == "concurrency"
    ends_well = run(memory={"overwritten": [0]}, code=0, writes={"wrote": [wrote]})
    assert ends_well.summary == best.summary


def test_elements_that_are_not_finite_reach_the_repeated_call_as_they_were() -> None:
    seen = observed(memory={"values": [["inf", "-inf", "nan", 1.5]]}).run.calls[1].values
    [again] = json.loads(json.dumps(seen))
    assert str(numbers(again)) == "[inf, -inf, nan, 1.5]" and seen == ((*seen[0],),)


def test_memory_that_is_given_again_is_a_lead_of_a_script_that_complains_alone() -> None:
    assert run(memory={"reused": [0]}, code=0).category == "no_fault"
    best = run(memory={"reused": [0]})
    assert (best.category, best.confidence) == ("concurrency", "possible")
    best = run(reference(rows=[3, 9]), memory={"reused": [0]})
    assert "never received 3 of 9 reference rows" in best.summary
    best = run(reference(rows=[3, 9], unlike_inputs=[0]))
    assert "reference rows: frames differs" in best.summary


def test_rows_that_differ_are_a_cause_of_a_script_that_ends_well_and_prints_a_difference() -> None:
    shown = PrintedDifference(Span("stdout.log", 1, 1, ""), 0.23)
    for rows, category in (([3, 9], "user_code"), ([9, 9], "no_fault")):
        seen = observed(reference(rows=rows, unlike_inputs=[0]), code=0)
        assert diagnose(seen)[0].category == "no_fault"
        assert diagnose(replace(seen, records=(shown,)))[0].category == category


PAIR: dict[str, Any] = {"call": 2, "apart": 0.5, "largest": 1.0, "unlike": 0}


def test_results_that_the_script_compared_prove_how_the_reference_differs() -> None:
    best = run(reference(attributes=["scale = 2 (1 at export)"], **PAIR))
    assert (best.category, best.confidence) == ("user_code", "proved")
    assert "scale = 2" in best.summary and "0.5 apart" in best.because[1].result


STATE = {**LEAF, "name": "state", "shape": [2]}


def test_a_call_that_shares_some_inputs_with_the_reference_says_which_it_does_not() -> None:
    agree = reference(call=1, apart=0.0, largest=1.0)
    other = reference(call=2, other=[1])
    best = run(agree, other, leaves=(LEAF, STATE))
    assert (best.category, best.confidence) == ("user_code", "likely")
    assert "state" in best.summary and "call 2" in best.summary
    assert best.source[0].line == 32 and best.source[-1].line == 12
    assert "state" not in run(agree, reference(call=2, other=[0, 1]), leaves=(LEAF, STATE)).summary
    assert "state" not in run(agree, other, reference(**PAIR), leaves=(LEAF, STATE)).summary


def test_memory_that_is_given_again_is_no_matter_of_rounding() -> None:
    near = reference(**{**PAIR, "apart": 1e-6})
    assert run(near, reference(call=1, other=[0])).category == "false_alarm"
    best = run(near, reference(call=1, other=[0]), memory={"reused": [0]})
    assert (best.category, best.confidence) == ("concurrency", "possible")


def test_a_difference_that_calls_which_agree_have_as_well_is_not_the_cause() -> None:
    seen = {"attributes": ["seen = 2 (0 at export)"]}
    fine = reference(call=1, apart=0.0, largest=1.0, **seen)
    best = run(fine, reference(training=["drop (Dropout)"], **seen, **PAIR))
    assert "training mode" in best.summary and best.confidence == "proved"
    assert "seen" not in run(fine, reference(**seen, **PAIR)).summary


FAR = {"apart": 0.5, "largest": 1.0, "wrong": 64, "of": 64}
SAME = {"apart": 0.0, "largest": 1.0, "wrong": 0, "of": 64}
KEPT = {**PAIR, "kept": "capture/pair.pt"}


def test_state_that_earlier_calls_of_the_package_changed_is_proved_by_loading_it_anew() -> None:
    pair = {"pair": {"call": 2, "anew": SAME, "weights": 1, "given": SAME}}
    for repeats in ({"verdict": "differs", "stateful": True}, {"verdict": "same"}):
        best = run(reference(**KEPT, moved=["mean"]), trials=pair, repeats=repeats)
        assert (best.category, best.confidence) == ("user_code", "proved")
        assert "mean" in best.summary
        assert (best.source[0].file, best.source[0].line) == ("/t/serve.py", 31)


@pytest.mark.parametrize(
    ("trial", "confidence"),
    [
        ({"given": SAME}, "proved"),
        ({"given": FAR, "program": SAME, "left": ["fc.bias"]}, "proved"),
        ({"given": FAR, "program": FAR}, "likely"),
    ],
)
def test_changed_weights_are_proved_where_the_result_follows_them(
    trial: dict[str, Any], confidence: str
) -> None:
    changed = reference(**KEPT, changed=["fc.weight", "fc.bias"], changed_count=2)
    best = run(changed, trials={"pair": {"call": 2, "anew": FAR, "weights": 1, **trial}})
    assert (best.category, best.confidence) == ("user_code", confidence)
    assert "fc.weight" in best.summary


def test_a_program_that_gives_the_reference_with_its_own_weights_clears_the_weights() -> None:
    pair = {"call": 2, "anew": FAR, "weights": 1, "given": FAR, "program": SAME}
    blamed, cleared = (
        observed(reference(**PAIR), verdict="differs", trials={"pair": {**pair, "own": own}})
        for own in (FAR, SAME)
    )
    assert diagnose(blamed)[0].category == "constants_mismatch"
    assert all(one.category != "constants_mismatch" for one in diagnose(cleared))


def test_inputs_that_differ_are_proved_by_giving_the_package_those_of_the_reference() -> None:
    written = reference(**KEPT, written=[0])
    for outcome, confidence in ((SAME, "proved"), (FAR, "likely")):
        best = run(written, trials={"pair": {"call": 2, "anew": outcome}})
        assert (best.category, best.confidence) == ("user_code", confidence)
        assert "frames" in best.summary


def test_an_overflow_of_the_reference_alone_is_named_where_float64_agrees_with_the_package() -> (
    None
):
    held = {"index": 0, "verdict": "agrees", "dtype": "float32", "package": {"max": 7.9}}
    values = {"verdict": "agrees", "outputs": [{**held, "eager": {"inf": 1}}]}
    apart = reference(**{**PAIR, "apart": 1e-3, "unlike": 1})
    best = run(apart, compared=values)
    assert (best.category, best.confidence) == ("nan_or_inf", "likely")
    assert "1 Inf" in best.summary
    assert run(reference(**PAIR), compared=values).category != "nan_or_inf"
    assert run(apart, compared=values, code=0).category == "no_fault"


def test_calls_of_two_packages_that_overlap_need_no_lock() -> None:
    def served(*instances: int) -> Diagnosis:
        loads = [
            line
            for n in {*instances}
            for line in (begin(60 + n, "load", instance=n, run_single_threaded=True), end(60 + n))
        ]
        calls = [
            {**called(LEAF, thread=f"t{n}", instance=instance), "id": 70 + n, "call": 3 + n}
            for n, instance in enumerate(instances)
        ]
        return run(*loads, *calls, *(end(70 + n) for n, _ in enumerate(instances)), code=0)

    assert served(1, 1).category == "concurrency"
    assert served(1, 2).category == "no_fault"


def test_a_load_that_was_tried_again_is_not_what_failed() -> None:
    refused = [begin(50, "load"), end(50, ok=False), begin(51, "load"), end(51)]
    assert run(*refused).summary == run().summary


def test_a_package_that_was_compiled_for_an_earlier_module_is_named_with_its_load() -> None:
    kinds = (("lower", 20), ("load", 21), ("load", 22))
    begun = [begin(50 + n, kind, caller=["/t/store.py", n]) for kind, n in kinds]
    ended = [end(50 + n) for _, n in kinds]
    best = run(*begun, *ended, reference(**KEPT, another=True))
    assert best.category == "user_code" and "compiled earlier" in best.summary
    assert (best.source[0].file, best.source[0].line) == ("/t/store.py", 22)


def test_weights_that_differ_are_found_where_no_program_is_known() -> None:
    pair = {"pair": {"call": 2, "anew": FAR, "weights": 2, "given": SAME}}
    best = run(reference(**KEPT), trials=pair, verdict="unknown")
    assert (best.category, best.confidence) == ("constants_mismatch", "proved")


def test_a_reference_that_differs_and_gives_the_same_is_no_cause() -> None:
    same = reference(attributes=["scale = 2 (1 at export)"], **{**PAIR, "apart": 0.0})
    assert "scale" not in run(same).summary


def test_a_reference_that_is_apart_by_rounding_makes_the_tolerance_the_cause() -> None:
    best = run(reference(**{**PAIR, "apart": 1e-6}))
    assert best.category == "false_alarm" and "1e-06 apart" in best.summary
    assert run(reference(**{**PAIR, "apart": 0.0})).category == "user_code"
    assert run(reference(**{**PAIR, "apart": 1e-6}), code=2).category == "user_code"
    held = {"index": 0, "verdict": "agrees", "dtype": "float32", "package": {"nan": 4}}
    values = {"verdict": "agrees", "outputs": [{**held, "eager": {"nan": 4}}]}
    assert run(reference(**{**PAIR, "apart": 1e-6}), compare=values).category == "nan_or_inf"


def test_a_printed_difference_that_is_far_larger_is_not_of_package_and_module() -> None:
    seen = observed(reference(**{**PAIR, "apart": 1e-6}))
    for number, category in ((0.4, "user_code"), (2e-6, "false_alarm")):
        printed = PrintedDifference(Span("stdout.log", 1, 1, ""), number)
        assert diagnose(replace(seen, records=(printed,)))[0].category == category


def test_results_far_from_the_program_are_named_though_float64_is_nearer_to_them() -> None:
    ends = {"eager": {"min": -1.0, "max": 1.0}, "dtype": "float32", "max_abs_apart": 0.5}
    far = {"outputs": [{"index": 0, "verdict": "agrees", **ends}]}
    near = {"outputs": [{**far["outputs"][0], "max_abs_apart": 1e-6}]}
    found = run(compared=far)
    assert found.category == "wrong_result" and "up to 0.5 apart" in found.summary
    assert run(compared=near).category != "wrong_result"
    assert run(compared=far, code=0).category == "no_fault"


def test_a_reference_in_another_dtype_is_said_and_not_proved() -> None:
    best = run(reference(**PAIR, another=True, dtypes=["float32", "bfloat16"]))
    assert "computes in float32, the exported program in bfloat16" in best.summary
    assert best.confidence == "likely"


def test_state_that_calls_of_the_module_change_is_told_from_weights() -> None:
    best = run(reference(changed=["floor"], changed_count=1, moved=["floor"], **PAIR))
    assert "each call of the module changes floor" in best.summary


@pytest.mark.parametrize(
    ("given", "category", "words"),
    [
        (["a.weight"], "constants_missing", "was not given 1 of"),
        (["a.weight", "b.weight"], "user_code", "other values"),
        ([], "user_code", "2 weights of the reference changed"),
    ],
)
def test_weights_of_the_reference_are_held_against_those_that_were_loaded(
    given: list[str], category: str, words: str
) -> None:
    names = [{"name": name} for name in given]
    load = begin(9, "constants", constants=names, caller=["/t/push.py", 5])
    loads = [load, end(9)] if given else []
    changed = reference(changed=["a.weight", "b.weight"], changed_count=2, **PAIR)
    best = run(*loads, changed)
    assert best.category == category and words in best.summary, best.summary
    if category == "constants_missing":
        assert best.source[0].file == "/t/push.py"


def test_results_that_stay_apart_after_an_update_are_a_symptom_of_a_script_that_ends_well() -> None:
    load = begin(9, "constants", constants=[{"name": "a.weight"}], caller=["/t/push.py", 5])
    apart = reference(changed=["b.weight"], changed_count=1, **PAIR)
    assert run(load, end(9), apart, code=0).category == "constants_missing"
    near = reference(**{**PAIR, "apart": 0.0, "wrong": 0})
    assert run(load, end(9), apart, near, code=0).category == "no_fault"
    assert run(load, end(9), near, apart, code=0).category == "no_fault"  # it changed since
    assert run(apart, load, end(9), code=0).category == "no_fault"


def test_a_reference_that_a_generator_makes_later_is_to_be_evaluated_at_once() -> None:
    changed = reference(changed=["a.weight"], changed_count=1, **PAIR)
    plain, lazy = run(changed), run({**changed, "lazy": ["/t/publish.py", 44]})
    assert len(lazy.fixes) == len(plain.fixes) + 1 and lazy.summary == plain.summary
    assert "list(" in lazy.fixes[0].what and lazy.fixes[0].where == "check.py:12"
    assert ("/t/publish.py", 44) in [(one.file, one.line) for one in lazy.source]


def test_rows_that_the_package_was_never_given_are_a_cause_where_they_were_to_be_compared() -> None:
    best = run(reference(rows=[3, 8]))
    assert "3 of 8 reference rows" in best.summary and best.source[0].line == 32
    same, warm_up = reference(**{**PAIR, "apart": 1e-6}), reference(rows=[3, 8])
    assert "rows" in run(same, warm_up).summary
    assert "rows" not in run(same, {**warm_up, "caller": ["/t/check.py", 3]}).summary


def test_an_output_that_changes_after_it_was_returned_names_both_calls() -> None:
    best = run(memory={"changed": [[1, 0]]})
    assert "output 0 of call 1 changed after it was returned, by the end of call 2" in best.summary
    assert run(memory={"changed": [[1, 0]]}, code=0).category == "no_fault"


def test_nan_that_the_model_gives_in_most_calls_is_not_what_a_script_complains_of() -> None:
    begun = [{**called(LEAF), "id": number, "call": number} for number in (1, 2, 3)]
    masked = [{"shape": [4, 3], "dtype": "float32", "device": "cpu", "nan": 3, "inf": 0}]
    log = [line for one in begun for line in (one, end(one["id"], outputs=masked))]
    reports = read_reports({"steps": {"compare": {"state": "done", "verdict": "agrees"}}}, "r.json")
    seen = Observations((), events(*log), Ending(code=1), checks=reports)
    assert diagnose(seen)[0].category == "user_code"
    whole = [{**masked[0], "nan": 12}]
    log = [line for one in begun for line in (one, end(one["id"], outputs=whole))]
    assert diagnose(replace(seen, run=events(*log)))[0].category == "nan_or_inf"


def test_a_call_in_a_forked_child_that_does_not_return_blames_the_fork() -> None:
    best = run(*FORK)
    assert (best.category, best.confidence) == ("hang", "likely")
    assert "OpenMP" in best.summary


FORK = [{"event": "process", "argv": ["serve.py"]}, {**called(LEAF), "pid": 8}]
WROTE = {"wrote": [{"op": "lib::scale", "argument": "out", "stack": "", "places": {}}]}
SORTS = PutBack("order", SourceLine(file="/t/serve.py", line=9))
DRAWN = {"random": ["aten.rand.default"], "drawn": ""}
# Of each kind of cause the smallest run that must raise it, and one that must not.
SAMPLES: dict[str, tuple[Observations, Observations]] = {
    "fork": (observed(*FORK), observed(*FORK[:1])),
    "randomness": (
        observed(verdict="random", compared=DRAWN),
        observed(verdict="random", compared=DRAWN, code=0),
    ),
    "reference": (
        observed(reference(training=["norm (BatchNorm1d)"])),
        observed(reference(training=["norm (BatchNorm1d)"]), code=0),
    ),
    "rows": (
        observed(reference(alike=[3, 3, 3], asked="0f")),
        observed(reference(alike=[2, 3, 3], asked="0f")),
    ),
    "shared_memory": (observed(memory={"overwritten": [0]}), observed()),
    "sorted_back": (
        replace(observed(), put_back=SORTS),
        replace(observed(code=0), put_back=SORTS),
    ),
    "tolerance": (
        observed(reference(**{**PAIR, "apart": 1e-6})),
        observed(reference(**{**PAIR, "apart": 0.0})),
    ),
    "undeclared_write": (
        observed(verdict="differs", writes=WROTE),
        observed(verdict="agrees", writes=WROTE),
    ),
}


def kinds_of_cause() -> dict[str, Any]:
    """Return the modules of causes that are found in what was observed."""
    names = [one.name for one in pkgutil.iter_modules(hypotheses.__path__)]
    found = {n: importlib.import_module(f"aoti_debug.hypotheses.{n}") for n in names}
    return {name: module for name, module in found.items() if hasattr(module, "candidates")}


def test_each_kind_of_cause_is_raised_by_its_sample_and_not_by_the_one_beside_it() -> None:
    kinds = kinds_of_cause()
    assert set(SAMPLES) == set(kinds)
    for name, (must, must_not) in SAMPLES.items():
        assert [c.role for c in kinds[name].candidates(must)] == ["cause"], name
        assert not list(kinds[name].candidates(must_not)), name
