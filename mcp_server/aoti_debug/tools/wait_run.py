"""wait_run: go on waiting for a run."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult

from aoti_debug.tools.arguments import MAX_WAIT_S, Run, WaitS
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from aoti_debug.tools.waiting import Call, RunAnswer, follow


async def wait_run(
    call: Call, run: Run, wait_s: WaitS = MAX_WAIT_S
) -> Annotated[CallToolResult, RunAnswer]:
    """Wait for a run of this server and return its answer so far; wait_s 0 only looks.
    Cancelling this call ends the run."""
    return answer(await follow(call, run, wait_s))


WAIT_RUN = tool(
    wait_run,
    "Wait for a run",
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
