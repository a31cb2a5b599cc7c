"""Run the fixed script once more, in experiments: with wrong results, with memory handed over."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import anyio.to_thread

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import base_name
from aoti_debug.read.record import PythonException
from aoti_debug.run.files import remove_tree
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.triage.spawn import spawn
from aoti_debug.verify.request import VerifyRequest
from aoti_debug.verify.script_checks import COMPARING, made, parts, without_others
from aoti_debug.verify.script_source import callees
from aoti_debug.verify.tree import patched_target, sources

WRONG_RESULTS, READ_LATE = "wrong results", "handed over"  # steps
AGAIN = {
    WRONG_RESULTS: "whether the script's checks notice wrong results in place of the package's",
    READ_LATE: "whether memory is still written again before it is read",
}
START_S, SLOWER = 60.0, 3.0  # than the run of the fix


async def unnoticed(
    state: RunState,
    request: VerifyRequest,
    fixed: Ran,
    failed: Sequence[ast.expr],
    call: int | None,
    *,
    nonfinite: str,
) -> str:
    """Say which wrong results the script does not notice; "" if it notices all. `failed` is the
    check that complained of `call`, where it is known: no other may replace it. `nonfinite`, what
    calls returned: NaN differs from itself, so it is tried only on a check of finite values."""
    compares = any(COMPARING & callees(one) for one in failed)
    kinds = (*[nonfinite] * bool(nonfinite and not compares), "finite", "negated")
    several = parts(failed[0]) if len(failed) == 1 else []
    asked = [n for n, one in enumerate(several) if COMPARING & callees(one)]
    more = call is not None and len(fixed.observations.run.calls) > 1
    of_call = f"{kinds[0]}:{call}"  # what is noticed of one call answers both questions
    once = more and len(asked) < 2
    if once and not await _ends_well(state, request, fixed, of_call, failed):
        return ""
    for part in (None, *(asked if len(asked) > 1 else ())):
        for kind in kinds:
            if not await _ends_well(state, request, fixed, kind, failed, part):
                break
        else:
            what = "its check" if part is None else ast.unparse(several[part])[:80]
            return f"the script ends well with any results: {what} no longer looks at them"
    if more and await _ends_well(state, request, fixed, f"{kind}:{call}"):
        return f"the script ends well with any results of call {call}"
    return ""


def failed_check(before: Observations, texts: Iterable[str]) -> list[ast.expr]:
    """Return the check of results at the line that ended the script, or the only one."""
    raised = before.of(PythonException)
    frames = [one for one in raised[-1].frames if one.owner == "user"] if raised else []
    if not frames:
        found = made(texts)
        return [found[0].test] if len(found) == 1 else []
    line, text = frames[-1].line, frames[-1].text or ""
    found = made(one for one in texts if text in one)
    return [one.test for one in found if one.lines[0] <= line <= one.lines[1]]


async def _ends_well(
    state: RunState,
    request: VerifyRequest,
    fixed: Ran,
    kind: str,
    failed: Sequence[ast.expr] = (),
    part: int | None = None,
) -> bool:
    """Run the fixed script with wrong results, and with no other check than the one that failed."""
    flags = {"AOTI_DEBUG_GARBLED": kind}
    ran = await _again(state, request, fixed, WRONG_RESULTS, flags, failed, part)
    return ran.exit.ok


async def rewritten(state: RunState, request: VerifyRequest, fixed: Ran) -> tuple[str, bool]:
    """Return a line that writes memory again before it is read, and whether any is reused."""
    ran = await _again(state, request, fixed, READ_LATE, {"AOTI_DEBUG_HANDED": "1"})
    found = [one for one in ran.observations.run.handed if one.late]
    place = next((one.writer or one.caller or one.maker for one in found), None)
    reused = any(one.again for one in ran.observations.run.handed)
    return f"{base_name(place[0])}:{place[1]}" if place is not None else "", reused


async def _again(
    state: RunState,
    request: VerifyRequest,
    fixed: Ran,
    name: str,
    flags: Mapping[str, str],
    failed: Sequence[ast.expr] = (),
    part: int | None = None,
) -> Ran:
    """Run the fixed script in an experiment of the probe, with only the `failed` check if given."""
    target, now = request.target, state.request
    copy = state.directory.path / "tree-again"
    if request.patch is not None:
        target, _ = await anyio.to_thread.run_sync(patched_target, target, request.patch, copy)
        for path, text in sources(copy).items() if failed else ():
            path.write_text(without_others(text, failed, part), "utf-8")
    state.request = replace(request, target=target)
    ran = await spawn(
        state,
        name,
        target.argv,
        state.subdirectory("again"),
        traced=True,
        flags=flags,
        reuse="any lines",
        cwd=target.cwd,
        timeout_s=START_S + SLOWER * fixed.exit.wall_s,
    )
    state.request = now
    if request.patch is not None:
        remove_tree(copy)
    state.done(state.step(name, AGAIN[name], ran))
    return ran
