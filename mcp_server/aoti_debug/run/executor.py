"""Run tasks as cores, memory and GPUs allow: targets of a sweep, candidates of minify."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import anyio
import psutil

from aoti_debug.run.device import Device

T = TypeVar("T")
R = TypeVar("R")
Task = TypeVar("Task", contravariant=True)
Result = TypeVar("Result", covariant=True)
LOOK = 64  # tasks that may overtake one that does not fit yet
PATIENCE = 256  # overtakings after which it has the next place that fits
SPARE = 1.25  # of what was measured: the next run may take a little more
CONTEXT = 600 << 20  # bytes that a process of its own takes on a GPU


@dataclass(frozen=True, slots=True)
class Demand:
    """What a task needs while it runs; None: nobody has said or measured it. In bytes."""

    gpus: int | None = None
    gpu: str | None = None
    gpu_memory: int | None = None
    memory: int | None = None
    cores: int | None = None


ANY = Demand()
NO_GPU = Demand(gpus=0)


@dataclass(slots=True)
class Gpu:
    uuid: str
    name: str
    memory: int
    promised: int = 0
    users: int = 0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """What one task has while it runs."""

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

    def __str__(self) -> str:
        gpus = f", {len(self.gpus)} GPUs" if self.gpus else ""
        return f"{self.jobs} at a time on this machine ({self.cores} cores{gpus})"

    def never(self, demand: Demand) -> str | None:
        """Say why a task can never run here, if so."""
        wanted = self._wanted(demand)
        fitting = [gpu for gpu in self.gpus if _is_kind(gpu, demand.gpu)]
        if len(fitting) < wanted:
            kind = f" of kind {demand.gpu}" if demand.gpu else ""
            return f"it needs {wanted} GPUs{kind}, and this machine has {len(fitting)}"
        return None

    def take(self, demand: Demand) -> Share | None:
        """Return what a task gets now, or None to wait; one that is too large runs alone."""
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
    """Return what this machine has; by default a task for each GPU, or for each two cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    gpus = [Gpu(device.uuid, device.name, device.memory) for device in devices]
    most = max(len(gpus), cores // 2, 1)
    return Machine(jobs or most, cores, int(psutil.virtual_memory().available * 0.9), gpus)


class Executor(Protocol[Task, Result]):
    """Where tasks run. `never` returns the result of a task that nothing there can run."""

    def never(self, task: Task, /) -> Result | None: ...
    def take(self, task: Task, /) -> Share | None: ...
    def give(self, share: Share, /) -> None: ...
    async def run(self, task: Task, share: Share, /) -> Result: ...


@dataclass(frozen=True, slots=True)
class Here(Generic[T, R]):
    """Run tasks in this process, each in one of a machine's places."""

    machine: Machine
    do: Callable[[T], Awaitable[R]]
    demand: Demand = NO_GPU

    def never(self, _task: T) -> None:
        return None

    def take(self, _task: T) -> Share | None:
        return self.machine.take(self.demand)

    def give(self, share: Share) -> None:
        self.machine.give(share)

    async def run(self, task: T, _share: Share) -> R:
        return await self.do(task)


async def dispatch(
    tasks: Iterator[T],
    executor: Executor[T, R],
    on_result: Callable[[R], None],
    stop: anyio.Event,
) -> None:
    """Run each task once, as soon as there is room for it, and begin none after `stop`. The first
    error stops the others and is raised when they have ended. Memory does not grow."""
    waiting: deque[T] = deque()
    freed = anyio.Event()
    overtaken = 0
    failure: list[Exception] = []

    async def work(task: T, share: Share) -> None:
        try:
            on_result(await executor.run(task, share))
        except Exception as error:  # outside the group it keeps its own type
            failure.append(error)
            stop.set()
        finally:
            executor.give(share)
            freed.set()

    async def fill() -> bool:
        while len(waiting) < LOOK and (task := next(tasks, None)) is not None:
            if (refused := executor.never(task)) is not None:
                on_result(refused)
                await anyio.lowlevel.checkpoint()  # there may be no end of them
                if stop.is_set():
                    return False
            else:
                waiting.append(task)
        return bool(waiting)

    async with anyio.create_task_group() as group:
        while not stop.is_set() and await fill():
            window = 1 if overtaken > PATIENCE else len(waiting)
            for position in range(window):
                share = executor.take(waiting[position])
                if share is not None:
                    overtaken = 0 if position == 0 else overtaken + 1
                    task = waiting[position]
                    del waiting[position]
                    group.start_soon(work, task, share)
                    break
            else:
                await freed.wait()
                freed = anyio.Event()
    if failure:
        raise failure[0]
