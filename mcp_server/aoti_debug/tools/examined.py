"""Add to an answer what an examination of its package found: values of a kernel, an update."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from aoti_debug import kinds
from aoti_debug.answers import ExplainAnswer, PackageAnswer, Problem
from aoti_debug.examine.answers import KernelValues, Statistics, ValuesAnswer, WeightsAnswer
from aoti_debug.model import ValueRow
from aoti_debug.tools.tool import MAX_WAIT_S, Call, owner_of
from aoti_debug.tools.waiting import run_of

ROWS = 24


async def with_values(
    call: Call,
    explained: ExplainAnswer,
    target: str,
    kernel: str,
    inputs: Path | None,
    python: str | None,
) -> ExplainAnswer:
    """Call the package of a run or file once, and add the values of this kernel's launches."""
    from aoti_debug.examine.values import values_request

    given: Any = {"kernel": kernel, "inputs": inputs, "python": python, "owner": owner_of(call)}
    found = await run_of(call, kinds.VALUES, lambda _: values_request(target, **given), MAX_WAIT_S)
    assert isinstance(found, ValuesAnswer)
    said = found.summary or f"the call is still running: wait_run {found.run}"
    return explained.model_copy(
        update={
            "values": [row for launch in found.launches for row in rows(launch)][:ROWS],
            "notes": [*explained.notes, said, *found.kernel_scripts, *found.notes],
            "run": found.run,
        }
    )


def rows(launch: KernelValues) -> list[ValueRow]:
    """Return a row for each argument, as it was before the launch or written by it."""
    return [
        ValueRow(
            number=launch.number,
            node=one.name,
            op="written" if one.written else "read",
            line=launch.line,
            mark=launch.mark if one.written else None,
            **{name: getattr(one, name) for name in Statistics.model_fields},
        )
        for one in launch.arguments
    ]


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

    given: Any = {"exported": exported, "python": python, "owner": owner_of(call)}
    resolved = partial(weights_request, str(path), weights, steps=steps, **given)
    found = await run_of(call, kinds.WEIGHTS, lambda _: resolved(), MAX_WAIT_S)
    assert isinstance(found, WeightsAnswer)
    notes = [f"update: {found.summary or found.status} (run {found.run})", *found.notes]
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
