from __future__ import annotations

from typing import Any

import pytest
from aoti_debug.model import Diagnosis, Evidence, TriageAnswer, ValueRow
from aoti_debug.tools.fit import LIMIT, answer, fit, size

KEEP = frozenset({"run", "notes"})


def test_what_fits_is_sent_as_it_is():
    document = {"run": "r-1", "observed": ["a" * 3000, "b" * 3000]}
    assert fit(document, keep=KEEP) == document


def test_long_texts_lose_their_middle_first():
    fitted = fit({"run": "r-1", "observed": ["a" * 9000 + "the end"]}, keep=KEEP)
    assert fitted["observed"][0].endswith("the end")
    assert "characters…]" in fitted["observed"][0]
    assert "1 long texts cut" in fitted["notes"][-1]


def test_long_lists_lose_their_end_and_it_is_said():
    files = [f"steps/{number:04}/stdout.log" for number in range(2000)]
    fitted = fit({"run": "r-1", "artifacts": files}, keep=KEEP)
    assert fitted["artifacts"] == files[: len(fitted["artifacts"])]
    left_out = 2000 - len(fitted["artifacts"])
    assert f"{left_out} of artifacts left out" in fitted["notes"][-1]


def test_shapes_and_names_are_never_cut():
    document: dict[str, Any] = {
        "run": "r-1",
        "inputs": [{"shape": list(range(100)), "file": "f" * 300} for _ in range(3)],
        "text": "x" * 20_000,
    }
    fitted = fit(document, keep=KEEP)
    assert fitted["inputs"] == document["inputs"]


@pytest.mark.parametrize("width", [10, 100, 1000])
@pytest.mark.parametrize("depth", [1, 100, 3000])
def test_anything_fits_in_the_end(width, depth):
    document = {
        "run": "r-1",
        **{f"field{number}": {f"k{i}": "y" * width for i in range(depth)} for number in range(9)},
    }
    fitted = fit(document, keep=KEEP)
    assert size(fitted) <= LIMIT
    assert fitted["run"] == "r-1"


def test_same_answer_is_cut_the_same_way():
    document = {"run": "r-1", "observed": [f"{number} " * 50 for number in range(500)]}
    assert fit(document, keep=KEEP) == fit(document, keep=KEEP)


def test_huge_triage_keeps_its_diagnosis():
    diagnosis = Diagnosis(
        phase="run",
        category="nan_or_inf",
        confidence="likely",
        summary="buf3 becomes NaN",
        evidence=[Evidence(artifact="a.log", lines=(n, n), quote="q" * 500) for n in range(99)],
    )
    result = answer(
        TriageAnswer(run="r-1", status="done", diagnosis=diagnosis, also=[diagnosis] * 20)
    )
    document = result.structured_content
    assert document is not None
    assert size(document) <= LIMIT
    assert document["diagnosis"]["summary"] == "buf3 becomes NaN"
    assert TriageAnswer.model_validate(document).diagnosis is not None


def test_of_many_values_those_around_the_mark_are_sent():
    rows = [ValueRow(node=f"node_{n}", op="aten.mul.Tensor", number=n) for n in range(1, 49)]
    rows[30] = rows[30].model_copy(update={"mark": "first NaN"})
    found = Diagnosis(
        phase="output", category="nan_or_inf", confidence="proved",
        summary="s" * 5000, values=rows,
    )  # fmt: skip
    sent = answer(TriageAnswer(run="r-1", status="done", diagnosis=found)).structured_content
    assert sent is not None and size(sent) <= LIMIT
    numbers = [row["number"] for row in sent["diagnosis"]["values"]]
    assert len(numbers) == 12 and 31 in numbers
    assert sent["diagnosis"]["summary"] == "s" * 5000
