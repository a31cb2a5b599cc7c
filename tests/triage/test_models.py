"""Real architectures on the CPU, healthy or with indices past a table; exports and lowerings that
really fail: each answer names the place in the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from programs import Job, Triaged, triage_all

TARGETS = Path(__file__).parents[1] / "targets"
ARCHITECTURES, FAILING = TARGETS / "architectures.py", TARGETS / "failing_export.py"
NAMES = ("gpt2", "conv", "bag")  # bert is in tests/zoo
STEPS = ("first run", "contract", "guards", "compare", "repeats", "poison")
# model and case -> operator, input and its element, bound, what the summary says
FAULTS = {
    ("bag", "ids"): ("embedding_bag", "ids", "77 at [5]", "0 <= value < 50", "ids[5] = 77"),
    ("bag", "rows"): ("index_select", "rows", "20 at [1]", "0 <= value < 20", "rows[1] = 20"),
    ("bag", "target"): ("cross_entropy", "target", "9 at [2]", "0 <= value < 7", "target[2] = 9"),
    ("gpt2", "tokens"): ("embedding", "input_ids", "500 at [1, 3]", "0 <= value < 100", "= 500"),
    ("gpt2", "long"): ("embedding", "input_ids", "20", "<= 16", "input_ids has 20 positions"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("architectures")


def job(home: Path, *case: str) -> Job:
    return ARCHITECTURES, (str(home), *case), {}


@pytest.fixture(scope="module")
def healthy(home, python) -> Mapping[str, Triaged]:
    """Triages of the scripts that compile; their exported programs are kept."""
    return triage_all({name: job(home, name, "healthy") for name in NAMES}, home, python)


@pytest.fixture(scope="module")
def faulty(healthy, home, python) -> Mapping[str, Triaged]:
    """Triages of scripts that load what those have compiled."""
    return triage_all({" ".join(case): job(home, *case) for case in FAULTS}, home, python)


@pytest.mark.parametrize("name", NAMES)
def test_a_healthy_architecture_has_no_fault_and_its_checks_share_one_process(
    healthy, name: str
) -> None:
    answer, best = healthy[name].answer, healthy[name].best
    assert best.category == "no_fault", best.summary
    assert answer.also == []
    done = {step.name for step in answer.steps if step.status == "done"}
    assert done >= set(STEPS)
    apart = r"(?:without any difference|at most .+ rounding\))"
    values = rf"values against the exported program \({apart}\), repeats of the call"
    assert re.search(values, best.means)
    assert best.cost.process_runs == 2


def test_a_last_call_of_one_row_that_a_check_alone_refuses_has_no_fault(
    healthy, home, python
) -> None:
    best = triage_all({"one": job(home, "gpt2", "one")}, home, python)["one"].best
    assert best.category == "no_fault"
    assert best.means and "refuse input_ids: size at dim 0 is 1, not >=" in best.means


@pytest.mark.parametrize("case", FAULTS, ids=" ".join)
def test_an_index_past_a_table_is_told_with_operator_bound_and_element(
    faulty, case: tuple[str, str]
) -> None:
    op, name, got, expected, said = FAULTS[case]
    best = faulty[" ".join(case)].best
    assert (best.category, best.confidence) == ("index_out_of_bounds", "proved"), best.summary
    assert said in best.summary
    assert best.kernel is not None or op in best.ops[0]  # a generated kernel's own check names it
    assert best.source != []
    assert (best.input.name, best.input.got, best.input.expected) == (name, got, expected)


def test_an_operator_tells_its_index_where_only_the_package_is_known(
    healthy, home, tmp_path: Path, python
) -> None:
    best = triage_all({"alone": job(home, "bag", "ids")}, tmp_path, python)["alone"].best
    assert (best.category, best.confidence) == ("index_out_of_bounds", "proved")
    assert "= 77 is outside 0 <= index < 50 in aten._embedding_bag" in best.summary
    assert best.input is not None and best.input.got == "77 at [5]"


CASES = ("sizes", "constant", "mamba", "xlnet", "loop", "codegen", "lowering")


@pytest.fixture(scope="module")
def triaged(tmp_path_factory, python) -> Mapping[str, Triaged]:
    home = tmp_path_factory.mktemp("home")
    package = str(home / "package.pt2")
    return triage_all({case: (FAILING, (case, package), {}) for case in CASES}, home, python)


def line_of(text: str) -> int:
    lines = FAILING.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_each_size_that_cannot_vary_is_told_with_its_guard_and_sizes(triaged) -> None:
    found = triaged["sizes"].best
    outcome = (found.category, found.phase, found.confidence)
    assert outcome == ("lowering_error", "export", "proved")
    assert "width (dimension 1 of x)" in found.summary
    assert "(width % (width // 4)) == 0, of 2 to 64 broken by 2, 3, 9, 11, 13" in found.summary
    assert "batch <= 7, of 2 to 64 broken by 8, 9" in found.summary
    assert "other == batch" in found.summary


def test_the_lines_that_made_the_guards_are_named(triaged) -> None:
    lines = {(line.file, line.line) for line in triaged["sizes"].best.source}
    wanted = ("groups = x.reshape", "if x.shape[0] > 7")
    assert {(str(FAILING), line_of(text)) for text in wanted} <= lines


def test_torchs_suggestion_is_a_dim_to_paste(triaged) -> None:
    fixes = [fix.what for fix in triaged["sizes"].best.fixes]
    assert "batch = torch.export.Dim('batch', max=7)" in fixes
    assert "width = 4*torch.export.Dim('_width', min=1, max=16)" in fixes
    assert "other = batch" in fixes


def test_a_size_that_the_model_fixes_is_told_with_the_line_that_does(triaged) -> None:
    found = triaged["constant"].best
    assert "the model needs width == 12" in found.summary
    assert found.source[0].line == line_of("return self.project(x)")
    assert "leave width out of dynamic_shapes" in found.fixes[0].what


def test_a_loop_over_the_length_in_a_library_is_named_with_its_line(triaged) -> None:
    found = triaged["mamba"].best
    assert "the model needs length == 16" in found.summary
    assert found.source[0].file.endswith("modeling_mamba.py")
    assert "in range(" in found.source[0].text


def test_a_guard_that_no_size_breaks_is_said_to_be_unproved(triaged) -> None:
    found = triaged["xlnet"].best
    assert found.confidence == "likely"
    assert "torch cannot prove; no size of 2 to 64 breaks it" in found.summary
    assert found.source[0].file.endswith("modeling_xlnet.py")
    assert "length = torch.export.Dim.AUTO" in [fix.what for fix in found.fixes]


@pytest.mark.parametrize(
    ("case", "operator", "during", "line"),
    [
        ("codegen", "aten.exp.default", "generating code", "smooth = torch.softmax"),
        ("lowering", "aten.sin.default", "lowering", "return torch.sinc(smooth)"),
    ],
)
def test_whatever_lowering_raises_names_operator_shapes_and_line(
    triaged, case: str, operator: str, during: str, line: str
) -> None:
    found = triaged[case].best
    assert found.category == "lowering_error"
    assert f"Inductor was {during}" in found.summary
    assert "float32[4, 8]" in found.summary
    assert found.ops[0] == operator
    assert (found.source[0].file, found.source[0].line) == (str(FAILING), line_of(line))


def test_a_failing_pass_over_the_graph_names_the_node_it_was_at(triaged) -> None:
    found = triaged["loop"].best
    assert "rewriting the graph: while_loop = " in found.summary
    assert found.source[0].file == str(FAILING)
