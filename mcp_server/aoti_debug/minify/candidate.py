"""What one candidate keeps of the program, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Until = Literal["export", "codegen", "lower", "run", "compare", "finite"]
Fidelity = Literal["inductor", "aoti"]  # a fifth of the time, or the real thing


@dataclass(frozen=True, slots=True)
class Candidate:
    """Positions of the nodes kept, and how the rest is simplified.

    `until` is the step that the failure needs: "codegen" compiles no C++, "lower" loads nothing,
    "compare" holds the outputs against eager, "finite" wants no NaN or infinity in them.
    """

    keep: frozenset[int]
    until: Until
    fidelity: Fidelity
    dynamic: bool  # sizes stay free where the program leaves them so
    two_sided: bool  # exported with the example's values, called with those of the failing call
    settings: Mapping[str, object] = field(default_factory=dict)
    made: frozenset[str] = frozenset()  # inputs and weights whose values are made up


class Unbuildable(Exception):
    """A candidate cannot be written: the reason."""
