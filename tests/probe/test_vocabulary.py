"""Places in stacks, and whose file they are."""

from __future__ import annotations

import pytest
from aoti_debug.vocabulary import Leaf, Place, model_places, owner, places_in

STACK = """\
  File "/home/u/my model.py", line 3, in forward
    x = self.f(x)
  File "/opt/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(x)
    ^^^^^^^^^^^^^^^^^^
  File "/home/u/f.py", line 5
File "/home/u/g.py", line 6, in g
y
"""


def test_a_stack_gives_its_places_with_their_lines() -> None:
    linear = "/opt/lib/python3.12/site-packages/torch/nn/modules/linear.py"
    assert places_in(STACK) == [
        Place("/home/u/my model.py", 3, "forward", "x = self.f(x)"),
        Place(linear, 134, "forward", "return F.linear(x)"),
        Place("/home/u/f.py", 5),
        Place("/home/u/g.py", 6, "g"),
    ]
    assert [str(place) for place in model_places(STACK)] == [
        "/home/u/my model.py:3",
        "/home/u/f.py:5",
        "/home/u/g.py:6",
    ]


def test_a_stack_of_torch_alone_keeps_its_places() -> None:
    text = 'File "/x/site-packages/torch/_ops.py", line 1, in f\n'
    assert model_places(text) == [Place("/x/site-packages/torch/_ops.py", 1, "f")]
    assert places_in("no frame here, line 3") == []


@pytest.mark.parametrize(
    ("file", "whose"),
    [
        ("/home/u/model.py", "user"),
        ("/home/u/torch/model.py", "user"),  # a folder that is merely called torch
        ("/usr/lib/python3/dist-packages/torch/fx/graph.py", "torch"),
        ("/src/pytorch/torch/nn/modules/linear.py", "torch"),
        ("/src/pytorch/torch/_inductor/graph.py", "torch"),
        ("/v/site-packages/transformers/models/x.py", "library"),
        ("/tmp/torchinductor_u/ab/cab.py", "library"),
        ("/usr/lib/python3.11/contextlib.py", "library"),
        ("<string>", "library"),
    ],
)
def test_a_file_has_one_owner(file: str, whose: str) -> None:
    assert owner(file) == whose


def test_a_leaf_is_made_of_what_the_probe_described() -> None:
    leaf = Leaf.of({"index": 0, "kind": "tensor", "shape": [2, 3], "min": 1, "requires_grad": True})
    assert (leaf.index, leaf.shape, leaf.min, leaf.stride) == (0, (2, 3), 1, None)
