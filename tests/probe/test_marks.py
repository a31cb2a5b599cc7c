"""Tensors are known again by a few of their elements."""

from __future__ import annotations

import subprocess

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
