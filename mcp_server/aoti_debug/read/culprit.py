"""Read which part of the compiler the probe found at fault, and the workaround that it tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from aoti_debug.read.check_report import ProbeReport

PASSES = ("pre_grad_passes", "joint_graph_passes", "post_grad_passes")
Stage = Literal[
    "pre_grad_passes",
    "decomposition",
    "joint_graph_passes",
    "post_grad_passes",
    "tracing",  # none of the steps before the lowerings that can be left out
    "code",
    "package",  # torch.compile is right
    "none",  # right, compiled by itself
]


class LeftOut(ProbeReport):
    """A step that was left out, and whether the part was right then."""

    left_out: str = ""
    right: bool = False


class Tried(ProbeReport):
    """On how many inputs a workaround is right (0: wrong), and how many times as long it takes."""

    tried: int = 0
    ratio: float | None = None


class Workaround(Tried):
    """Settings of the compile, or an operator that falls back to eager's kernel; `tried` is of the
    part alone, `whole` of the whole program."""

    settings: Mapping[str, bool | int | str] = {}
    fallback: str = ""
    whole: Tried | None = None


class Culprit(ProbeReport):
    """`number` counts the passes of a stage, `others` are what `op` is wrong with; `code`: what is
    at fault of its code, where a setting takes that out; `made_by`: the stage of the pass `name`
    that makes `op`; `undecided`: the seconds were over."""

    stage: Stage | None = None
    made_by: Stage | None = None
    name: str = ""
    number: int = 0
    op: str = ""
    others: tuple[str, ...] = ()
    code: str = ""
    workaround: Workaround | None = None
    trials: tuple[LeftOut, ...] = ()
    torch_compile: bool = False  # is wrong, too
    versions: str = ""
    undecided: bool = False


def read_culprit(report: Mapping[str, Any]) -> Culprit | None:
    """Return what a report holds of it; None where nothing was looked for."""
    return Culprit.read(report.get("culprit"))
