"""How the arguments of a call are nested, held against a call spec."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from aoti_debug.probe.nesting import held, in_order
from aoti_debug.vocabulary import Break, Leaf
from probe.conftest import printed

ASKED = """
import json
from collections import OrderedDict, namedtuple
import torch
from probe import nesting
from torch.utils import _pytree as pytree

a, b, c = (torch.zeros(n) for n in (1, 2, 3))
Two = namedtuple("Two", "key query")
Owt = namedtuple("Owt", "query key")
for kind in (Two, Owt):
    pytree._register_namedtuple(kind, serialized_type_name=kind.__name__)
expected, given = {pair}
spec = pytree.treespec_dumps(pytree.tree_structure(expected))
args, kwargs = given
flat = pytree.tree_leaves(given)
leaves = pytree.tree_leaves(expected)
takes = sum(isinstance(leaf, torch.Tensor) for leaf in leaves)
if {optional}:
    named = ["x", "bias", "mask"]
    others = frozenset(n for n, leaf in enumerate(leaves) if leaf is None)
    found = nesting.breaks(spec, args, kwargs, flat, named, takes, others)
    if found == []:
        found = nesting.missing(args, kwargs, named, others, takes)
else:
    found = nesting.breaks(spec, args, kwargs, flat, ["batch_key", "batch_query"], takes)
print(json.dumps([[b.name, b.expected, b.got, b.index, b.order] for b in found or []]))
"""
Told = Callable[..., list[object]]
PAIR = '(({"key": a, "query": b},), {})'
QUERY_FIRST = ["batch", "key, query", "query, key", 0, [1, 0]]


@pytest.fixture
def told(warm_python: str, tmp_path: Path) -> Told:
    def run(expected: str, given: str, optional: bool = False) -> list[object]:
        source = ASKED.replace("{pair}", f"({expected}, {given})")
        source = source.replace("{optional}", str(optional))
        found: list[object] = json.loads(printed(tmp_path, source, warm_python))
        return found

    return run


@pytest.mark.parametrize(
    ("given", "breaks"),
    [
        ("((a, None, b), {})", []),
        (
            "((a, b, None), {})",
            [["bias", "no tensor", "a tensor", 1, None], ["mask", "a tensor", "None", 2, None]],
        ),
        ("((a, None, None), {})", [["mask", "a tensor", "None", 1, None]]),
        ("((a, 1, b), {})", []),
    ],
)
def test_none_and_tensors_in_each_others_places_are_told(
    told: Told, given: str, breaks: list[object]
) -> None:
    assert told("((a, None, b), {})", given, optional=True) == breaks


@pytest.mark.parametrize(
    ("expected", "given", "breaks"),
    [
        (PAIR, '(({"query": b, "key": a},), {})', [QUERY_FIRST]),
        (PAIR, "((OrderedDict(key=a, query=b),), {})", []),
        (PAIR, '(({"key": a, "no": None, "query": b},), {})', []),
        ('(({"key": a, "no": None, "query": b},), {})', PAIR, []),
        ("((Two(a, b),), {})", "((Owt(b, a),), {})", [QUERY_FIRST]),
        ("((Two(a, b),), {})", PAIR, []),
        ("((Two(a, b),), {})", "(((a, b),), {})", []),
        ("(((a, b),), {})", "((a, b), {})", []),
        ("((a,), {'b': b, 'c': c})", "((a,), {'b': b, 'c': c})", []),
        (
            PAIR,
            '(({"key": a, "query": b, "mask": c},), {})',
            [["batch", "key, query", "key, query, mask", 0, None]],
        ),
        (
            "((a,), {'b': {'x': b, 'y': [c, c]}})",
            "((a,), {'b': {'x': b, 'y': [c]}})",
            [["b['y']", "0, 1", "0", 2, None]],
        ),
        (
            "((a,), {'b': {'x': b, 'y': {'p': c, 'q': a}}})",
            "((a,), {'b': {'x': b, 'y': {'q': a, 'p': c}}})",
            [["b['y']", "p, q", "q, p", 2, [0, 1, 3, 2]]],
        ),
    ],
)
def test_containers_with_other_keys_or_in_another_order_are_told(
    told: Told, expected: str, given: str, breaks: list[object]
) -> None:
    assert told(expected, given) == breaks


def test_leaves_are_judged_in_the_places_of_the_export() -> None:
    leaves = [Leaf(0, 0, "key", shape=(2,)), Leaf(1, 1, "query", shape=(2, 3))]
    placed = in_order(leaves, (1, 0))
    assert [(one.index, one.name, one.shape) for one in placed] == [
        (0, "key", (2, 3)),
        (1, "query", (2,)),
    ]
    moved = Break(0, "batch", "nesting", order=(1, 0))
    assert held([moved], leaves, lambda given: []) == [moved]
    asked: list[tuple[int, ...] | None] = []

    def judged(given: Sequence[Leaf]) -> list[Break]:
        asked.extend(one.shape for one in given)
        return []

    held([moved], leaves, judged)
    assert asked == [(2, 3), (2,)]


def test_nothing_is_said_of_leaves_whose_place_is_not_known() -> None:
    missing = Break(0, "batch", "nesting", order=None)
    odd = Break(1, "mask", "rank")
    assert held([missing], [Leaf(0)], lambda given: [odd]) == [missing]
    assert held([], [Leaf(0)], lambda given: [odd]) == [odd]
