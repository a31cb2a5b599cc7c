"""Exports and lowerings that really fail: each answer names the place in the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from triages import Triaged, triage_all

SCRIPT = Path(__file__).parents[1] / "targets" / "failing_export.py"
CASES = ("sizes", "constant", "mamba", "xlnet", "loop", "codegen", "lowering")


@pytest.fixture(scope="module")
def triaged(tmp_path_factory: pytest.TempPathFactory, python: str) -> Mapping[str, Triaged]:
    home = tmp_path_factory.mktemp("home")
    package = str(home / "package.pt2")
    return triage_all({case: (SCRIPT, (case, package), {}) for case in CASES}, home, python)


def line_of(text: str) -> int:
    lines = SCRIPT.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_each_size_that_cannot_vary_is_told_with_its_guard_and_sizes(triaged) -> None:
    found = triaged["sizes"].best
    assert (found.category, found.phase, found.confidence) == (
        "lowering_error",
        "export",
        "proved",
    )
    assert "width (dimension 1 of x)" in found.summary
    assert "(width % (width // 4)) == 0, of 2 to 64 broken by 2, 3, 9, 11, 13" in found.summary
    assert "batch <= 7, of 2 to 64 broken by 8, 9" in found.summary
    assert "other == batch" in found.summary


def test_the_lines_that_made_the_guards_are_named(triaged) -> None:
    lines = {(line.file, line.line) for line in triaged["sizes"].best.source}
    wanted = ("groups = x.reshape", "if x.shape[0] > 7")
    assert {(str(SCRIPT), line_of(text)) for text in wanted} <= lines


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
    assert "in range(" in (found.source[0].text or "")


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
    assert (found.source[0].file, found.source[0].line) == (str(SCRIPT), line_of(line))


def test_a_failing_pass_over_the_graph_names_the_node_it_was_at(triaged) -> None:
    found = triaged["loop"].best
    assert "rewriting the graph: while_loop = " in found.summary
    assert found.source[0].file == str(SCRIPT)
