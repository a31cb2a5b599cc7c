"""check_environment: what would break a run before any script is started."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult

from aoti_debug.model import EnvironmentAnswer
from aoti_debug.tools.arguments import Env, Python, interpreter
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool


async def check_environment(
    python: Python = "", env: Env = None
) -> Annotated[CallToolResult, EnvironmentAnswer]:
    """Report torch, triton, GPU, driver, compiler and debugging tools here, what does not fit
    together, and which variables this server did not inherit. Use when a run cannot even start."""
    from aoti_debug import api

    return answer(await api.environment(interpreter(python), env or {}))


CHECK_ENVIRONMENT = tool(
    check_environment,
    "Check the environment",
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
