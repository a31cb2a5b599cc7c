"""Prove an update of weights for inspect_package, in a run of its own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from aoti_debug.answers import PackageAnswer, Problem
from aoti_debug.examine.answers import WeightsAnswer
from aoti_debug.kinds import WEIGHTS
from aoti_debug.signals import in_thread
from aoti_debug.tools.tool import MAX_WAIT_S, Call, owner_of
from aoti_debug.tools.waiting import follow, service_of


async def with_update(
    call: Call,
    package: PackageAnswer,
    path: Path,
    weights: Path,
    steps: str,
    exported: Path | None,
    python: str | None,
) -> PackageAnswer:
    """Return the answer with what an update of the package was found to do, first."""
    from aoti_debug.examine.weights import weights_request

    owner = owner_of(call)
    given: dict[str, Any] = {"exported": exported, "python": python, "owner": owner}
    resolved = partial(weights_request, str(path), weights, steps=steps, **given)
    request = await in_thread(lambda _: resolved())
    run = await (await service_of(call)).start(WEIGHTS, request, owner)
    found = await follow(call, run, MAX_WAIT_S)
    assert isinstance(found, WeightsAnswer)
    notes = [f"update: {found.summary or found.status} (run {run})", *found.notes]
    notes += [f"this was tried and is right:\n{found.safe}"] if found.safe else []
    problems = [
        Problem(
            what=f"{one.constant or 'outputs'}: {one.reason} (since {one.since})",
            severity="breaks",
            category="constants_mismatch",
            confidence=one.confidence,
            fix=one.fix,
        )
        for one in found.findings
    ]
    return package.model_copy(
        update={
            "problems": [*problems, *package.problems],
            "problems_count": len(problems) + package.problems_count,
            "notes": [*notes, *package.notes],
        }
    )
