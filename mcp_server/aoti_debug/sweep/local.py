"""This machine's workers: cores, memory and GPUs, each given to the targets that fit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
import psutil

from aoti_debug.run.device import Device, hold_devices, visible_devices
from aoti_debug.run.directory import home
from aoti_debug.sweep.one import Order, run_one
from aoti_debug.sweep.plan import Demand, Planned
from aoti_debug.sweep.row import Row

SPARE = 1.25  # of what was measured: the next run may take a little more
CONTEXT = 600 << 20  # bytes that a process of its own takes on a GPU


@dataclass(slots=True)
class Gpu:
    """One GPU, and what of it is promised."""

    uuid: str
    name: str
    memory: int
    promised: int = 0
    users: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """What one target has while it runs."""

    gpus: tuple[str, ...] = ()
    gpu_memory: int | None = None  # None: the whole of each
    memory: int = 0
    cores: int = 0


@dataclass(slots=True)
class Machine:
    """What there is, and what of it is free. Pure."""

    jobs: int
    cores: int
    memory: int
    gpus: list[Gpu] = field(default_factory=list)
    running: int = 0

    def never(self, demand: Demand) -> str | None:
        """Say why a target can never run here, if so."""
        wanted = self._wanted(demand)
        fitting = [gpu for gpu in self.gpus if _is_kind(gpu, demand.gpu)]
        if len(fitting) < wanted:
            kind = f" of kind {demand.gpu}" if demand.gpu else ""
            return f"it needs {wanted} GPUs{kind}, and this machine has {len(fitting)}"
        return None

    def take(self, demand: Demand) -> Share | None:
        """Return what a target gets now; None: it has to wait. One that needs more than there is
        runs alone."""
        if self.running >= self.jobs:
            return None
        memory, cores = int((demand.memory or 0) * SPARE), demand.cores or 0
        if self.running and (memory > self.memory or cores > self.cores):
            return None
        each = int(demand.gpu_memory * SPARE) + CONTEXT if demand.gpu_memory else None
        chosen = self._choose(self._wanted(demand), each, demand.gpu)
        if chosen is None:
            return None
        for gpu in chosen:
            gpu.users += 1
            gpu.alone = each is None
            gpu.promised += each or gpu.memory
        self.running += 1
        self.memory -= memory
        self.cores -= cores
        return Share(tuple(gpu.uuid for gpu in chosen), each, memory, cores)

    def give(self, share: Share) -> None:
        """Take back what a target had."""
        for gpu in self.gpus:
            if gpu.uuid in share.gpus:
                gpu.users -= 1
                gpu.alone = False
                gpu.promised -= share.gpu_memory or gpu.memory
        self.running -= 1
        self.memory += share.memory
        self.cores += share.cores

    def _wanted(self, demand: Demand) -> int:
        return min(1, len(self.gpus)) if demand.gpus is None else demand.gpus

    def _choose(self, wanted: int, each: int | None, kind: str | None) -> list[Gpu] | None:
        def fits(gpu: Gpu) -> bool:
            if gpu.alone or not _is_kind(gpu, kind):
                return False
            if each is None or not gpu.users:
                return not gpu.users
            return gpu.promised + each <= gpu.memory

        free = sorted((gpu for gpu in self.gpus if fits(gpu)), key=lambda gpu: gpu.promised)
        return free[:wanted] if len(free) >= wanted else None


def _is_kind(gpu: Gpu, kind: str | None) -> bool:
    words = gpu.name.lower()
    return kind is None or all(word in words for word in kind.lower().split())


def this_machine(jobs: int | None, devices: list[Device]) -> Machine:
    """Return what this machine has; by default a target for each GPU, or for each two cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    gpus = [Gpu(device.uuid, device.name, device.memory) for device in devices]
    most = max(len(gpus), cores // 2, 1)
    return Machine(jobs or most, cores, int(psutil.virtual_memory().available * 0.9), gpus)


@contextlib.asynccontextmanager
async def local(
    run: str,
    folder: Path,
    jobs: int | None = None,
    *,
    owner: str | None = None,
    wait_s: float = 0.0,
    say: Callable[[str], None] | None = None,
    stop: anyio.Event | None = None,
) -> AsyncIterator[Local]:
    """Yield this machine's workers; its GPUs are held for the sweep as a whole."""
    devices = await anyio.to_thread.run_sync(visible_devices)
    async with hold_devices(devices, run=run, command="sweep", wait_s=wait_s, on_wait=say):
        yield Local(this_machine(jobs, devices), folder, owner, stop)


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
        machine = self.machine
        gpus = f", {len(machine.gpus)} GPUs" if machine.gpus else ""
        return f"{machine.jobs} at a time on this machine ({machine.cores} cores{gpus})"

    def never(self, demand: Demand) -> str | None:
        return self.machine.never(demand)

    def take(self, demand: Demand) -> Share | None:
        return self.machine.take(demand)

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
