"""Real architectures on the CPU: healthy calls, and indices past a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from triages import Triaged, triage_all

SCRIPT = Path(__file__).parents[1] / "targets" / "architectures.py"
NAMES = ("bert", "gpt2", "conv", "bag")
STEPS = ("first run", "contract", "guards", "compare", "repeats", "poison")
# model and case -> operator, input and its element, bound, what the summary says
FAULTS = {
    ("bag", "ids"): ("embedding_bag", "ids", "77 at [5]", "0 <= value < 50", "ids[5] = 77"),
    ("bag", "rows"): ("index_select", "rows", "20 at [1]", "0 <= value < 20", "rows[1] = 20"),
    ("bag", "target"): ("cross_entropy", "target", "9 at [2]", "0 <= value < 7", "target[2] = 9"),
    ("bert", "tokens"): ("embedding", "input_ids", "500 at [1, 3]", "0 <= value < 100", "= 500"),
    ("gpt2", "long"): ("embedding", "input_ids", "20", "<= 16", "input_ids has 20 positions"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("architectures")


@pytest.fixture(scope="module")
def healthy(home: Path, python: str) -> Mapping[str, Triaged]:
    """Triages of the scripts that compile; their exported programs are kept."""
    jobs = {name: (SCRIPT, (str(home), name, "healthy"), {}) for name in NAMES}
    return triage_all(jobs, home, python)


@pytest.fixture(scope="module")
def faulty(healthy: Mapping[str, Triaged], home: Path, python: str) -> Mapping[str, Triaged]:
    """Triages of scripts that load what those have compiled."""
    jobs = {" ".join(case): (SCRIPT, (str(home), *case), {}) for case in FAULTS}
    return triage_all(jobs, home, python)


@pytest.mark.parametrize("name", NAMES)
def test_a_healthy_architecture_has_no_fault(healthy: Mapping[str, Triaged], name: str) -> None:
    answer, best = healthy[name].answer, healthy[name].best
    assert best.category == "no_fault", best.summary
    assert answer.also == []
    done = {step.name for step in answer.steps if step.status == "done"}
    assert done >= set(STEPS)
    assert "values against the exported program, repeats of the call" in best.summary


def test_the_checks_of_a_call_share_one_process(healthy: Mapping[str, Triaged]) -> None:
    assert {healthy[name].best.cost.process_runs for name in NAMES} == {2}  # type: ignore[union-attr]


@pytest.mark.parametrize("case", FAULTS, ids=" ".join)
def test_an_index_past_a_table_is_told_with_operator_bound_and_element(
    faulty: Mapping[str, Triaged], case: tuple[str, str]
) -> None:
    op, name, got, expected, said = FAULTS[case]
    best = faulty[" ".join(case)].best
    assert (best.category, best.confidence) == ("index_out_of_bounds", "proved"), best.summary
    assert said in best.summary
    assert best.kernel is not None or op in best.ops[0]  # a generated kernel's own check names it
    assert [line.file for line in best.source] != []
    assert best.input is not None
    assert (best.input.name, best.input.got, best.input.expected) == (name, got, expected)


def test_an_operator_tells_its_index_where_only_the_package_is_known(
    healthy: Mapping[str, Triaged], home: Path, tmp_path: Path, python: str
) -> None:
    job = (SCRIPT, (str(home), "bag", "ids"), {})
    best = triage_all({"alone": job}, tmp_path, python)["alone"].best
    assert (best.category, best.confidence) == ("index_out_of_bounds", "proved")
    assert "= 77 is outside 0 <= index < 50 in aten._embedding_bag" in best.summary
    assert best.input is not None
    assert best.input.got == "77 at [5]"
