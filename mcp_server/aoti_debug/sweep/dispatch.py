"""Run targets as soon as there is a place for them, wherever that is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

import anyio

from aoti_debug.sweep.local import Share
from aoti_debug.sweep.plan import Demand, Planned
from aoti_debug.sweep.row import Row

LOOK = 64  # targets that may overtake one that does not fit yet
PATIENCE = 256  # overtakings after which it has the next place that fits


class Executor(Protocol):
    """Where targets run."""

    @property
    def workers(self) -> str: ...
    def never(self, demand: Demand) -> str | None: ...
    def take(self, demand: Demand) -> Share | None: ...
    def give(self, share: Share) -> None: ...
    async def run(self, planned: Planned, share: Share) -> Row: ...


async def dispatch(
    targets: Iterator[Planned], executor: Executor, on_row: Callable[[Row], None], stop: anyio.Event
) -> None:
    """Run targets as soon as the executor has what they need, each once; memory does not grow
    with their number."""
    waiting: deque[Planned] = deque()
    freed = anyio.Event()
    overtaken = 0
    failure: list[Exception] = []

    async def work(planned: Planned, share: Share) -> None:
        try:
            row = await executor.run(planned, share)
        finally:
            executor.give(share)
            freed.set()
        if not stop.is_set():  # else it was ended, and is run again by who resumes
            record(row)

    def record(row: Row) -> None:
        try:
            on_row(row)
        except Exception as error:  # outside the group it keeps its own type
            failure.append(error)
            stop.set()

    def fill() -> bool:
        while len(waiting) < LOOK and (planned := next(targets, None)) is not None:
            if why := executor.never(planned.demand):
                record(Row(index=planned.index, target=planned.name, outcome="error", summary=why))
            else:
                waiting.append(planned)
        return bool(waiting)

    async with anyio.create_task_group() as tasks:
        while not stop.is_set() and fill():
            window = 1 if overtaken > PATIENCE else len(waiting)
            for position in range(window):
                share = executor.take(waiting[position].demand)
                if share is not None:
                    overtaken = 0 if position == 0 else overtaken + 1
                    planned = waiting[position]
                    del waiting[position]
                    tasks.start_soon(work, planned, share)
                    break
            else:
                await freed.wait()
                freed = anyio.Event()
    if failure:
        raise failure[0]
