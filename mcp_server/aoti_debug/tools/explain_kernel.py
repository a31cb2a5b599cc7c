"""explain_kernel: a kernel's source, arguments, bounds and the model's line."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from aoti_debug.errors import WrongUse
from aoti_debug.model import ExplainAnswer
from aoti_debug.tools.arguments import absolute
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool


async def explain_kernel(
    run: Annotated[str, Field(description="run id, r-…")] = "",
    package: Annotated[str, Field(description="instead of run: absolute path of a .pt2")] = "",
    kernel: Annotated[
        str, Field(description="name, launch number or failed assertion; default: the run's")
    ] = "",
) -> Annotated[CallToolResult, ExplainAnswer]:
    """Explain a kernel of a run or package: its source, what its arguments are, which indices are
    checked and where they come from, the model's lines; of a failed assertion the cause."""
    from aoti_debug import api

    if bool(run) == bool(package):
        raise WrongUse("exactly one of run and package is needed")
    target = run or str(absolute("package", package))
    return answer(await api.explain(target, kernel or None))


EXPLAIN_KERNEL = tool(
    explain_kernel,
    "Explain a kernel",
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
