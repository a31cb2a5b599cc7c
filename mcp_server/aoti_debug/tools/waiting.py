"""Wait for a run on behalf of a call, which gets its progress and may cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import Annotated, Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp_types import CallToolResult
from pydantic import create_model

from aoti_debug import api
from aoti_debug.kinds import KINDS, A, Kind, R
from aoti_debug.model import RunModel
from aoti_debug.signals import Stopped, T, caught, in_thread, settled
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import MAX_WAIT_S, Call, Run, WaitS, asker_of, owner_of, tool


def _fields() -> dict[str, Any]:
    """Return the fields of every kind's answer; what not all of them must have may be missing."""
    found: dict[str, Any] = {}
    for each in dict.fromkeys(kind.answer for kind in KINDS.values()):
        for name, field in each.model_fields.items():
            if name in RunModel.model_fields:
                continue
            kind = field.annotation
            if name in found and found[name][0] not in (kind, kind | None):
                raise TypeError(f"two kinds of run answer {name!r} with different types")
            found[name] = (kind | None, None) if field.is_required() else (kind, field)
    return found


RunAnswer = create_model(
    "RunAnswer", __base__=RunModel, __doc__="The answer of a run of any kind.", **_fields()
)

GPU_WAIT_S = 3600.0  # for the runs of other servers, such as those started over ssh


class LazyService:
    """One service for all calls; it lives in the task of `keep`, which ends its runs."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
        self._wanted = anyio.Event()
        self._settled = anyio.Event()
        self._service: api.Service | None = None
        self._error: Exception | None = None

    async def get(self) -> api.Service:
        self._wanted.set()
        await self._settled.wait()
        if self._error is not None:
            raise self._error
        assert self._service is not None
        return self._service

    async def keep(self) -> None:
        """Run the service from the first `get` until this task is cancelled."""
        await self._wanted.wait()
        try:
            service = api.service(self._home, GPU_WAIT_S, apart=True)
        except Exception as error:  # told to the call that needs it; the other tools still work
            self._error = error
            self._settled.set()
            return
        async with service as self._service:
            self._settled.set()
            await anyio.sleep_forever()


_PENDING = 64  # progress texts that wait to be sent; more are dropped


_threads = api.turns(places=16, own=2)


async def service_of(call: Call) -> api.Service:
    lazy: LazyService = call.request_context.lifespan_context
    return await lazy.get()


async def run_of(
    call: Call, kind: Kind[R, A], resolved: Callable[[Event], R], wait_s: float
) -> RunModel:
    """Start a run of what is resolved in a thread, and wait for it."""
    request = await in_turn(owner_of(call), resolved)
    run = await (await service_of(call)).start(kind, request, owner_of(call))
    return await follow(call, run, wait_s)


async def in_turn(owner: str | None, work: Callable[[Event], T]) -> T:
    """Do work in one of the few threads that a client may have."""
    loop, begun = asyncio.get_running_loop(), Lock()

    def working(stop: Event) -> T:
        if not begun.acquire(blocking=False):
            raise Stopped
        try:
            return work(stop)
        finally:  # a thread goes on when its call has left
            loop.call_soon_threadsafe(_threads.give, owner)

    await _threads.wait(owner)
    try:
        return await in_thread(working)
    finally:
        if begun.acquire(blocking=False):  # the call has left before
            _threads.give(owner)


async def follow(call: Call, run: str, wait_s: float) -> RunModel:
    """Wait for the run or the time; a cancelled call ends the run, a lost connection does not."""
    service = await service_of(call)
    try:
        return await _reporting(call, service, run, wait_s)
    except anyio.get_cancelled_exc_class():
        if not asker_of(call).left:
            with anyio.CancelScope(shield=True):
                await service.cancel(run, owner_of(call))
        raise


async def _reporting(call: Call, service: api.Service, run: str, wait_s: float) -> RunModel:
    send, receive = anyio.create_memory_object_stream[str](_PENDING)

    def report(text: str) -> None:
        # a slow or gone listener must not slow the run
        with suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            send.send_nowait(text)

    async with anyio.create_task_group() as group:
        group.start_soon(_pump, receive, call)
        with send:
            result = await caught(service.wait(run, wait_s, report, owner_of(call)))
    return settled(result)


async def _pump(receive: MemoryObjectReceiveStream[str], call: Call) -> None:
    done = 0
    async with receive:
        async for text in receive:
            done += 1
            try:
                await call.report_progress(done, None, text)
            except Exception:  # the connection is gone; the call is about to be cancelled
                return


async def wait_run(
    call: Call, run: Run, wait_s: WaitS = MAX_WAIT_S
) -> Annotated[CallToolResult, RunAnswer]:
    """Wait for a run of this server and return its answer so far; wait_s 0 only looks.
    Cancelling this call ends the run."""
    return answer(await follow(call, run, wait_s))


WAIT_RUN = tool(wait_run, "Wait for a run")


async def cancel_run(call: Call, run: Run) -> Annotated[CallToolResult, RunAnswer]:
    """End a run with all its processes; returns what is known until then."""
    service = await service_of(call)
    return answer(await service.cancel(run, owner_of(call)))


CANCEL_RUN = tool(cancel_run, "Cancel a run", read_only=False, destructive=True)
