"""triage: from a failing target to a diagnosis."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult

from aoti_debug.kinds import TRIAGE as KIND
from aoti_debug.model import TriageAnswer
from aoti_debug.tools.arguments import (
    MAX_WAIT_S,
    Args,
    Command,
    Cwd,
    Env,
    Module,
    Python,
    Script,
    TimeoutS,
    WaitS,
    WatchForS,
    request,
)
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from aoti_debug.tools.waiting import Call, follow, owner_of, service_of


async def triage(
    call: Call,
    script: Script = "",
    module: Module = "",
    command: Command = (),
    args: Args = (),
    python: Python = "",
    env: Env = None,
    cwd: Cwd = "",
    timeout_s: TimeoutS = 900,
    watch_for_s: WatchForS = 0,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, TriageAnswer]:
    """Find why a script with an AOTInductor model crashes, hangs, fails to compile or load, or
    returns wrong numbers. Runs it as it is, then only the checks that its failure calls for;
    returns the faulty kernel, the model line, the reason, evidence, a fix. Minutes: status
    `running` after wait_s, go on with wait_run."""
    wanted = await request(
        script, module, command, args, python, env, cwd, timeout_s, watch_for_s or None
    )
    run = await (await service_of(call)).start(KIND, wanted, owner_of(call))
    return answer(await follow(call, run, wait_s))


TRIAGE = tool(
    triage,
    "Triage a failing script",
    read_only=False,
    destructive=False,
    idempotent=False,
    open_world=True,
)
