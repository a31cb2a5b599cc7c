"""Candidates from kernels that Inductor tries while it compiles, on data that it makes up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import path_and_line, phase_at_end, traceback_phase
from aoti_debug.diagnose.downgrade import GPU_ERROR, dumped
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, evidence
from aoti_debug.explain.out_of_bounds import COMPUTED
from aoti_debug.facts.categories import Tier
from aoti_debug.facts.trials import without
from aoti_debug.model import Experiment, Fault, Fix, Kernel
from aoti_debug.read.record import PythonException

if TYPE_CHECKING:
    from aoti_debug.read.record import DeviceAssert, GpuException
    from aoti_debug.read.trial_report import ComputedIndex, WithoutTrial

GUIDE = "guides/triton-index-out-of-bounds.md#an-assert-while-compiling"
COMPILING = ("lower", "autotune", "cpp_compile")

TRIAL_STOPPED = Kind("autotune_error", "autotune", Tier.ASSERTION, GUIDE)


def in_trial(observations: Observations) -> bool:
    """Tell whether a generated kernel failed within a compile, so in a trial: no call was under
    way, and data of the user's that leaves the bounds itself was not found."""
    tried = observations.without_trial
    if tried is not None and tried.outside:
        return False
    if observations.run.probed:
        return phase_at_end(observations) in COMPILING
    raised = observations.of(PythonException)
    return any(traceback_phase(observations, one) == "autotune" for one in raised)


def candidate(
    observations: Observations, found: DeviceAssert | GpuException, kernel: Kernel, bounds: str = ""
) -> Candidate:
    """Say that the trial stopped, which index cannot stand made-up data, what leaves it out."""
    tried = observations.without_trial
    index = next(iter(tried.computed), None) if tried is not None else None
    phase = observations.run.failure
    upper = index.upper if index is not None else None
    bounds = bounds or (f"0 <= index < {upper}" if upper is not None else "its bounds")
    proofs = [evidence(one.span) for one in (found, phase) if one is not None]
    if tried is not None:
        said = f"{settings_of(tried.settings)}: {outcome(tried)}"
        proofs.append(evidence(tried.artifact, said))
    none = "no call was made, so your data was not used"
    none = "no call was under way" if observations.run.calls else none
    return TRIAL_STOPPED.found(
        f"Inductor tuned a kernel on made-up data, and an index left {bounds}: "
        f"{none}{whence(index)}",
        *proofs,
        confidence="proved" if is_proved(observations) else "likely",
        kernel=kernel,
        ops=[index.op] if index is not None else [],
        source=index.source if index is not None else [],
        fault=Fault(access="assert", block=found.block, thread=found.thread),
        because=because(tried),
        fixes=fixes(observations, tried, index),
    )


def is_proved(observations: Observations) -> bool:
    """Tell whether the device's error ended the compile, and the export's inputs are in bounds."""
    tried = observations.without_trial
    device = dumped(observations) or GPU_ERROR.search(observations.run.error) is not None
    return device and tried is not None and tried.outside == ""


def whence(index: ComputedIndex | None) -> str:
    if index is None:
        return ""
    made = " <- ".join(index.by[:4]) or "the model"
    of = f" of {', '.join(index.inputs[:3])}" if index.inputs else ""
    return (
        f". The model computes the index of {index.op} from values{of} ({made}): real values stay "
        "in range, random ones do not"
    )


def outcome(tried: WithoutTrial) -> str:
    if tried.works:
        same = "agrees with" if tried.verdict == "agrees" else "runs as"
        return f"the compile succeeds, and the package {same} the exported program"
    if tried.state == "done":
        return f"the compile succeeds, and the values are {tried.verdict}"
    return f"the process ended in {tried.state or 'its start'}"


def because(tried: WithoutTrial | None) -> list[Experiment]:
    if tried is None:
        return []
    found = []
    if tried.compiled:
        what = f"compiled again with {settings_of(tried.settings)}"
        found.append(Experiment(experiment=what, result=outcome(tried)))
    if tried.outside == "":
        example = "the exported program, on the export's own example inputs"
        found.append(Experiment(experiment=example, result="every index is within its bounds"))
    return found


def fixes(
    observations: Observations, tried: WithoutTrial | None, index: ComputedIndex | None
) -> list[Fix]:
    compiled = observations.run.compiles
    flags = (compiled[-1].details.flags or {}) if compiled else {}
    settings = tried.settings if tried is not None else without(flags)
    place = next(iter(index.source), None) if index is not None else None
    what = f"compile with inductor_configs={settings_of(settings)}: kernels are then tuned on the "
    what += "example inputs"
    why = "not tried: the exported program is not kept"
    if tried is not None:
        why = f"not tried: {outcome(tried)}"
    if tried is not None and tried.compiled:
        why = f"tried here in {tried.seconds or 0:.0f} s: {outcome(tried)}"
    bound = Fix(
        what=f"or change the model so that any value gives an index in bounds: {bounded(index)}",
        where=path_and_line(place),
        why="it does not change valid data, and kernels are tuned as before",
    )
    refused = tried is not None and tried.compiled and not tried.works
    return [bound] if refused else [Fix(what=what, why=why), bound]


def bounded(index: ComputedIndex | None) -> str:
    by: Sequence[str] = index.by if index is not None else ()
    words = next((COMPUTED[name] for name in by if name in COMPUTED), "")
    upper = index.upper if index is not None else "the size"
    top = upper - 1 if isinstance(upper, int) else "size - 1"
    return words.format(table="the table") if words else f"index.clamp(0, {top})"


def settings_of(settings: object) -> str:
    """Return settings as Python writes them."""
    return json.dumps(settings, default=dict).replace("true", "True").replace("false", "False")
