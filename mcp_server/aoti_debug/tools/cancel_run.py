"""cancel_run: end a run and all its processes."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult

from aoti_debug.tools.arguments import Run
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from aoti_debug.tools.waiting import Call, RunAnswer, owner_of, service_of


async def cancel_run(call: Call, run: Run) -> Annotated[CallToolResult, RunAnswer]:
    """End a run with all its processes; returns what is known until then."""
    service = await service_of(call)
    return answer(await service.cancel(run, owner_of(call)))


CANCEL_RUN = tool(
    cancel_run,
    "Cancel a run",
    read_only=False,
    destructive=True,
    idempotent=True,
    open_world=False,
)
