"""An index that sorts the inputs and then puts results back into order, and what only looks so."""

from __future__ import annotations

import ast

import pytest
from aoti_debug.triage.put_back import paired, put_back
from aoti_debug.verify.script_checks import changes

ONE = """
def score(model, rows):
    order = rows.sum(1).argsort(descending=True)
    return model(rows[order])[order]
"""
TWO = """
def pack(rows):
    order = np.argsort([-len(row) for row in rows])
    return [rows[n] for n in order], torch.from_numpy(order)


class Service:
    def score(self, rows):
        rows, order = pack(rows)
        scores = self.model(rows)
        return scores[order]
"""
SORT = """
def score(model, rows):
    values, order = rows.sort(0)
    parts = [model(rows[n]) for n in order.tolist()]
    return torch.stack(parts).index_select(0, order)
"""
INVERSE = ONE.replace("[order]\n", "[order.argsort()]\n")
SCATTERED = """
def score(model, rows):
    order = rows.sum(1).argsort()
    scores, found = model(rows[order]), torch.empty(len(rows))
    found[order] = scores
    return found
"""
PAIRED = """
def answer(model, group):
    by_length = sorted(group, key=len, reverse=True)
    rows, mask = pad(by_length)
    vectors = model(rows, mask).cpu()
    for request, vector in zip(group, vectors):
        request.vector = vector
"""
RANKED = """
def best(model, rows, count):
    order = model(rows).argsort(descending=True)
    return rows[order]
"""


@pytest.mark.parametrize(("text", "line"), [(ONE, 4), (TWO, 11), (SORT, 5)])
def test_the_line_that_sorts_twice_is_found(text: str, line: int) -> None:
    (found,) = put_back(ast.parse(text))
    assert (found.id, found.lineno) == ("order", line)


def test_results_of_what_was_sorted_are_not_those_of_the_group() -> None:
    ((found, instead),) = paired(ast.parse(PAIRED))
    assert (found.id, found.lineno, instead) == ("group", 6, "by_length")
    right = (
        PAIRED.replace("zip(group", "zip(by_length"),
        PAIRED.replace("pad(by_length)", "pad(group)"),
        PAIRED.replace("    by_length =", "    group.sort(key=len)\n    by_length ="),
    )
    assert not any(paired(ast.parse(text)) for text in right)


def test_what_sorts_may_be_in_another_file_and_the_result_have_a_name() -> None:
    service, pack = TWO[TWO.index("class") :], TWO[: TWO.index("class")]
    named = service.replace("return scores[order]", "found = scores[order]\n        return found")
    (found,) = put_back(ast.parse(named), [ast.parse(pack)])
    assert (found.id, found.lineno) == ("order", 5)
    assert not put_back(ast.parse(named))


@pytest.mark.parametrize("text", [INVERSE, SCATTERED, RANKED])
def test_an_inverse_and_a_ranking_are_left_alone(text: str) -> None:
    assert not put_back(ast.parse(text))


def test_a_fix_that_leaves_no_such_line_undoes_it() -> None:
    other = "def check(): pass"
    assert changes([ONE, other], [INVERSE, other]).undoes
    assert changes([TWO], [TWO.replace("[order]", "[order.argsort()]")]).undoes
    assert not changes([ONE, other], [INVERSE, "def check(): return"]).undoes
    assert not changes([ONE, other], [ONE, "def check(): return"]).undoes
    assert not changes([INVERSE], [RANKED]).undoes
