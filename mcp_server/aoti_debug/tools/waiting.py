"""Wait for a run on behalf of a call: progress goes out, cancelling the call ends the run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.mcpserver import Context

from aoti_debug.model import RunModel

if TYPE_CHECKING:
    from aoti_debug.api import Service
    from aoti_debug.tools.lazy_service import LazyService

Call: TypeAlias = Context[Any, Any]
OWNER = "aoti_debug.owner"  # in the scope of an HTTP request: whose runs it may see
_PENDING = 64  # progress texts that wait to be sent; more are dropped


async def service_of(call: Call) -> Service:
    """Return the service that holds this server's runs."""
    lazy: LazyService = call.request_context.lifespan_context
    return await lazy.get()


def owner_of(call: Call) -> str | None:
    """Return whose runs a call may see; None for all (over stdio there is one client)."""
    request = call.request_context.request
    return None if request is None else str(request.scope.get(OWNER, ""))


async def follow(call: Call, run: str, wait_s: float) -> RunModel:
    """Wait until the run ends or the time passes; end the run if the call is cancelled."""
    service = await service_of(call)
    try:
        return await _reporting(call, service, run, wait_s)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await service.cancel(run, owner_of(call))
        raise


async def _reporting(call: Call, service: Service, run: str, wait_s: float) -> RunModel:
    send, receive = anyio.create_memory_object_stream[str](_PENDING)
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_pump, receive, call)
        with send:
            try:
                result = await service.wait(run, wait_s, _sender(send.send_nowait), owner_of(call))
            except Exception as error:  # outside the group it keeps its own type
                failure = error
    if failure is not None:
        raise failure
    return result


def _sender(send: Callable[[str], None]) -> Callable[[str], None]:
    def report(text: str) -> None:
        # a slow or gone listener must not slow the run
        with suppress(anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            send(text)

    return report


async def _pump(receive: MemoryObjectReceiveStream[str], call: Call) -> None:
    done = 0
    async with receive:
        async for text in receive:
            done += 1
            try:
                await call.report_progress(done, None, text)
            except Exception:  # the connection is gone; the call is about to be cancelled
                return
