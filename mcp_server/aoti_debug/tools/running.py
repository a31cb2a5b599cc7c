"""The tools that start a run: triage, run_stage, minify, verify_fix, sweep."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from aoti_debug import api, kinds
from aoti_debug.answers import MinifyAnswer, StageAnswer, TriageAnswer, VerifyAnswer
from aoti_debug.kinds import A, Kind, R
from aoti_debug.sweep.answer import SweepAnswer
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import (
    MAX_WAIT_S,
    Args,
    Call,
    Command,
    Cwd,
    Env,
    KernelFilter,
    Module,
    Python,
    Run,
    Script,
    StageName,
    TimeoutS,
    WaitS,
    WatchForS,
    absolute,
    interpreter,
    is_run,
    owner_of,
    request,
    tool,
)
from aoti_debug.tools.waiting import run_of


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
    stop_at_first: bool = False,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, TriageAnswer]:
    """Find why a script with an AOTInductor model crashes, hangs, fails to compile or load, or
    returns wrong numbers. Runs it unchanged, then only the checks that fit the failure;
    returns the faulty kernel, the model line, the reason, evidence, a fix. Minutes: status
    `running` after wait_s, go on with wait_run."""
    more: Any = {"timeout_s": timeout_s, "watch_for_s": watch_for_s or None, "python": python}
    more |= {"stop_at_first": stop_at_first, "verifies": True}
    words = (script, module, command, args, env, cwd, owner_of(call))
    return await _run(call, kinds.TRIAGE, wait_s, lambda _: request(*words, **more))


async def _run(
    call: Call, kind: Kind[R, A], wait_s: int, resolved: Callable[[Event], R]
) -> CallToolResult:
    return answer(await run_of(call, kind, resolved, wait_s))


TRIAGE = tool(triage, "Triage a failing script", read_only=False, idempotent=False, open_world=True)


async def run_stage(
    call: Call,
    script: Script = "",
    module: Module = "",
    command: Command = (),
    args: Args = (),
    stage: StageName = "baseline",
    kernel: KernelFilter = "",
    inputs: str = "",
    against: str = "",
    python: Python = "",
    env: Env = None,
    cwd: Cwd = "",
    timeout_s: TimeoutS = 900,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, StageAnswer]:
    """Run a script once with one stage's flags: what was seen, could they act. Stage `time`: what
    is slow, also in a .pt2."""
    kind = kinds.stage_kind(stage)
    if inputs or against or (stage == "time" and is_run(script)):
        timed = (script, args, inputs, against, python, timeout_s)
        return await _run(call, kind, wait_s, lambda _: _to_time(call, *timed))
    kernels = tuple(name.strip() for name in kernel.split(",")) if kernel else ()
    more: Any = {"timeout_s": timeout_s, "kernels": kernels, "python": python}
    words = (script, module, command, args, env, cwd, owner_of(call))
    return await _run(call, kind, wait_s, lambda _: request(*words, **more))


def _to_time(
    call: Call,
    what: str,
    args: tuple[str, ...],
    inputs: str,
    against: str,
    python: str,
    timeout_s: int,
) -> api.Request:
    """Resolve what is to be timed; paths are absolute. Blocks."""
    from aoti_debug.examine.time import PROGRAMS, time_request

    owner = owner_of(call)
    named = what if is_run(what) else str(absolute("script", what, owner))
    if against and against not in PROGRAMS:
        against = str(absolute("against", against, owner))
    return time_request(
        named,
        args=args,
        inputs=absolute("inputs", inputs, owner) if inputs else None,
        against=against or None,
        python=interpreter(python, owner),
        timeout_s=timeout_s,
        owner=owner,
    )


RUN_STAGE = tool(run_stage, "Run one stage", read_only=False, idempotent=False, open_world=True)

Failure = Annotated[
    str, Field(description="run id, script, exported program or minifier_launcher.py")
]
Budget = Annotated[int, Field(ge=1, le=86_400)]


async def minify(
    call: Call,
    what: Failure,
    args: Args = (),
    python: Python = "",
    env: Env = None,
    budget_s: Budget = 1800,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, MinifyAnswer]:
    """Reduce a failing AOTInductor model to a small repro.py that needs only torch and fails
    in the same way, proved by running it; survives crashes and hangs. Best with the run id of a
    triage."""
    from aoti_debug.minify.request import minify_request

    owner = owner_of(call)
    given: Any = {"python": interpreter(python, owner), "env": env or {}, "owner": owner}
    named = what if is_run(what) else str(absolute("what", what, owner))
    given |= {"args": args, "budget_s": budget_s}
    return await _run(call, kinds.MINIFY, wait_s, lambda _: minify_request(named, **given))


MINIFY = tool(minify, "Minify a failure", read_only=False, open_world=True)

Fixed = Annotated[str, Field(description="the fixed script, or a unified diff (*.patch)")]


async def verify_fix(
    call: Call,
    what: Fixed,
    against: Run,
    args: Args = (),
    python: Python = "",
    env: Env = None,
    wait_s: WaitS = MAX_WAIT_S,
) -> Annotated[CallToolResult, VerifyAnswer]:
    """Check whether a fix works, against the run of the failure: fixed, moved, masked (eager
    fallback, swallowed exception, skipped call, clamped output) or not fixed; held-out inputs
    against float64 eager. Changes no file of the user's."""
    from aoti_debug.verify.request import verify_request

    owner = owner_of(call)
    given: Any = {"python": interpreter(python, owner), "env": env or {}, "owner": owner}
    words = (str(absolute("what", what, owner)), against)
    given |= {"args": args or None}
    return await _run(call, kinds.VERIFY, wait_s, lambda _: verify_request(*words, **given))


VERIFY_FIX = tool(verify_fix, "Verify a fix", read_only=False, idempotent=False, open_world=True)


async def sweep(
    call: Call, manifest: str, baseline: str = "", python: Python = "", wait_s: WaitS = MAX_WAIT_S
) -> Annotated[CallToolResult, SweepAnswer]:
    """Triage many AOTInductor targets (TOML or folder); failures in buckets, new ones against a
    baseline sweep."""
    from aoti_debug.sweep.request import sweep_request

    owner, named = owner_of(call), interpreter(python, owner_of(call))
    place = absolute("manifest", manifest, owner)
    if baseline and not is_run(baseline):
        baseline = str(absolute("baseline", baseline, owner))
    given: Any = {"baseline": baseline or None, "fail_on": "new" if baseline else "any"}
    resolved = partial(sweep_request, place, python=named, owner=owner, **given)
    return await _run(call, kinds.SWEEP, wait_s, lambda stop: resolved(stop=stop))


SWEEP = tool(sweep, "Sweep many targets", read_only=False, idempotent=False, open_world=True)
