"""Start a process of a run: its GPUs, the probe in it, its account."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from aoti_debug.run.device import Device, health, hold_devices, visible_devices
from aoti_debug.run.files import folder
from aoti_debug.run.interpreter import installed_versions
from aoti_debug.run.machine import find_tool
from aoti_debug.run.process import OnStart
from aoti_debug.run.target import Target
from aoti_debug.run.turns import Turns
from aoti_debug.triage import debuggers
from aoti_debug.triage.debuggers import stacks_into
from aoti_debug.triage.earlier_packages import Reuse, offered, said
from aoti_debug.triage.environment import TRACE, tracing, watched
from aoti_debug.triage.run_state import Cancelled, Ran, RunState


@contextlib.asynccontextmanager
async def hold_gpus(state: RunState) -> AsyncIterator[list[Device]]:
    """Hold every GPU that the target can see, unless whoever started the run does. Raise
    DeviceBusy, with its name, where the run of another process holds one."""
    devices = await gpus_of(state)
    holds = devices and state.request.holds_gpus
    async with hold(state, devices, state.gpu_wait_s) if holds else contextlib.nullcontext():
        yield devices


async def gpus_of(state: RunState) -> list[Device]:
    env = state.request.target.env
    if find_tool("nvidia-smi", env) is None:
        return []
    return await anyio.to_thread.run_sync(visible_devices, env)


def turns_at(state: RunState, devices: Sequence[Device]) -> Turns:
    return state.gpus[frozenset(device.uuid for device in devices)]


@contextlib.asynccontextmanager
async def hold(state: RunState, devices: Sequence[Device], wait_s: float) -> AsyncIterator[None]:
    """Hold GPUs after other clients' turns; raise DeviceBusy after `wait_s` for other processes."""
    turns = turns_at(state, devices)
    if turns.taken:
        state.say("waiting for its turn at the GPU")
    turn = turns.take(state.client)
    held = hold_devices(
        devices,
        run=state.directory.id,
        command=state.request.target.label,
        wait_s=wait_s,
        on_wait=state.say,
    )
    async with contextlib.AsyncExitStack() as both:
        await _unless_stopped(state, lambda: both.enter_async_context(turn))
        await _unless_stopped(state, lambda: both.enter_async_context(held))
        yield


async def _unless_stopped(state: RunState, wait: Callable[[], Awaitable[object]]) -> None:
    """Wait, but raise Cancelled once the user stops the run."""
    failure: list[Exception] = []
    async with anyio.create_task_group() as tasks:

        async def leave() -> None:
            await state.stop.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(leave)
        try:
            await wait()
        except Exception as error:  # outside the group it keeps its own type
            failure.append(error)
        tasks.cancel_scope.cancel()
    if failure:
        raise failure[0]
    if state.stop.is_set():
        raise Cancelled


async def unwell(devices: Sequence[Device], env: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the devices after a fault; empty when they are well."""
    found = []
    for device in devices:
        known = await anyio.to_thread.run_sync(health, device, env)
        if not known.ok:
            found.append(f"GPU {device.index} ({device.name}) is not healthy: {known.what}")
    return found


async def spawn(
    state: RunState,
    name: str,
    argv: tuple[str, ...],
    directory: Path,
    *,
    flags: Mapping[str, str] | None = None,
    watch: bool = True,
    traced: bool = False,
    capture: bool = False,
    recompiles: bool = True,
    reuse: Reuse = "same lines",
    stacks: bool = True,
    cwd: Path | None = None,
    timeout_s: float | None = None,
    watch_for_s: float | None = None,
    on_start: OnStart | None = None,
) -> Ran:
    """Run one process of a run in the target's environment, which `flags` override. `watch` adds
    the probe; `traced` has compiles leave more behind, so that a package fits only what was traced
    as well; `stacks` takes the stacks of a process that does not end. Its compiles count as
    `recompiles`; `reuse` says which earlier packages may replace them. Raise Cancelled where the
    user's stop ended it."""
    target = state.request.target
    environment = {**(tracing(directory) if traced else {}), **target.env}
    if traced:
        with contextlib.suppress(OSError):  # made by torch, others could enter it
            folder(directory / TRACE)
    if watch:
        environment = watched(environment, directory, state.directory.id, capture=capture)
        owner, home = state.directory.owner(), state.home
        environment |= await anyio.to_thread.run_sync(offered, directory, owner, home, reuse)
    environment.update(flags or {})
    if "sanitizer" in Path(argv[0]).name:
        environment = debuggers.sanitizer_environment(environment)
    ran = await state.run(
        name,
        argv,
        environment,
        directory,
        cwd=cwd,
        timeout_s=timeout_s,
        watch_for_s=watch_for_s,
        on_timeout=stacks_into(directory, target.env) if stacks else None,
        on_start=on_start,
        torch=torch_of(target),
    )
    seen = ran.observations.run
    state.recompiles += len(seen.compiles) - len(seen.reused) if recompiles else 0
    state.notes.extend(f"{name}: {line}" for line in said(seen))
    return ran


def torch_of(target: Target) -> str | None:
    return installed_versions(target.python, target.env).torch if target.python else None
