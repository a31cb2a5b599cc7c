"""Steps after all replays: what they build on, and when they are taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aoti_debug.diagnose import Observations
from aoti_debug.model import Diagnosis
from aoti_debug.triage import plan
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.run_state import RunState


@dataclass(frozen=True, slots=True)
class Context:
    """What a later step may build on: the call, the machine, and how long it may take."""

    call: Captured
    machine: plan.Machine
    budget_s: float


@dataclass(frozen=True, slots=True)
class LaterStep:
    """A named step after all replays. It returns the observations with what it adds to them, and
    records its own Step; what it raises is noted and ends only itself."""

    name: str
    budget_s: float
    take: Callable[[RunState, Observations, Context], Awaitable[Observations]]
    when: Callable[[Observations, Diagnosis], bool] = lambda observations, best: True
