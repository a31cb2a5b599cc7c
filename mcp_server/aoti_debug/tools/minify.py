"""minify: from a failure to a small script that fails alike."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from aoti_debug.kinds import MINIFY as KIND
from aoti_debug.model import MinifyAnswer
from aoti_debug.tools.arguments import (
    MAX_WAIT_S,
    Args,
    Env,
    Python,
    WaitS,
    absolute,
    interpreter,
)
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from aoti_debug.tools.waiting import Call, follow, owner_of, service_of

What = Annotated[str, Field(description="run id, script, exported program or minifier_launcher.py")]
Budget = Annotated[int, Field(ge=1, le=86_400)]


async def minify(
    call: Call,
    what: What,
    args: Args = (),
    python: Python = "",
    env: Env = None,
    budget_s: Budget = 1800,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, MinifyAnswer]:
    """Reduce a failing AOTInductor model to a small repro.py that needs torch alone and fails
    alike, proved by running it; survives crashes and hangs. Best with the run id of a triage."""
    from aoti_debug.minify.request import minify_request

    named = what if what.startswith("r-") else str(absolute("what", what))
    wanted = minify_request(
        named,
        args=args,
        python=interpreter(python),
        env=env or {},
        budget_s=budget_s,
        owner=owner_of(call),
    )
    run = await (await service_of(call)).start(KIND, wanted, owner_of(call))
    return answer(await follow(call, run, wait_s))


MINIFY = tool(
    minify,
    "Minify a failure",
    read_only=False,
    destructive=False,
    idempotent=True,
    open_world=True,
)
