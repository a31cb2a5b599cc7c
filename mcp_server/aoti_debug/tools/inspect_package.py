"""inspect_package: what a .pt2 says without loading it."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from aoti_debug.model import PackageAnswer
from aoti_debug.tools.arguments import Python, absolute, interpreter
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool


async def inspect_package(
    package: Annotated[str, Field(description="absolute path of the .pt2")],
    python: Python = "",
    check_inputs: Annotated[
        bool, Field(description="also write a check_inputs function for serving code")
    ] = False,
) -> Annotated[CallToolResult, PackageAnswer]:
    """Read an AOTInductor package (.pt2) without loading it: device, architecture, torch version,
    inputs and their bounds, kernels, constants, symbols, and whether it will load here."""
    from aoti_debug import api

    path = str(absolute("package", package))
    return answer(await api.inspect(path, interpreter(python), check_inputs=check_inputs))


INSPECT_PACKAGE = tool(
    inspect_package,
    "Inspect a package",
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
