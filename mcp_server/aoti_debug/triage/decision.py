"""Whether a step is run, skipped or impossible, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.traffic import judged
from aoti_debug.model import Diagnosis
from aoti_debug.package.contract import takes
from aoti_debug.triage.captured_call import KINDS, Captured
from aoti_debug.triage.observe import dump_tells
from aoti_debug.vocabulary import Check

Name = (
    Check
    | Literal[
        "again",
        "native",
        "memcheck",
        "initcheck",
        "racecheck",
        "synccheck",
        "deterministic",
    ]
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What this machine has for the replays."""

    gpu: bool = False
    sanitizer: Path | None = None
    gdb: Path | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a step is run: in the process that all checks share, in its own replay, or on the
    target; or why it is not run."""

    how: Literal["checks", "replay", "target", "skipped", "impossible"]
    why: str = ""

    @property
    def runs(self) -> bool:
        return self.how not in ("skipped", "impossible")


CHECK, REPLAY, TARGET = Decision("checks"), Decision("replay"), Decision("target")


def skip(why: str) -> Decision:
    return Decision("skipped", why)


def unless(why_not: str, decision: Decision = CHECK) -> Decision:
    return Decision("impossible", why_not) if why_not else decision


@dataclass(frozen=True, slots=True)
class Planned:
    """A step, why it is needed, and the decision; `of_target`: not on the captured call."""

    name: Name
    why: str
    decision: Decision
    of_target: bool = False

    @property
    def key(self) -> str:
        return f"{self.name} of the target" if self.of_target else self.name


def of_target(name: Name, why: str, decision: Decision) -> Planned:
    return Planned(name, why, TARGET if decision.runs else decision, of_target=True)


NO_GPU = "this machine has no GPU that the script can see"
NO_SANITIZER = (
    "compute-sanitizer is not on this machine (it comes with the CUDA toolkit, or with "
    "pip install nvidia-cuda-sanitizer-api)"
)
NO_GDB = "gdb is not on this machine"
NO_CHECKS = "the package was compiled without input checks"
IN_DUMP = (
    "the core dump names the line of your kernel and its access; a memory checker would only add "
    "the distance to the nearest allocation"
)
OUTSIDE = "the last call had returned, so the model is not where it died"
OPAQUE = "the calls of this program cannot be observed"
STATED = "every call fits the inputs that the package's own source declares"
TAKEN = (
    "the sizes of every call satisfy the exported program's bounds and guards; running it would "
    "only repeat the fault"
)
NO_OPERATOR = "the model calls no custom operator"
OPEN = "the core dump names the kernel, but not the reason"


def in_view_of_dump(
    step: Planned, observations: Observations, best: Diagnosis, captured: Captured
) -> Planned:
    """Skip a step that cannot change the diagnosis where the core dump has the line and access of
    the user's own kernel; for any other step say why the dump is not enough."""
    if step.decision.how == "skipped" or not dump_tells(observations, best):
        return step
    told = of_dump(step.name, observations, captured)
    if isinstance(told, Decision):
        return replace(step, decision=told)
    open_ = bool(told) and step.decision.runs
    return replace(step, why=f"{step.why} ({OPEN}: {told})") if open_ else step


def of_dump(name: Name, observations: Observations, captured: Captured) -> Decision | str:
    """Skip a step that such a dump makes useless, else say what the step may find; "" for a step
    about something else."""
    if name in ("memcheck", "again"):
        return skip(IN_DUMP)
    run = observations.run
    described = not any(counts.others for counts in run.call_counts)
    if name == "contract":
        calls = judged(observations)
        held = described and calls.judged == calls.made
        return skip(STATED) if held else "not every call could be judged"
    if name in ("guards", "calls"):
        fit = described and sizes_fit(captured)
        return skip(TAKEN) if fit else "guards may not hold, or indices not fit"
    if name != "fakes":
        return ""
    model = observations.model
    operators = model.users_operators if model is not None else None
    if operators is None:
        return "the package does not say which operators the model calls"
    return f"the model calls {', '.join(operators)[:200]}" if operators else skip(NO_OPERATOR)


def sizes_fit(captured: Captured) -> bool:
    """Tell whether the sizes of all calls fit the exported program and kernels check their indices
    before another kernel uses what was read with them."""
    asked, checked = captured.sizes, (captured.settings or {}).get("assert_indirect_indexing", True)
    if asked is None or not checked or len(captured.others) >= KINDS:
        return False
    calls = [call for call in (captured.call, *captured.others) if call is not None]
    return all(
        takes(asked, [one.shape if one.kind == "tensor" else None for one in call.inputs])
        for call in calls
    )
