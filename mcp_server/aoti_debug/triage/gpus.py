"""The GPUs that a run may use: held for it alone, and looked at after a fault."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping

import anyio.to_thread

from aoti_debug.run.device import Device, health, hold_devices, visible_devices
from aoti_debug.run.machine import find_tool
from aoti_debug.triage.run_state import RunState


@contextlib.asynccontextmanager
async def hold_gpus(state: RunState) -> AsyncIterator[list[Device]]:
    """Hold every GPU that the target can see; none on a machine without a driver.

    Raises:
        DeviceBusy: the run of another process holds one; the message names it.
    """
    env = state.request.target.env
    if find_tool("nvidia-smi", env) is None:
        yield []
        return
    devices = await anyio.to_thread.run_sync(lambda: visible_devices(env))
    turns = state.gpus.at(frozenset(device.uuid for device in devices))
    state.say("waiting for its turn at the GPU")
    async with (
        turns.take(state.client),
        hold_devices(
            devices,
            run=state.directory.id,
            command=state.request.target.label,
            wait_s=state.gpu_wait_s,
            on_wait=state.say,
        ),
    ):
        yield devices


async def unwell(devices: list[Device], env: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the devices after a fault; empty when they are well."""
    found = []
    for device in devices:
        known = await anyio.to_thread.run_sync(lambda d=device: health(d, env))  # type: ignore[misc]
        if not known.ok:
            found.append(f"GPU {device.index} ({device.name}) is not well: {known.what}")
    return found
