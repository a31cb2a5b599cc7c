"""The source of custom operators is cut out of the file that defines them, and nothing else."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import aoti_debug

PROBE = Path(aoti_debug.__file__).parent / "probe"
FILE = """
from __future__ import annotations

import ctypes
import torch
import requests_of_another_module

SCALE = 2.0
UNUSED = 3


def helper(x):
    return x * SCALE


@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return helper(x)


@twice.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("theirs::other", mutates_args=())
def other(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.mine.twice(x)


if __name__ == "__main__":
    torch.export.export(Model(), (torch.ones(1),))
"""
LIBRARY = """
import torch

lib = torch.library.Library("mine", "DEF")
lib.define("twice(Tensor x) -> Tensor")


def twice(x):
    return x + x


lib.impl("twice", twice, "CompositeExplicitAutograd")
model = torch.nn.Linear(3, 3)
"""


def cut(text: str) -> str:
    sys.path.insert(0, str(PROBE.parent))
    try:
        from aoti_debug.probe.operator_source import cut as probe_cut
    finally:
        sys.path.pop(0)
    return probe_cut(text, "mine")


def test_an_operator_comes_with_its_fake_kernel_and_what_it_uses() -> None:
    found = cut(FILE)
    ast.parse(found)
    for wanted in ("mine::twice", "register_fake", "def helper", "SCALE = 2.0", "import torch"):
        assert wanted in found


def test_the_model_other_operators_and_unused_names_stay_behind() -> None:
    found = cut(FILE)
    for unwanted in ("class Model", "theirs::other", "UNUSED", "requests_of", "__main__"):
        assert unwanted not in found


def test_operators_of_a_library_object_are_cut_out_too() -> None:
    found = cut(LIBRARY)
    assert "lib.define" in found and "lib.impl" in found and "def twice" in found
    assert "Linear" not in found
