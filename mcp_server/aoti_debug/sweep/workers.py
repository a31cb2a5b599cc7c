"""Where the targets of a sweep run: in a process here, or on the workers of a Ray cluster."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from pydantic import ValidationError

from aoti_debug import __version__
from aoti_debug.errors import AotiDebugError
from aoti_debug.run.device import RETRY_S, Device, are_wanted
from aoti_debug.run.executor import SPARE, Demand, Machine, Share, this_machine
from aoti_debug.run.kept import home
from aoti_debug.sweep.one import ORDER, Order, not_run, run_one
from aoti_debug.sweep.plan import Planned
from aoti_debug.sweep.row import Row, short
from aoti_debug.triage.run_state import RunState
from aoti_debug.triage.spawn import gpus_of, hold, turns_at


@contextlib.asynccontextmanager
async def local(work: RunState, jobs: int | None = None) -> AsyncIterator[Local]:
    devices = await gpus_of(work)
    lease = Lease(work, devices)
    folder = work.directory.path / "orders"
    yield Local(this_machine(jobs, devices), folder, work.client, work.stop, lease)


class Lease:
    """A machine's GPUs: held while targets run on them, given back as soon as another run waits
    for them and those under way have ended."""

    def __init__(self, work: RunState, devices: list[Device]) -> None:
        self._work, self._devices = work, devices
        self._users = 0
        self._held = contextlib.AsyncExitStack()
        self._entering = anyio.Lock()
        self._wait_s = work.gpu_wait_s
        self._rests_until = -math.inf

    @property
    def ends(self) -> bool:
        """Say whether no further target may begin before the GPUs have been given back."""
        return self._users > 0 and self._wanted()

    def _wanted(self) -> bool:
        return turns_at(self._work, self._devices).wanted or are_wanted(self._devices)

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Hold the GPUs, together with the other targets that run; raise DeviceBusy where another
        process's run has them when the sweep begins."""
        async with self._entering:
            if not self._users:
                await anyio.sleep_until(self._rests_until)
                held = hold(self._work, self._devices, self._wait_s)
                await self._held.enter_async_context(held)
                self._wait_s = math.inf  # a sweep that has begun waits
            self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                if are_wanted(self._devices):  # by a process that looks now and then
                    self._rests_until = anyio.current_time() + 2 * RETRY_S
                with anyio.CancelScope(shield=True):
                    await self._held.aclose()


@dataclass
class Local:
    machine: Machine
    folder: Path
    owner: str | None = None
    stop: anyio.Event | None = None
    lease: Lease | None = None
    begun: int = 0

    @property
    def workers(self) -> str:
        return str(self.machine)

    def never(self, planned: Planned) -> Row | None:
        why = self.machine.never(planned.demand)
        return not_run(planned, why) if why else None

    def take(self, planned: Planned) -> Share | None:
        if planned.demand.gpus != 0 and self.lease is not None and self.lease.ends:
            return None
        return self.machine.take(planned.demand)

    def give(self, share: Share) -> None:
        self.machine.give(share)

    async def run(self, planned: Planned, share: Share) -> Row:
        held = self.lease.held() if self.lease is not None and share.gpus else None
        order = Order(
            planned,
            str(home()),
            self.owner,
            where=", ".join(f"GPU {gpu[:12]}" for gpu in share.gpus),
            devices=share.gpus if self.machine.gpus else None,
            alone=share.gpu_memory is None,
        )
        async with held or contextlib.nullcontext():
            self.begun += 1
            return await run_one(order, self.folder / str(self.begun), self.stop)


CONNECT_S = 8.0
START_S = 120.0
LOST = 5  # workers that one target may lose
AHEAD = 2  # targets for each place, so that none waits for this process


class NoRay(AotiDebugError):
    help = 'pip install "aoti-debug[ray]"'


class NoCluster(AotiDebugError):
    help = "Start one (ray start --head), or leave the address out: --on ray starts its own."


@dataclass(frozen=True, slots=True)
class Cluster:
    cpus: float
    gpus: float
    node_cpus: float  # of its largest node
    node_gpus: float

    def never(self, demand: Demand) -> str | None:
        """Say why a target can never run there, if so."""
        if (demand.gpus or 0) > self.node_gpus:
            return f"it needs {demand.gpus} GPUs, and no node has more than {self.node_gpus:g}"
        if (demand.cores or 0) > self.node_cpus:
            return f"it needs {demand.cores} cores, and no node has more than {self.node_cpus:g}"
        return None

    def options(self, demand: Demand) -> dict[str, Any]:
        """Return what Ray is asked for a target."""
        gpus = min(1.0, self.node_gpus) if demand.gpus is None else float(demand.gpus)
        asked: dict[str, Any] = {
            "num_cpus": demand.cores or min(2.0, max(1.0, self.node_cpus)),
            "num_gpus": gpus,
            "max_retries": LOST,
        }
        if demand.gpu and gpus:
            asked["accelerator_type"] = demand.gpu
        if demand.memory:
            asked["memory"] = int(demand.memory * SPARE)
        return asked

    @property
    def places(self) -> int:
        return max(1, int(self.gpus or self.cpus / 2))


def cluster_of(nodes: Sequence[Mapping[str, Any]]) -> Cluster:
    """Return what the nodes that are alive have together."""
    found = [node.get("Resources", {}) for node in nodes if node.get("Alive")]
    cpus = [float(one.get("CPU", 0)) for one in found]
    gpus = [float(one.get("GPU", 0)) for one in found]
    return Cluster(sum(cpus), sum(gpus), max(cpus, default=0.0), max(gpus, default=0.0))


def place_of(address: str) -> tuple[str, int] | None:
    """Return host and port of an address; None for a name such as `auto`."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    return (host.strip("[]"), int(port)) if host and port.isdigit() else None


def reach(address: str) -> None:
    """Check that something answers at the address; Ray would wait longer. Raise NoCluster."""
    place = place_of(address)
    if place is None:
        return
    try:
        socket.create_connection(place, CONNECT_S).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise NoCluster(f"nothing answers at {address[:100]}: {error}") from error


def run_order(order: str) -> str:
    """Run a target on a worker of Ray; both are JSON documents."""

    async def main() -> Row:
        given = ORDER.validate_json(order)
        where = f"{given.where} {socket.gethostname()}".strip()
        with tempfile.TemporaryDirectory(prefix="aoti-sweep-") as folder:
            return await run_one(replace(given, where=where), Path(folder) / "order")

    return anyio.run(main).model_dump_json()


def version() -> str:
    return __version__


@contextlib.asynccontextmanager
async def on_ray(
    address: str, jobs: int | None, say: Callable[[str], None]
) -> AsyncIterator[OnRay]:
    """Yield the workers of a Ray cluster, or of a new one. Raise NoRay or NoCluster."""
    try:
        import ray
    except ImportError as error:
        raise NoRay("ray is not installed beside aoti-debug") from error
    say(f"joining Ray {address}".strip())
    cluster = await anyio.to_thread.run_sync(_joined, ray, address)
    try:
        yield OnRay(ray, cluster, jobs)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(ray.shutdown)


def _joined(ray: Any, address: str) -> Cluster:
    if address:
        reach(address)
    # Its own pages and figures are not asked for, and cost seconds and ports.
    own: dict[str, Any] = {} if address else {"include_dashboard": False}
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray.init(address=address or "local", log_to_driver=False, logging_level="error", **own)
        cluster = cluster_of(ray.nodes())
        theirs = ray.get(ray.remote(num_cpus=0)(version).remote(), timeout=START_S)
    except Exception as error:
        ray.shutdown()
        what = f"cannot use Ray {address}: {type(error).__name__}: {short(str(error))}"
        raise NoCluster(
            what, help=f"{NoCluster.help} Every node needs this aoti-debug installed."
        ) from error
    if theirs != __version__:
        ray.shutdown()
        raise NoCluster(
            f"the workers have aoti-debug {theirs}, this is {__version__}",
            help="Install the same release on every node.",
        )
    return cluster


@dataclass
class OnRay:
    ray: Any
    cluster: Cluster
    jobs: int | None
    running: int = 0

    @property
    def workers(self) -> str:
        cluster = self.cluster
        return f"Ray with {cluster.cpus:g} cores and {cluster.gpus:g} GPUs"

    def never(self, planned: Planned) -> Row | None:
        why = self.cluster.never(planned.demand)
        return not_run(planned, why) if why else None

    def take(self, planned: Planned) -> Share | None:
        if self.running >= (self.jobs or AHEAD * self.cluster.places):
            return None
        self.running += 1
        return Share()

    def give(self, share: Share) -> None:
        self.running -= 1

    async def run(self, planned: Planned, share: Share) -> Row:
        order = ORDER.dump_json(Order(planned, None, prunes=True)).decode()
        task = self.ray.remote(**self.cluster.options(planned.demand))(run_order)
        reference = task.remote(order)
        try:
            return Row.model_validate_json(await reference)
        except self.ray.exceptions.RayError as error:
            return not_run(planned, f"Ray gave up: {error}")
        except ValidationError:  # one worker's word is one row
            return not_run(planned, "its worker's answer is not a row of this release")
        except BaseException:
            self.ray.cancel(reference, force=True)
            raise
