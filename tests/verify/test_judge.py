"""A verdict for each way to make a failure go away; only one of them is a fix."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aoti_debug.minify.signature import Signature
from aoti_debug.verify.judge import CALL, Facts, Trial, judge

ASSERT = Signature("run", "assert", "index out of bounds", ("embedding",))
WRONG = Signature("output", "wrong result")
NONE = Signature(None, None)
GOOD = Trial("the example", package="agrees", model="agrees", reference_finite=True)
FRESH = replace(GOOD, name="fresh inputs 1")
BAD_CALL = Trial(CALL, package="agrees", original_raises="IndexError: index out of range")
FIXED = Facts(
    original=ASSERT,
    category="index_out_of_bounds",
    now=NONE,
    failing_call=2,
    calls=2,
    kernels_before=2,
    kernels=2,
    inputs="",
    trials=(BAD_CALL, GOOD, FRESH),
)
WRONG_FIXED = replace(
    FIXED, original=WRONG, category="wrong_result", trials=(replace(GOOD, name=CALL), GOOD, FRESH)
)
REFUSED = Signature("run", "ValueError", "token id _ is outside the table")


def test_a_right_fix_is_fixed() -> None:
    assert judge(FIXED).verdict == judge(WRONG_FIXED).verdict == "fixed"


def test_refusing_bad_input_with_a_clear_error_is_a_fix() -> None:
    facts = replace(FIXED, now=REFUSED, raised_by_user=True, calls=1, inputs=None)
    assert judge(facts).verdict == "fixed"


def test_refusing_is_no_fix_of_wrong_values() -> None:
    facts = replace(WRONG_FIXED, now=REFUSED, raised_by_user=True)
    assert judge(facts).verdict == "moved"


@pytest.mark.parametrize(
    ("facts", "verdict", "word"),
    [
        (replace(FIXED, now=ASSERT), "not fixed", "still there"),
        (replace(FIXED, now=Signature("lower", "InductorError")), "moved", "another failure"),
        (replace(FIXED, failed_calls=1), "masked", "went on"),
        (replace(FIXED, failed_compiles=1), "masked", "compiles failed"),
        (replace(FIXED, calls=0, kernels=0), "masked", "eager took its place"),
        (replace(FIXED, kernels=0), "masked", "no generated kernel"),
        (replace(FIXED, calls=1), "masked", "makes 1"),
        (replace(FIXED, inputs="input 0 has other values"), "masked", "other inputs"),
        (replace(FIXED, narrowed=("x[0]: 2 to 64 is now 2 to 4",)), "masked", "now 2 to 4"),
        (replace(WRONG_FIXED, trials=(GOOD, replace(FRESH, package="differs"))), "not fixed",
         "fresh inputs 1"),
        (replace(WRONG_FIXED, trials=(GOOD, replace(FRESH, model="differs"))), "masked",
         "something else"),
        (replace(FIXED, trials=(GOOD, replace(FRESH, package_raises="RuntimeError: no"))),
         "not fixed", "raises"),
        (replace(FIXED, died_in="fresh inputs 1"), "not fixed", "ends the process"),
        (replace(FIXED, trials=(), why_no_trials="no package"), "undecided", "no package"),
        (replace(FIXED, inputs=None), "undecided", "could not be compared"),
    ],
)  # fmt: skip
def test_what_is_no_fix_is_not_called_one(facts: Facts, verdict: str, word: str) -> None:
    found = judge(facts)
    assert found.verdict == verdict
    assert word in found.reason


def test_hidden_values_are_masked_and_honest_ones_are_not() -> None:
    call = Trial(CALL, package="agrees", model="differs", package_finite=True)
    facts = replace(WRONG_FIXED, category="nan_or_inf", trials=(call, GOOD, FRESH))
    assert judge(replace(facts, hiding=("nan_to_num",))).verdict == "masked"
    assert judge(facts).verdict == "fixed"
