"""verify_fix: whether a fix is one."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from aoti_debug.kinds import VERIFY as KIND
from aoti_debug.model import VerifyAnswer
from aoti_debug.tools.arguments import (
    MAX_WAIT_S,
    Args,
    Env,
    Python,
    Run,
    WaitS,
    absolute,
    interpreter,
)
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from aoti_debug.tools.waiting import Call, follow, owner_of, service_of

What = Annotated[str, Field(description="the fixed script, or a unified diff (*.patch)")]


async def verify_fix(
    call: Call,
    what: What,
    against: Run,
    args: Args = (),
    python: Python = "",
    env: Env = None,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, VerifyAnswer]:
    """Tell whether a fix is one, against the run of the failure: fixed, moved, masked (eager
    fallback, swallowed exception, skipped call, clamped output) or not fixed; held-out inputs
    against float64 eager. Changes no file of the user's."""
    from aoti_debug.verify.request import verify_request

    wanted = verify_request(
        str(absolute("what", what)),
        against,
        args=args or None,
        python=interpreter(python),
        env=env or {},
        owner=owner_of(call),
    )
    run = await (await service_of(call)).start(KIND, wanted, owner_of(call))
    return answer(await follow(call, run, wait_s))


VERIFY_FIX = tool(
    verify_fix,
    "Verify a fix",
    read_only=False,
    destructive=False,
    idempotent=False,
    open_world=True,
)
