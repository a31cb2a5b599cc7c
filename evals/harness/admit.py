"""Admit a case: the healthy twin passes, the planted one fails alike each time, only a fix passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.agents import kernels_for, kernels_of
from harness.case import Problem, edited, patch_of
from harness.fix import fix_verified
from harness.tree import Outcome, built, outcome, outcome_of_edits, prepared

TIMES = 3


@dataclass(frozen=True, slots=True)
class Check:
    what: str
    good: bool
    finding: str


def admit(problem: Problem, python: str, times: int = TIMES) -> Iterator[Check]:
    """Yield one check after the other."""
    truth, case = problem.truth, problem.case
    healthy = outcome(problem, edited(case.files, truth.twin), python, "healthy")
    yield _passes("the healthy twin passes", healthy)
    planted = [outcome(problem, case.files, python, number=n) for n in range(times)]
    if case.control == "nothing_wrong":
        yield _passes(f"nothing is wrong, {times} times", planted[0])
        yield Check("alike each time", len({one.passed for one in planted}) == 1, "")
    else:
        seen = sorted({one.signature for one in planted})
        failed = not any(one.passed for one in planted)
        alike = failed and len(seen) == 1 and truth.signature in seen[0]
        yield Check(
            f"the planted twin fails {times} of {times} times alike", alike, " / ".join(seen)
        )
    if truth.fix == "patch":
        yield _passes("the gold patch passes", outcome_of_edits(problem, truth.gold, python))
    for wrong in truth.wrong:
        found = outcome_of_edits(problem, wrong.edits, python)
        yield Check(f"no fix: {wrong.name}", not found.passed, found.signature)
    if truth.verify:
        fix = fix_verified(problem, patch_of(problem, truth.gold), python)
        yield Check("verify_fix agrees on the gold patch", fix.verdict == "fixed", fix.reason)
    if truth.kernel_of:
        names = names_at_fault(problem, python)
        yield Check("its kernels are in the package", bool(names), ", ".join(names))


def _passes(what: str, found: Outcome) -> Check:
    return Check(
        what, found.passed, found.signature if found.passed else f"{found.signature} {found.detail}"
    )


def names_at_fault(problem: Problem, python: str) -> list[str]:
    """Return the kernels that hold the truth's operators, read from the planted package."""
    package = planted_package(problem, python)
    return kernels_for(kernels_of(package), problem.truth.kernel_of) if package else []


def planted_package(problem: Problem, python: str) -> Path | None:
    """Return a package of the planted case: a product of its run or of its preparation."""
    names = [
        name for name in (*problem.truth.built, *problem.truth.products) if name.endswith(".pt2")
    ]
    if not names:
        return None
    kept = built(problem, problem.case.files, python) / names[0]
    if kept.is_file():
        return kept
    if names[0] in problem.truth.products:
        return prepared(problem, problem.case.files, python, "planted")[names[0]]
    return None
