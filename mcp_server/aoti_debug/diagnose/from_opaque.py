"""What can be said of a program that no probe was in: nobody saw its calls."""

from __future__ import annotations

from aoti_debug.diagnose.calls import opaque
from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.diagnose.observations import Observations
from aoti_debug.facts.tiers import Tier
from aoti_debug.model import Diagnosis, Next

CONTRACT = "contract of the target"


def ended_well(observations: Observations) -> Candidate:
    checked = observations.steps.get(CONTRACT)
    passed = checked is not None and checked.ending is not None and checked.ending.clean
    more = ", also under the model's own input checks" if passed else ""
    return Candidate(
        Diagnosis(
            phase="none",
            category="no_fault",
            confidence="possible",
            summary=f"the program ended without an error{more}; there is no probe in it (it is no "
            "Python, or runs with -I, -E or -S), so nobody saw whether and how it called a model",
            next=look_at_package(observations),
        ),
        role="clean",
        tier=Tier.CLEAN,
    )


def look_at_package(observations: Observations) -> list[Next]:
    """Point to the contract where nobody could hold the inputs of the call against it."""
    if observations.package is None or not opaque(observations):
        return []
    return [
        Next(
            tool="inspect_package",
            arguments={"package": str(observations.package.path)},
            why="its table of inputs says what the program must pass: sizes, strides, device",
        )
    ]
