"""run_stage: the target once, with the flags of one stage."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from mcp_types import CallToolResult

from aoti_debug.kinds import stage_kind
from aoti_debug.model import StageAnswer
from aoti_debug.tools.arguments import (
    MAX_WAIT_S,
    Args,
    Command,
    Cwd,
    Env,
    KernelFilter,
    Module,
    Python,
    Script,
    StageName,
    TimeoutS,
    WaitS,
    request,
)
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from aoti_debug.tools.waiting import Call, follow, owner_of, service_of


async def run_stage(
    call: Call,
    script: Script = "",
    module: Module = "",
    command: Command = (),
    args: Args = (),
    stage: StageName = "baseline",
    kernel: KernelFilter = "",
    python: Python = "",
    env: Env = None,
    cwd: Cwd = "",
    timeout_s: TimeoutS = 900,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, StageAnswer]:
    """Run the failing script once with the debug flags of one stage; says what was seen and
    whether the flags could act at all. triage chooses stages by itself; use this to force one.
    Status `running` after wait_s: go on with wait_run."""
    kind = stage_kind(stage)
    wanted = await request(script, module, command, args, python, env, cwd, timeout_s)
    if kernel:
        wanted = replace(wanted, kernels=tuple(name.strip() for name in kernel.split(",")))
    run = await (await service_of(call)).start(kind, wanted, owner_of(call))
    return answer(await follow(call, run, wait_s))


RUN_STAGE = tool(
    run_stage,
    "Run one stage",
    read_only=False,
    destructive=False,
    idempotent=False,
    open_world=True,
)
