"""Verify the patch that a triage proposes, in a run of its own, before its answer is given."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import anyio.to_thread

from aoti_debug.answers import TriageAnswer, VerifyAnswer
from aoti_debug.errors import AotiDebugError
from aoti_debug.kinds import VERIFY
from aoti_debug.model import ANSWER, Diagnosis, Fix
from aoti_debug.run.directory import RunDirectory
from aoti_debug.triage.run_state import DIAGNOSIS, Cancelled, RunState
from aoti_debug.verify.request import VerifyRequest

LEAST_S = 60.0  # that a verification may take; else as long as the triage took


async def with_verdict(state: RunState, answer: TriageAnswer, patch: Path) -> TriageAnswer:
    """Return the answer with the verdict on its first fix, whose patch lies in a file."""
    best = answer.diagnosis
    if best is None or not best.fixes or best.fixes[0].patch is None:
        return answer
    before = len(state.notes)
    found = await _verified(state, best.fixes[0].patch)
    answer = answer.model_copy(update={"notes": [*answer.notes, *state.notes[before:]]})
    if found is None or found.verdict is None:
        return answer
    state.diagnosis = _said(best, found, patch).model_copy(update={"cost": state.cost()})
    state.keep(DIAGNOSIS, state.diagnosis.document())
    return answer.model_copy(update={"diagnosis": state.diagnosis})


async def _verified(state: RunState, patch: str) -> VerifyAnswer | None:
    """Verify a patch against this run; None, with a note, where that ends with no verdict."""
    asked = state.request
    limit = max(LEAST_S, time.time() - state.began)
    request = VerifyRequest(
        asked.target,
        against=state.directory.id,
        patch=patch,
        timeout_s=asked.timeout_s,
        python=asked.python,
        imports=asked.imports,
    )
    directory = await anyio.to_thread.run_sync(RunDirectory.create, state.home, state.client)
    of = RunState(
        request,
        directory,
        VERIFY.name,
        stop=state.stop,
        client=state.client,
        gpus=state.gpus,
        gpu_wait_s=state.gpu_wait_s,
    )
    of.on_change = lambda: state.say(f"verifying the patch: {of.doing}")
    found: VerifyAnswer | None = None
    of.status = "cancelled"
    try:
        with anyio.move_on_after(limit):
            found = await VERIFY.start(of, request)
            of.status = "done"
        if found is None:
            state.notes.append(f"the patch was not verified within {limit:.0f} s: use verify_fix")
    except Cancelled:
        raise
    except AotiDebugError as error:
        of.status = "failed"
        state.notes.append(f"the patch was not verified: {error}")
    finally:
        if found is not None:
            of.keep(ANSWER, {"kind": VERIFY.name, "answer": found.document()})
        of.record()
        directory.release()
    state.process_runs += of.process_runs
    state.recompiles += of.recompiles
    return found


def _said(best: Diagnosis, found: VerifyAnswer, patch: Path) -> Diagnosis:
    """Say the verdict with the fix. A patch that does not fix the failure is no proposal."""
    first, *others = best.fixes
    wrong = found.verdict in ("not fixed", "masked")
    fix = Fix(
        what=first.what,
        where=first.where,
        why=f"verified in {found.run}: {found.reason}" if not wrong else first.why,
        patch=None if wrong else first.patch,
        verdict=found.verdict,
    )
    done = wrong or found.verdict == "fixed"
    steps = [one for one in best.next if not (done and one.arguments.get("what") == str(patch))]
    return best.model_copy(update={"fixes": [fix, *others], "next": steps})
