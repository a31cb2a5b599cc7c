"""Calls of which only a description was recorded, held against an exported program."""

from __future__ import annotations

import json

import pytest

POSITIONS = """
import torch

class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(50, 4), torch.nn.Embedding(24, 4)

    def forward(self, ids):
        places = self.places(torch.arange(ids.shape[1], device=ids.device) + 2)
        return (self.tokens(ids) + places).reshape(ids.shape[0], -1, 8).sum(-1)

free = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
program = torch.export.export(Positions(), (torch.zeros(4, 12, dtype=torch.int64),),
                              dynamic_shapes=(free,))
torch.export.save(program, "positions.pt2")
"""


def ids(rows, columns, low=0, high=49, **more):
    described = {
        "index": 0,
        "position": 0,
        "name": "ids",
        "kind": "tensor",
        "value": None,
        "shape": [rows, columns],
        "stride": [columns, 1],
        "dtype": "int64",
        "minimum": low,
        "maximum": high,
        "min_at": [0, 0],
        "max_at": [1, 2],
    }
    return {**described, **more}


GIVEN = (
    ids(4, 12),
    ids(3, 22, None, None),
    ids(4, 12, 0, 50),
    ids(4, 12, -1, 3),
    ids(4, 24),
    ids(4, 12, kind="other"),
    ids(3, 11),
    {**ids(1, 1), "index": None, "kind": "int", "value": 3},
)


@pytest.fixture(scope="module")
def python(warm_python: str) -> str:
    return warm_python


@pytest.fixture(scope="module")
def told(run_file, check, tmp_path_factory):
    """Return what was found of each call, in the order of GIVEN."""
    directory = tmp_path_factory.mktemp("recorded")
    (directory / "export.py").write_text(POSITIONS)
    ran = run_file(directory, "export.py")
    assert ran.code == 0, ran.stderr
    calls = [{"pid": 7, "call": n, "inputs": [one]} for n, one in enumerate(GIVEN)]
    (directory / "calls.json").write_text(json.dumps(calls))
    paths = {"exported": directory / "positions.pt2", "calls": directory / "calls.json"}
    found = check(directory, paths, "--steps", "calls,guards")
    assert found["calls"]["state"] == "done", found
    assert found["guards"]["why"] == "the inputs of the call are not kept"
    return found["calls"]["calls"]


def test_calls_that_fit_break_nothing(told):
    for one in told[:2]:
        assert one["state"] == "held"
        assert (one["differences"], one["broken"], one.get("index")) == ([], [], None)


@pytest.mark.parametrize(("number", "value", "at"), [(2, 50, [1, 2]), (3, -1, [0, 0])])
def test_the_extremes_of_an_input_are_held_against_the_table_that_it_indexes(
    told, number, value, at
):
    found = told[number]["index"]
    assert (found["lower"], found["upper"], found["value"]) == (0, 50, value)
    assert found["input"] == {"index": 0, "name": "ids", "at": at}
    assert "self.tokens(ids)" in told[number]["node"]["stack"]


def test_indices_that_the_model_makes_of_a_size_are_computed_from_the_recorded_size(told):
    found = told[4]["index"]
    assert (found["upper"], found["value"]) == (24, 24)
    assert found["size"] == {"index": 0, "name": "ids", "dim": 1, "size": 24}
    assert "self.places(" in told[4]["node"]["stack"]


def test_what_was_recorded_too_briefly_is_not_called_held(told):
    assert told[5] == {"pid": 7, "call": 5, "state": "unknown", "why": "ids is no plain tensor"}


def test_guards_and_kinds_of_arguments_are_held_too(told):
    broken = [*told[6]["broken"], *(d["expected"] for d in told[6]["differences"])]
    assert any("2" in text for text in broken), told[6]  # 4 * 11 * 3 is not divisible by 8
    assert [one["property"] for one in told[7]["differences"]] == ["type"]
