"""diagnose_log: what an error text or a log says; nothing is run."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from aoti_debug.errors import WrongUse
from aoti_debug.model import DiagnoseAnswer
from aoti_debug.tools.arguments import absolute
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool


async def diagnose_log(
    text: Annotated[str, Field(description="the output, whole if possible")] = "",
    path: Annotated[str, Field(description="or a log file, any size")] = "",
) -> Annotated[CallToolResult, DiagnoseAnswer]:
    """Diagnose an AOTInductor, Inductor, Triton or CUDA error text or log without running
    anything: ranked causes with the lines that prove them, the fix and the next step."""
    from aoti_debug import api

    if bool(text) == bool(path):
        raise WrongUse("give either text or path", help="text is the output itself.")
    return answer(await api.diagnose(text or None, str(absolute("path", path)) if path else None))


DIAGNOSE_LOG = tool(
    diagnose_log,
    "Diagnose a log",
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
