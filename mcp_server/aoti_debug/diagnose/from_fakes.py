"""Candidates from custom operators that return something else than their fake kernels promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aoti_debug.diagnose.candidate import Candidate
from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Diagnosis, Evidence, Fix, Kernel

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.read.check_report import Mismatch


def candidates(observations: Observations) -> Iterator[Candidate]:
    fakes = observations.checks.fakes
    for order, found in enumerate(fakes.mismatches if fakes is not None else ()):
        yield from_mismatch(found, fakes.artifact if fakes is not None else "", order)


def from_mismatch(found: Mismatch, artifact: str, order: int) -> Candidate:
    op = found.op[:200]
    said = (
        f"{op} returns {found.property} {found.got[:200]}, its fake kernel promises "
        f"{found.expected[:200]}" + (f", at {found.count} places" if found.count > 1 else "")
    )
    return Candidate(
        Diagnosis(
            phase="run",
            category="custom_op_fake_kernel",
            confidence="proved",
            summary=said,
            kernel=Kernel(name=op, kind="custom_op"),
            ops=[op],
            source=last_line_of(found.stack),
            evidence=[Evidence(artifact=artifact, quote=said)],
            guide="guides/custom-ops.md",
            fixes=fixes(found, op),
        ),
        role="cause",
        tier=Tier.CONTRACT,
        order=order,
    )


def fixes(found: Mismatch, op: str) -> list[Fix]:
    """Name both sides: which of them is wrong, only the author knows."""
    if found.property == "stride":
        operator = "return its result in the layout that the fake kernel promises"
        how = f"{operator}, often with .contiguous() at its end"
        harm = "the compiled model goes through the result by the promised strides"
    else:
        how = f"return the {found.property} that the fake kernel promises"
        harm = "the compiled model takes the fake kernel's word for the result"
        harm += " and reads past its end" if found.smaller else ""
    return [
        Fix(
            what=f"make {op} itself {how}",
            why=f"{harm}; this needs no recompile: register the changed operator, then call the "
            "package as it is",
        ),
        Fix(
            what=f"or make the fake kernel of {op} promise what the operator returns, and compile "
            "again; torch.library.opcheck tests both against each other",
            why="right where the operator does what it should",
        ),
    ]
