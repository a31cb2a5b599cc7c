"""What the launches of a package stand for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import CompiledModel, KernelOrigin, Launch
from aoti_debug.run.files import write_atomically
from aoti_debug.triage.captured_call import Captured

LAUNCHES = "launches.json"


def model_of(call: Captured, name: str | None = None) -> CompiledModel | None:
    """Return what the package of a call says of a model: the named one, else the call's. Blocks."""
    if call.package is None:
        return None
    called = call.call.model if call.call is not None else None
    return inspect(call.package, binaries=False).model(name or called)


def launches_of(model: CompiledModel | None) -> Sequence[Launch]:
    return model.wrapper.launches if model is not None and model.wrapper is not None else ()


def launches_in(package: Path | None, name: str | None = None) -> Sequence[Launch]:
    """Return the launches of a model of a package; none where it is no archive. Blocks."""
    if package is None or package.suffix != ".pt2":
        return ()
    return launches_of(inspect(package, binaries=False).model(name))


def launch_words(model: CompiledModel | None, folder: Path) -> list[str]:
    """Write the launches into a folder; return the words that give them to the probe."""
    names = [[one.kernel, nodes_of(one, model), ops_of(one)] for one in launches_of(model)]
    write_atomically(folder / LAUNCHES, json.dumps(names).encode())
    return ["--launches", str(folder / LAUNCHES)]


def ops_of(launch: Launch) -> list[str]:
    """Return the names of the operators that a launch stands for, as the graph has them."""
    parts = (op.split(".") for op in launch.ops)  # aten.sum.dim_IntList, prims.iota
    return list(dict.fromkeys(part[min(1, len(part) - 1)] for part in parts))


def nodes_of(launch: Launch, model: CompiledModel | None) -> list[str]:
    """Return a launch's nodes before Inductor's passes; if these are not known, after them."""
    origin = origin_of(launch, model)
    if origin is not None and origin.nodes_before:
        return list(origin.nodes_before)
    return list(dict.fromkeys([*launch.nodes, *(origin.nodes if origin is not None else ())]))


def origin_of(launch: Launch | None, model: CompiledModel | None) -> KernelOrigin | None:
    """Return what kernel_information.json says of a launch, else of its kernel."""
    if launch is None or model is None:
        return None
    return model.origin_of(launch.kernel, launch)
