"""The package that a run is about: read, never loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import failing_call, opaque
from aoti_debug.model import Step
from aoti_debug.package.contract import contract
from aoti_debug.package.contract_text import one_line
from aoti_debug.package.index_source import Origin, origin
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import Package
from aoti_debug.read.record import DeviceAssert
from aoti_debug.triage.captured import Captured
from aoti_debug.triage.programs import OpenFiles, named
from aoti_debug.triage.work import Work

LISTED = 6
CHECKS = 4
WHY = "nobody saw the calls of this program, but its package tells what they must keep to"


async def with_package(
    work: Work, observations: Observations, call: Captured, seen: OpenFiles
) -> Observations:
    """Read the package of the failing call, or the one whose loading failed. Of a program without
    the probe it is the one that its arguments name, or that it had open."""
    path = call.package or last_package(observations)
    if path is not None:
        package: Package | None = await anyio.to_thread.run_sync(inspect, path)
    elif opaque(observations):
        package = await anyio.to_thread.run_sync(lambda: of_program(work, seen))
        work.done(step_of(package))
    else:
        return observations
    observations = replace(observations, package=package)
    origins = await anyio.to_thread.run_sync(origins_of_indices, observations)
    return replace(observations, origins=origins)


def origins_of_indices(observations: Observations) -> dict[tuple[str, int, str], Origin]:
    """Follow the indices of failed checks through the sources in the package."""
    package, call = observations.package, failing_call(observations)
    model = package.model(call.model if call else None) if package is not None else None
    if package is None or model is None:
        return {}
    found: dict[tuple[str, int, str], Origin] = {}
    for check in observations.of(DeviceAssert)[:CHECKS]:
        name = check.index or ""
        known = origin(package.path, model, check.file, check.line, check.condition, name)
        if known is not None:
            found[check.file, check.line, check.condition] = known
    return found


def last_package(observations: Observations) -> Path | None:
    seen = observations.events.packages if observations.events else ()
    found = [Path(package.path) for package in seen]
    return next((path for path in reversed(found) if path.exists()), None)


def of_program(work: Work, seen: OpenFiles) -> Package | None:
    target = work.request.target
    return seen.package(named(target.argv[1:], target.cwd))


def step_of(package: Package | None) -> Step:
    if package is None:
        why_not = "no argument names a package, and none was seen open"
        return Step(name="package", status="impossible", why=WHY, finding=why_not)
    return Step(name="package", status="done", why=WHY, finding=described(package))


def described(package: Package) -> str:
    """Say what is wrong with a package, else what its model takes."""
    broken = [flaw.what for flaw in package.flaws if flaw.severity == "breaks"]
    if broken:
        return f"{package.path.name}: {broken[0]}"
    model = package.model()
    inputs = contract(model).inputs if model is not None else ()
    lines = [f"{one.name} {one_line(one)}" for one in inputs[:LISTED]]
    more = [f"and {len(inputs) - LISTED} more"] if len(inputs) > LISTED else []
    return (
        f"{package.path.name} takes " + "; ".join([*lines, *more]) if lines else package.path.name
    )
