"""The kinds of run: what each one asks for, what does it and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from aoti_debug.answers import MinifyAnswer, StageAnswer, TriageAnswer, VerifyAnswer
from aoti_debug.errors import WrongUse
from aoti_debug.examine.answers import GraphsAnswer, MemoryAnswer, ValuesAnswer, WeightsAnswer
from aoti_debug.facts.stages import STAGES, stage_named
from aoti_debug.model import RunModel
from aoti_debug.sweep.answer import SweepAnswer

if TYPE_CHECKING:
    from aoti_debug.examine.memory import MemoryRequest
    from aoti_debug.examine.process import ExamineRequest
    from aoti_debug.examine.values import ValuesRequest
    from aoti_debug.examine.weights import WeightsRequest
    from aoti_debug.minify.request import MinifyRequest
    from aoti_debug.sweep.request import SweepRequest
    from aoti_debug.triage.run_state import Request, RunState
    from aoti_debug.verify.request import VerifyRequest

R = TypeVar("R", bound="Request")
A = TypeVar("A", bound=RunModel)


@dataclass(frozen=True, slots=True)
class Kind(Generic[R, A]):
    """One kind of run; `name` is kept with the run, so an old answer is read by the right type.

    `start` does the whole of it and imports what it needs itself: a server's start must not wait.
    A server does it in a process of its own, unless what it reads is read `apart` already.
    """

    name: str
    answer: type[A]
    start: Callable[[RunState, R], Awaitable[A]]
    apart: bool = False


async def _triage(work: RunState, _: Request) -> TriageAnswer:
    from aoti_debug.triage.pipeline import triage

    return await triage(work)


async def _minify(work: RunState, request: MinifyRequest) -> MinifyAnswer:
    from aoti_debug.minify.driver import minify

    return await minify(work, request)


async def _verify(work: RunState, request: VerifyRequest) -> VerifyAnswer:
    from aoti_debug.verify.driver import verify

    return await verify(work, request)


async def _sweep(work: RunState, request: SweepRequest) -> SweepAnswer:
    from aoti_debug.sweep.driver import sweep

    return await sweep(work, request)


async def _graphs(work: RunState, request: ExamineRequest) -> GraphsAnswer:
    from aoti_debug.examine.graphs import fitness

    return await fitness(work, request)


async def _memory(work: RunState, request: MemoryRequest) -> MemoryAnswer:
    from aoti_debug.examine.memory import measure_memory

    return await measure_memory(work, request)


async def _weights(work: RunState, request: WeightsRequest) -> WeightsAnswer:
    from aoti_debug.examine.weights import prove_update

    return await prove_update(work, request)


async def _values(work: RunState, request: ValuesRequest) -> ValuesAnswer:
    from aoti_debug.examine.values import values

    return await values(work, request)


def _stage(name: str) -> Kind[Request, StageAnswer]:
    async def start(work: RunState, request: Request) -> StageAnswer:
        if name == "time":
            from aoti_debug.examine.time import time

            return await time(work, request)
        from aoti_debug.triage.pipeline import run_named_stage

        return await run_named_stage(work, stage_named(name))

    return Kind(name, StageAnswer, start)


TRIAGE: Kind[Request, TriageAnswer] = Kind("triage", TriageAnswer, _triage)
MINIFY: Kind[MinifyRequest, MinifyAnswer] = Kind("minify", MinifyAnswer, _minify)
VERIFY: Kind[VerifyRequest, VerifyAnswer] = Kind("verify", VerifyAnswer, _verify)
VALUES: Kind[ValuesRequest, ValuesAnswer] = Kind("values of a package", ValuesAnswer, _values)
SWEEP: Kind[SweepRequest, SweepAnswer] = Kind("sweep", SweepAnswer, _sweep, apart=True)
GRAPHS: Kind[ExamineRequest, GraphsAnswer] = Kind("graphs", GraphsAnswer, _graphs)
MEMORY: Kind[MemoryRequest, MemoryAnswer] = Kind("memory", MemoryAnswer, _memory)
WEIGHTS: Kind[WeightsRequest, WeightsAnswer] = Kind("weights", WeightsAnswer, _weights)
_STAGES = {name: _stage(name) for name in STAGES}
_RUNS = (TRIAGE, MINIFY, VERIFY, VALUES, SWEEP, WEIGHTS, MEMORY, GRAPHS)
KINDS: dict[str, Kind[Any, Any]] = {
    **{kind.name: kind for kind in _RUNS},
    **_STAGES,
}


def stage_kind(name: str) -> Kind[Request, StageAnswer]:
    """Return the kind of run that is one stage; raise UnknownStage."""
    return _STAGES[stage_named(name).name]


def kind_named(name: str) -> Kind[Any, Any]:
    """Return the kind of a run that was kept; raise WrongUse for one of another release."""
    if name not in KINDS:
        raise WrongUse(f"this release knows no runs of the kind {name[:40]!r}")
    return KINDS[name]
