"""PyTorch's own AOTI minifier: dump, launcher, and its reproduction run once."""

from __future__ import annotations

import re
from pathlib import Path

from aoti_debug.answers import MinifyAnswer, StageAnswer
from aoti_debug.facts.stages import Stage, stage_named
from aoti_debug.run.files import read_source
from aoti_debug.triage.captured_call import Captured, with_custom_ops
from aoti_debug.triage.environment import SCRIPT
from aoti_debug.triage.fingerprint import fingerprint_of
from aoti_debug.triage.probe_arguments import context_arguments
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.triage.spawn import spawn
from aoti_debug.triage.stage import finish, run_under
from aoti_debug.vocabulary import Fingerprint

LAUNCHER = "minifier_launcher.py"
REPRO = "repro.py"
SEARCH_S = 600.0
CALL = re.compile(r"= torch\.ops\.\w+\.\w+")


async def dump_and_search(state: RunState, stage: Stage) -> tuple[StageAnswer, bool]:
    """Run the stage, its launcher and the reproduction; return the answer and if it fails alike."""
    ran, launcher = await dumped(state, stage)
    alike = launcher is not None and await search(state, ran, launcher)
    answer = finish(state, stage, ran)
    taken = [step for step in state.steps if step.status != "skipped"]
    lines = [f"{step.name}: {step.finding or step.why}" for step in taken]
    return answer.model_copy(update={"observed": [*lines, *answer.observed]}), alike


async def minify_with_torch(state: RunState) -> MinifyAnswer:
    """Run PyTorch's own minifier, and hold its reproduction against the script's failure."""
    answer, alike = await dump_and_search(state, stage_named("minifier"))
    last = state.steps[-1] if state.steps else None
    found = sorted(state.directory.path.glob(f"steps/*minifier-search/{REPRO}"))
    nodes = CALL.findall(read_source(found[-1])) if found else []
    return MinifyAnswer(
        run=state.directory.id,
        status="done",
        diagnosis=answer.diagnosis,
        reproduced=alike,
        confirmed=last.finding if last else None,
        nodes=len(nodes) if found else None,
        repro=str(found[-1]) if found else None,
        ended="PyTorch's own minifier has ended",
        steps=state.steps,
        artifacts=state.artifacts(),
        notes=state.notes,
    )


async def dumped(state: RunState, stage: Stage) -> tuple[Ran, Path | None]:
    """Run the target at the level that its failure needs, and return the run and its launcher:
    level 2, then 3 after a signal or 4 after a clean end. Each level costs a compile."""
    ran, launcher = await at_level(state, stage, 2)
    if launcher is not None or not ran.observations.run.compiles:
        return ran, launcher
    failure = fingerprint_of(ran.observations)
    if not failure.failed or (failure.kind or "").startswith("exit "):  # no exception: a value
        return await at_level(state, stage, 4)
    return await at_level(state, stage, 3) if ran.exit.signal else (ran, launcher)


OWN_ROAD = "PyTorch's own minifier"


async def at_level(state: RunState, stage: Stage, level: int) -> tuple[Ran, Path | None]:
    root = state.directory.path / "minifier"
    known = set(root.rglob(LAUNCHER))
    ran = await run_under(state, stage, level)
    new = set(root.rglob(LAUNCHER)) - known
    launcher = max(new, key=lambda path: path.stat().st_mtime, default=None)
    why = "level 2 dumps on an exception, 3 before compiling, 4 on a wrong result"
    said = "a launcher was written" if launcher else why_no_launcher(ran, level)
    state.done(state.step(f"dump at level {level}", why, ran, said))
    return ran, launcher


def why_no_launcher(ran: Ran, level: int) -> str:
    """Say why the dump left nothing to launch."""
    failure = fingerprint_of(ran.observations)
    if not ran.observations.run.compiles:
        why = "nothing was compiled, and the dump happens only inside aoti_compile_and_package"
    elif not failure.failed:
        agrees = " and the result agrees with eager" if level == 4 else ""
        why = f"with the example inputs nothing failed{agrees}; this minifier uses no other inputs"
    elif ran.exit.signal and level < 3:
        why = f"{ran.exit.signal} ended the process, and it dumps on exceptions only"
    elif failure.phase in ("run", "load", "constants"):
        why = f"the failure ({failure}) came after the compile, which is all that the dump covers"
    else:
        why = f"the dump itself failed; the process ended with {ran.exit.how}"
    return f"no launcher: {why}"


async def search(state: RunState, ran: Ran, launcher: Path) -> bool:
    """Run the launcher, then its reproduction; tell whether that fails like the script."""
    wanted = fingerprint_of(ran.observations)
    directory = state.subdirectory("minifier-search")
    needed = with_custom_ops(Captured(), ran.observations.run)
    words: tuple[str, ...] = ()  # what defines the user's operators, which the launcher does not
    if needed.modules or needed.libraries or needed.script or state.request.imports:
        words = context_arguments(needed, state.request.target, state.request.imports)
    found = await python(state, "minifier search", launcher, directory, words)
    state.recompiles += 1
    repro = directory / REPRO
    wrote = repro.is_file()
    said = f"wrote {REPRO}" if wrote else f"no reproduction: {why_search_died(found, wanted)}"
    state.done(state.step("minifier search", OWN_ROAD, found, said))
    if not wrote:
        return False
    directory = state.subdirectory("minifier-repro")
    again = await python(state, "minifier reproduction", repro, directory, words)
    got = fingerprint_of(again.observations)
    alike = got.failed and got.kind == wanted.kind and got.message == wanted.message
    if alike:
        verdict = f"it fails in the same way: {got}"
    elif got.failed:
        verdict = f"it fails in another way ({got}) than the script ({wanted})"
    else:
        verdict = f"it does not fail; the script did ({wanted})"
    state.done(state.step("minifier reproduction", OWN_ROAD, again, verdict))
    return alike


def why_search_died(ran: Ran, wanted: Fingerprint) -> str:
    failure = fingerprint_of(ran.observations)
    if ran.exit.timed_out:
        return f"the search was ended after {SEARCH_S:.0f} s"
    if ran.exit.signal:
        return f"{ran.exit.signal} ended the search, which tests candidates in its own process"
    text = failure.message or ""
    if "torch.ops" in text or "deserializ" in text:
        why = "it does not import the modules that register the model's custom operators"
        return f"the launcher could not load the dumped program; {why} ({failure})"
    if "did not fail" in text or "could not reproduce" in text:
        return "the dumped program does not fail in the launcher"
    return f"the launcher ended with {ran.exit.how} ({failure}); the script failed with {wanted}"


async def python(
    state: RunState, name: str, script: Path, directory: Path, words: tuple[str, ...]
) -> Ran:
    target = state.request.target
    interpreter = str(target.python) if target.python else "python3"
    with_operators = (SCRIPT, "definitions", *words) if words else ()
    paths = (str(target.cwd), target.env.get("PYTHONPATH", ""))
    flags = {
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONPATH": ":".join(path for path in paths if path),
        "TORCH_COMPILE_DEBUG_DIR": str(directory),
    }
    return await spawn(
        state,
        name,
        (interpreter, *with_operators, str(script)),
        directory,
        flags=flags,
        watch=False,
        recompiles=False,
        stacks=False,
        cwd=directory,
        timeout_s=SEARCH_S,
    )
