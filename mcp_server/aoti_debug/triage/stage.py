"""Run the target under one stage, and say whether its flags could act."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from aoti_debug.answers import StageAnswer
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.diagnose.from_values import first_nan
from aoti_debug.facts.flag import NEWEST
from aoti_debug.facts.stages import Acts, Setting, Stage, Version
from aoti_debug.plain import times
from aoti_debug.read.record import Launches, SavedTensor, TensorStatistics
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.interpreter import without_torch
from aoti_debug.triage.run_state import DIAGNOSIS, Ran, RunState
from aoti_debug.triage.spawn import spawn, torch_of

RANGES = 8  # tensors of which the values are told


def torch_version(state: RunState) -> Version:
    """Return (major, minor) of the target's torch; the newest known when it cannot be told."""
    found = re.match(r"(\d+)\.(\d+)", torch_of(state.request.target) or "")
    return (int(found[1]), int(found[2])) if found else NEWEST


async def run_stage(state: RunState, stage: Stage) -> StageAnswer:
    ran = await run_under(state, stage)
    if stage.name == "tensors":
        collect_tensors(ran.observations, state)
    return finish(state, stage, ran)


async def run_under(state: RunState, stage: Stage, repro_level: int = 2) -> Ran:
    directory, kernels = state.directory.path, state.request.kernels
    setting = Setting(torch_version(state), directory, kernels, repro_level=repro_level)
    flags = dict(stage.environment(setting))
    compiles = stage.acts_in(setting.version) == "codegen"
    if compiles:
        # An earlier artifact in a shared cache would be served without the stage's code.
        flags["TORCHINDUCTOR_CACHE_DIR"] = str(directory / "cache")
        state.recompiles += 1
    return await spawn(
        state,
        f"stage {stage.name}",
        state.request.target.argv,
        directory,
        flags=flags,
        capture=state.request.capture,
        recompiles=False,  # counted already
        reuse="never" if compiles else "same lines",
    )


def finish(state: RunState, stage: Stage, ran: Ran) -> StageAnswer:
    version = torch_version(state)
    setting = Setting(version, state.directory.path, state.request.kernels)
    did, why = acted(stage, stage.acts_in(version), ran.observations)
    best = next(iter(diagnose(ran.observations)), None)
    if best is not None:
        best = best.model_copy(update={"run": state.directory.id, "cost": state.cost()})
        state.diagnosis = best
        state.keep(DIAGNOSIS, best.document())
    state.ended = ran.exit
    return StageAnswer(
        run=state.directory.id,
        status="done",
        stage=stage.name,
        acted=did,
        why=why,
        exit=ran.exit.how,
        ended_well=ran.exit.ok or None,
        wall_s=round(ran.exit.wall_s, 2),
        environment=dict(stage.environment(setting)),
        diagnosis=best,
        observed=observed(ran.observations),
        artifacts=state.artifacts(),
        notes=all_notes(state, ran),
    )


def all_notes(state: RunState, ran: Ran) -> list[str]:
    target, which = state.request.target, list[str]()
    if target.python is not None and target.python_from and torch_of(target) is None:
        which = [without_torch(target.python, target.python_from)]
    return [*state.notes, *which, *stray_note(ran)]


def stray_note(ran: Ran) -> list[str]:
    if not (count := ran.exit.strays):
        return []
    were = "was" if count == 1 else "were"
    return [f"{times(count, 'process', 'processes')} outlived the script and {were} ended"]


def observed(observations: Observations) -> list[str]:
    """Say in a few lines what the stage's own output showed."""
    lines: list[str] = []
    for launches in observations.of(Launches):
        names = ", ".join(name for name, _ in launches.kernels[:6])
        lines.append(
            f"printer mode {launches.mode}: {times(launches.total, 'launch', 'launches')} of "
            f"{times(len(launches.kernels), 'kernel')}; first {names}"
        )
        if launches.unfinished:
            lines.append(
                f"{launches.unfinished} (launch {launches.unfinished_launch}) began and did not end"
            )
    statistics = observations.of(TensorStatistics)
    if (first := first_nan(statistics)) is not None:
        where = f"after {first.kernel} (launch {first.launch})" if first.launch else "from outside"
        lines.append(f"NaN first appears in {first.argument} {where}")
    return [*lines, *ranges(statistics)]


def ranges(statistics: Sequence[TensorStatistics]) -> list[str]:
    """Say in which range the values of each kernel's tensors lie, after its launch."""
    known = [s for s in statistics if s.when == "after" and s.min is not None]
    lines = [
        f"{s.argument} after {s.kernel} (launch {s.launch}): from {s.min:g} to {s.max:g}"
        for s in known[:RANGES]
        if s.max is not None
    ]
    more = len(known) - RANGES
    return [*lines, f"and {more} more in stdout.log"] if more > 0 else lines


def collect_tensors(observations: Observations, state: RunState) -> None:
    """Move what printer mode 1 saved below the script's directory into the run's `tensors/`. The
    paths come from the log, so only files where torch writes are taken."""
    allowed = (state.request.target.cwd / "tmp").resolve()
    taken = 0
    for saved in observations.of(SavedTensor):
        path = Path(saved.path)
        if path.is_symlink() or not path.is_file() or path.suffix != ".pt":
            continue
        if path.resolve().is_relative_to(allowed) and path.name.startswith(
            ("aoti_torch", "before_launch", "after_launch", "aoti_model_inputs")
        ):
            to = state.directory.subdirectory("tensors")
            shutil.move(str(path), to / path.name)
            taken += 1
    if taken:
        were = f"{times(taken, 'saved tensor')} {'was' if taken == 1 else 'were'}"
        state.notes.append(f"{were} moved from {allowed} to tensors/")


CUDA_ONLY = "it acts on CUDA only, and no input or package of this run is on a CUDA device"


def acted(stage: Stage, acts: Acts, observations: Observations) -> tuple[bool | None, str]:
    """Tell whether the stage's flags could act (None: not known), and why. A stage that could not
    act finds nothing, which says nothing about the model."""
    if acts == "never":
        return True, "it sets no flags; it only watches"
    run = observations.run
    if not run.processes:
        return None, (
            "the probe did not start in the target (a program without Python, or an interpreter "
            "run with -I, -E or -S), so it is unknown whether the flags acted"
        )
    if not run.touches_aoti:
        return False, "the script never compiled, loaded or called an AOTInductor package"
    if stage.needs_cuda and not run.uses_cuda:
        return False, CUDA_ONLY
    if acts == "codegen":
        return codegen_acted(stage, run)
    if not run.calls:
        return False, "the flag acts when a loaded model is called, and no call was reached"
    return True, f"a loaded model was called {times(len(run.calls))} with the flag set"


def codegen_acted(stage: Stage, run: RunSeen) -> tuple[bool, str]:
    if not run.compiles:
        return False, (
            "the flag acts while code is generated, and the script compiled nothing: it only "
            "loads a package that was built before. Run it on the script that compiles, or delete "
            "the package if the script builds it when it is missing"
        )
    if stage.flag is not None:
        name, wanted = stage.flag
        values = {str((c.details.flags or {}).get(name)) for c in run.compiles}
        if wanted not in values:
            return False, (
                f"torch's setting {name} was {sorted(values)[0]} when code was generated, not "
                f"{wanted}: the script sets it itself"
            )
    if stage.name == "nan" and not run.uses_cuda:
        return False, (
            "these checks are generated for Triton kernels (and, from torch 2.13 on, for the "
            "inputs of the model): kernels of a CPU model have none"
        )
    return True, f"the script compiled {times(len(run.compiles), 'model')} with the flag set"
