"""Add to an explained kernel what it read and wrote in a call of its package."""

from __future__ import annotations

from pathlib import Path

from aoti_debug import kinds
from aoti_debug.answers import ExplainAnswer
from aoti_debug.examine.answers import KernelValues, Statistics, ValuesAnswer
from aoti_debug.model import ValueRow
from aoti_debug.signals import in_thread
from aoti_debug.tools.tool import MAX_WAIT_S, Call, owner_of
from aoti_debug.tools.waiting import follow, service_of

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

    owner = owner_of(call)
    request = await in_thread(
        lambda _: values_request(target, kernel=kernel, inputs=inputs, python=python, owner=owner)
    )
    run = await (await service_of(call)).start(kinds.VALUES, request, owner)
    found = await follow(call, run, MAX_WAIT_S)
    assert isinstance(found, ValuesAnswer)
    said = found.summary or f"the call is still running: wait_run {run}"
    return explained.model_copy(
        update={
            "values": [row for launch in found.launches for row in rows(launch)][:ROWS],
            "notes": [*explained.notes, said, *found.kernel_scripts, *found.notes],
            "run": run,
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
