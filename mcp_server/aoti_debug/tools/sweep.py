"""sweep: many targets, their failures in buckets."""

from __future__ import annotations

from typing import Annotated

import anyio.to_thread
from mcp_types import CallToolResult

from aoti_debug.kinds import SWEEP as KIND
from aoti_debug.sweep.answer import SweepAnswer
from aoti_debug.tools.arguments import MAX_WAIT_S, Python, WaitS, absolute, interpreter
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from aoti_debug.tools.waiting import Call, follow, owner_of, service_of


async def sweep(
    call: Call,
    manifest: str,
    baseline: str = "",
    python: Python = "",
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, SweepAnswer]:
    """Triage many AOTInductor targets (TOML or folder); failures in buckets, new ones against a
    baseline sweep."""
    from aoti_debug.sweep.request import sweep_request

    place, named, owner = absolute("manifest", manifest), interpreter(python), owner_of(call)
    if baseline and not baseline.startswith("r-"):
        baseline = str(absolute("baseline", baseline))
    wanted = await anyio.to_thread.run_sync(
        lambda: sweep_request(
            place,
            baseline=baseline or None,
            python=named,
            fail_on="new" if baseline else "any",
            owner=owner,
        )
    )
    run = await (await service_of(call)).start(KIND, wanted, owner)
    return answer(await follow(call, run, wait_s))


SWEEP = tool(
    sweep,
    "Sweep many targets",
    read_only=False,
    destructive=False,
    idempotent=False,
    open_world=True,
)
