"""Run targets on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import anyio

from aoti_debug.run.directory import home
from aoti_debug.run.executor import Machine, Share, this_machine
from aoti_debug.sweep.one import Order, not_run, run_one
from aoti_debug.sweep.plan import Planned
from aoti_debug.sweep.row import Row
from aoti_debug.triage.launch import hold_gpus
from aoti_debug.triage.run_state import RunState


@contextlib.asynccontextmanager
async def local(work: RunState, jobs: int | None = None) -> AsyncIterator[Local]:
    """Yield this machine's workers; its GPUs are held for the sweep as a whole."""
    async with hold_gpus(work) as devices:
        machine = this_machine(jobs, devices)
        yield Local(machine, work.directory.path / "orders", work.client, work.stop)


@dataclass
class Local:
    """Run targets on this machine."""

    machine: Machine
    folder: Path
    owner: str | None = None
    stop: anyio.Event | None = None
    begun: int = 0

    @property
    def workers(self) -> str:
        return str(self.machine)

    def never(self, planned: Planned) -> Row | None:
        why = self.machine.never(planned.demand)
        return not_run(planned, why) if why else None

    def take(self, planned: Planned) -> Share | None:
        return self.machine.take(planned.demand)

    def give(self, share: Share) -> None:
        self.machine.give(share)

    async def run(self, planned: Planned, share: Share) -> Row:
        self.begun += 1
        where = ", ".join(f"GPU {gpu[:12]}" for gpu in share.gpus)
        devices = share.gpus if self.machine.gpus else None
        order = Order(
            planned,
            str(home()),
            self.owner,
            where=where,
            devices=devices,
            alone=share.gpu_memory is None,
        )
        return await run_one(order, self.folder / str(self.begun), self.stop)
