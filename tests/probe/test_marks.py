"""Tensors are known again by a few of their elements."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe.conftest import printed

MARKS = """
import torch
from probe import marks

one = torch.arange(float({rows} * {columns})).reshape({rows}, {columns})
one[:, 0] = float("nan")
other = one + 1
print(marks.of(one).value == marks.of(other).value, marks.keys(marks.rows([one[None]])) ==
      marks.keys(marks.rows([other[None]])), marks.of(one).value == marks.of(one.clone()).value)
"""


@pytest.mark.parametrize(("rows", "columns"), [(96, 48), (64, 1024), (33, 32), (2, 2)])
def test_tensors_whose_first_column_is_nan_are_told_apart_by_the_others(
    warm_python: str, tmp_path: Path, rows: int, columns: int
) -> None:
    source = MARKS.format(rows=rows, columns=columns)
    assert printed(tmp_path, source, warm_python).split() == ["False", "False", "True"]


NEAR = """
import torch
from probe import marks

one = torch.rand(4, 16)
others = one * (1 + 1e-6), one + 0.1, one.to(torch.float64), one > 0.5, one[:2]
print(*(marks.near(marks.of(one), marks.of(other)) for other in others))
"""


def test_values_that_differ_by_rounding_alone_are_near(warm_python: str, tmp_path: Path) -> None:
    assert printed(tmp_path, NEAR, warm_python).split() == ["True", *["False"] * 4]


ATTRIBUTES = """
import torch
from probe import exported


class Clock:
    def __init__(self):
        self.offset, self.zones = 2.0, []


model = torch.nn.Sequential(torch.nn.Dropout(0.5))
model[0].clock = Clock()
print(exported._attributes(model))
weight = torch.randn(64)
known, short = exported._known(weight), weight.to(torch.bfloat16)
print(*(exported._alike(one, known) for one in (short, short * 2, short.double() + 1e-3)))
"""


TRAINING = """
from torch import nn
from probe import exported

class Plain(nn.Module):
    def forward(self, x):
        return x

class Skips(Plain):
    def forward(self, x):
        return x if self.training else -x

print(sorted(exported._training(nn.Sequential(Plain(), Skips(), nn.ReLU(), nn.Dropout(0.1)))))
print(sorted(exported._training(Skips())), sorted(exported._training(Skips().eval())))
"""


def test_modules_act_otherwise_in_training_where_their_code_asks(
    warm_python: str, tmp_path: Path
) -> None:
    assert printed(tmp_path, TRAINING, python=warm_python).splitlines() == [
        "['1 (Skips)', '3 (Dropout)']",
        "['Skips'] []",
    ]


def test_what_a_module_holds_is_known_again(warm_python: str, tmp_path: Path) -> None:
    said = printed(tmp_path, ATTRIBUTES, warm_python)
    assert "'0.clock.offset': 2.0" in said
    assert "'0.p': 0.5" in said and "zones" not in said
    assert said.endswith("True False False\n"), "rounded to the coarser dtype"


MISNAMED = """
import torch
from probe import exported

model = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(3)))
for given in ("012", "01", "120"):
    weights = {f"{n}.weight": model[int(of)].weight.detach() for n, of in enumerate(given)}
    exported.given(weights)
    print(exported.misnamed(weights).get("swapped"))
"""


def test_weights_that_are_given_under_names_of_others_are_found(
    warm_python: str, tmp_path: Path
) -> None:
    same, part, moved = printed(tmp_path, MISNAMED, python=warm_python).splitlines()
    assert (same, part) == ("None", "None")
    assert moved == str([[f"{n}.weight", f"{(n + 1) % 3}.weight"] for n in range(3)])
