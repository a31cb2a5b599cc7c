"""The service, loaded and started by the first call that needs it: clients wait for a start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from aoti_debug.api import Service

GPU_WAIT_S = 3600.0  # for the runs of other servers, such as those started over ssh


class LazyService:
    """One service for all calls; it lives in the task of `keep`, which ends its runs."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
        self._wanted = anyio.Event()
        self._settled = anyio.Event()
        self._service: Service | None = None
        self._error: Exception | None = None

    async def get(self) -> Service:
        """Return the running service."""
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
            from aoti_debug import api

            service = api.service(self._home, GPU_WAIT_S)
        except Exception as error:  # told to the call that needs it; the other tools still work
            self._error = error
            self._settled.set()
            return
        async with service as self._service:
            self._settled.set()
            await anyio.sleep_forever()
