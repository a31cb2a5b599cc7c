"""Tensors are known again by a few of their elements."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from probe.conftest import PROBE

MARKS = """
import sys
import torch

sys.path.insert(0, {place!r})
from probe import marks

one = torch.arange(float({rows} * {columns})).reshape({rows}, {columns})
one[:, 0] = float("nan")
other = one + 1
print(marks.of(one).value == marks.of(other).value, marks.keys(marks.rows([one[None]])) ==
      marks.keys(marks.rows([other[None]])), marks.of(one).value == marks.of(one.clone()).value)
"""


@pytest.mark.parametrize(("rows", "columns"), [(96, 48), (64, 1024), (33, 32), (2, 2)])
def test_tensors_whose_first_column_is_nan_are_told_apart_by_the_others(
    warm_python: str, rows: int, columns: int
) -> None:
    source = MARKS.format(place=str(PROBE.parent), rows=rows, columns=columns)
    done = subprocess.run([warm_python, "-c", source], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["False", "False", "True"], done.stderr


ATTRIBUTES = """
import sys
import torch

sys.path.insert(0, {place!r})
from probe import reference


class Clock:
    def __init__(self):
        self.offset, self.zones = 2.0, []


model = torch.nn.Sequential(torch.nn.Dropout(0.5))
model[0].clock = Clock()
print(reference._attributes(model))
weight = torch.randn(64)
known, short = reference._known(weight), weight.to(torch.bfloat16)
print(*(reference._alike(one, known) for one in (short, short * 2, short.double() + 1e-3)))
"""


def test_what_a_module_holds_is_known_again(warm_python: str, tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(ATTRIBUTES.format(place=str(PROBE.parent)), "utf-8")
    done = subprocess.run([warm_python, script], capture_output=True, text=True, timeout=120)
    assert "'0.clock.offset': 2.0" in done.stdout, done.stderr
    assert "'0.p': 0.5" in done.stdout and "zones" not in done.stdout
    assert done.stdout.endswith("True False False\n"), "rounded to the coarser dtype"
