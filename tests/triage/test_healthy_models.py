"""Scripts whose model is used rightly and that fail all the same, or only seem to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from aoti_debug.model import Diagnosis, TriageAnswer

SERVE = Path(__file__).parents[1] / "targets" / "serve.py"
Serve = Callable[..., TriageAnswer]


@pytest.fixture(scope="module")
def serve(built, triage_in) -> Serve:
    return lambda case, **options: triage_in(built.home, SERVE, built.directory, case, **options)


def best(answer: TriageAnswer) -> Diagnosis:
    assert answer.diagnosis is not None
    return answer.diagnosis


def line_of(text: str) -> int:
    lines = SERVE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_text_that_a_healthy_script_prints_is_no_fault(serve: Serve) -> None:
    found = best(serve("prints"))
    assert found.category == "no_fault"
    assert "was printed, but no call failed" in found.misleading[0]


def test_nan_that_the_script_gives_to_the_model_is_the_scripts_own(serve: Serve) -> None:
    found = best(serve("given_nan"))
    assert found.category == "user_code"
    assert "x of call 1 already holds 1 NaN" in found.summary


def test_nan_that_the_model_makes_is_the_reason_of_an_exception_after_it(serve: Serve) -> None:
    answer = serve("nan_raises")
    assert best(answer).category == "nan_or_inf"
    assert best(answer).fixes
    assert [other.category for other in answer.also] == ["user_code"]


def test_a_crash_after_the_last_call_is_not_blamed_on_the_model(serve: Serve) -> None:
    answer = serve("crashes")
    found = best(answer)
    assert found.category == "host_segfault"
    assert "after call 1 of the loaded model had returned, not in the model" in found.summary
    assert found.source[0].line == line_of("ctypes.string_at")
    assert not found.next


def test_threads_that_wait_for_each_other_are_shown_where_they_wait(serve: Serve) -> None:
    found = best(serve("waits", timeout_s=12.0))
    assert found.category == "hang"
    assert "no call of a loaded model was under way" in found.summary
    assert [place.line for place in found.source[:1]] == [line_of("with other:")]


def test_an_exit_status_without_a_word_names_no_line(serve: Serve) -> None:
    found = best(serve("exits"))
    assert "exit status 3" in found.summary
    assert not found.source
