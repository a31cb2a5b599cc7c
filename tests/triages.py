"""Triage real scripts in this process, several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from aoti_debug.answers import TriageAnswer
from aoti_debug.kinds import TRIAGE
from aoti_debug.model import Diagnosis
from aoti_debug.run.target import resolve_target
from aoti_debug.service import Request, Service

CALL = Path(__file__).parent / "targets" / "call.py"
AT_ONCE = 2
QUICK = {"TORCHINDUCTOR_VEC_ISA_OK": "1"}  # a load looks for vector instructions otherwise: 20 s


@dataclass(frozen=True)
class Triaged:
    answer: TriageAnswer
    directory: Path  # of the run

    @property
    def best(self) -> Diagnosis:
        assert self.answer.diagnosis is not None
        return self.answer.diagnosis


Job = tuple[Path, Sequence[str], Mapping[str, str]]  # script, arguments, environment


def triage_all(jobs: Mapping[str, Job], home: Path, python: str) -> dict[str, Triaged]:
    """Triage the scripts, AT_ONCE at a time, in one home."""
    found: dict[str, Triaged] = {}
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def one(service: Service, name: str, job: Job) -> None:
        script, arguments, environment = job
        target = resolve_target(
            script=str(script),
            args=tuple(arguments),
            python=python,
            env={**QUICK, **environment},
            cwd=script.parent,
        )
        async with limit:
            run = await service.start(TRIAGE, Request(target=target, timeout_s=300, python=python))
            answer = await service.wait(run)
        assert isinstance(answer, TriageAnswer)
        found[name] = Triaged(answer, home / "runs" / run)

    async def main() -> None:
        async with Service(home) as service, anyio.create_task_group() as tasks:
            for name, job in jobs.items():
                tasks.start_soon(one, service, name, job)

    anyio.run(main)
    return found


def calls(built, *cases: str) -> dict[str, Job]:
    return {case: (CALL, (str(built.directory), case), {}) for case in cases}
