"""Candidates from exceptions that an operator raised inside the compiled model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.where import base_name, is_users
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Diagnosis, Fix, SourceLine
from aoti_debug.read.record import ShimException

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

STACK = "\nAt:\n"  # what pybind11 puts before the Python stack of an exception, innermost first
FRAME = re.compile(r"^  (\S.{0,1000})\((\d{1,9})\): (.{1,200})$", re.MULTILINE)
GUIDE = "guides/custom-ops.md#an-op-that-raises"


def candidates(observations: Observations) -> Iterator[Candidate]:
    for position, found in enumerate(observations.of(ShimException)):
        message, stack, frames = found.message.partition(STACK)
        if stack and "custom_ops.py(" in frames:
            yield from_python(observations, found, message.strip(), frames, position)
            return


def from_python(
    observations: Observations, found: ShimException, message: str, frames: str, position: int
) -> Candidate:
    """A custom operator written in Python raised: its own words and line."""
    own = next((f for f in FRAME.finditer(frames) if is_users(f[1])), None)
    where = f" in {own[3]} at {base_name(own[1])}:{own[2]}" if own else ""
    match = observations.signature_at(found.span, ("cause", "symptom"))
    return Candidate(
        Diagnosis(
            phase="run",
            category="user_code",
            confidence="proved",
            summary=f"a custom operator raised{where}: {message.splitlines()[0][:200]}",
            source=[SourceLine(file=own[1], line=int(own[2]))] if own else [],
            evidence=[evidence(found.span)],
            guide=GUIDE,
            fixes=[
                Fix(what="correct the operator; call it alone, on the same tensors, to test it")
            ],
            signature=match.signature.id if match else None,
        ),
        role="cause",
        tier=Tier.RAISED,
        order=position,
        signature=match.signature if match else None,
    )
