"""What is looked at before the search: the program written down, its values on both sides."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from aoti_debug.minify.graph import Survey, read_graph, read_values
from aoti_debug.minify.material import Material
from aoti_debug.minify.request import NothingToMinify, interpreter_name
from aoti_debug.minify.worker_pool import RUN_S, WorkerPool, together
from aoti_debug.run.files import folder as make_folder
from aoti_debug.run.files import open_regular
from aoti_debug.run.kept import Kept, make, own_name
from aoti_debug.signals import in_thread
from aoti_debug.triage.run_state import Cancelled, RunState
from aoti_debug.vocabulary import Fingerprint

SURVEY_S = 600.0
VALUES_S = 240.0
LEAST_RUN_S = 10.0  # for a call where the failure is a hang
TIMES_EAGER = 5.0
_LOGGED = re.compile(r"^W\d{4} .{1,200}\] +((?:\w+\.)*\w*Error: .{1,300})", re.MULTILINE)


async def take_survey(pool: WorkerPool, root: Path, material: Material) -> Survey:
    """Write the program down and run it eagerly on both sides' inputs; raise NothingToMinify."""
    order: dict[str, Any] = {"exported": str(material.exported), "arguments": list(material.words)}
    read = await pool.do({**order, "kind": "nodes"}, SURVEY_S)
    if not (read.directory / "graph.json").is_file():
        why = why_unreadable(read.fingerprint, read.stderr)
        raise NothingToMinify(
            f"the exported program could not be loaded: {why}",
            help="Where its custom operators are in a module, name it with --import.",
        )
    places: dict[str, Path] = {"weights": read.directory / "weights"}

    async def values(side: str) -> None:
        more: dict[str, Any] = {"kind": "values", "side": side, "inputs": str(material.inputs)}
        more.update({"run_s": pool.run_s} if material.hung and side == "real" else {})
        ran = await pool.do({**order, **more}, VALUES_S)
        places[side] = ran.directory / side
        if material.hung and side == "example":  # no call needs much more than this one took
            pool.run_s = min(RUN_S, max(LEAST_RUN_S, TIMES_EAGER * ran.wall_s))

    sides = [partial(values, "example")]
    sides += [partial(values, "real")] if material.inputs is not None else []
    for batch in [[side] for side in sides] if material.hung else [sides]:
        await together(batch, pool.machine)
    folder = root / "values"
    make_folder(folder)
    for name, place in places.items():
        link = folder / name
        link.unlink(missing_ok=True)
        make_folder(place)
        link.symlink_to(place)
    return Survey(
        graph=read_graph(read.directory / "graph.json"),
        example=read_values(places["example"], "example"),
        real=read_values(places["real"], "real") if "real" in places else None,
        weights=read_values(places["weights"], "real"),
        values=folder,
    )


def why_unreadable(signature: Fingerprint, stderr: str) -> str:
    """Say why torch could not load a program: up to 2.12 it only logs the reason."""
    logged = _LOGGED.findall(stderr)
    return f"{signature}; {logged[-1]}" if logged else str(signature)


def differ(survey: Survey) -> bool:
    """Tell whether the failing call's inputs are not such as the program was exported with."""
    if survey.real is None:
        return False
    real, example = survey.real.by_name, survey.example.by_name
    inputs = {n.name for n in survey.graph.nodes if (n.op, n.kind) == ("placeholder", "USER_INPUT")}
    both = inputs & real.keys() & example.keys()
    return any(not real[name].like(example[name]) for name in both)


AGAIN_S = 0.5


@contextlib.asynccontextmanager
async def search_folder(work: RunState, material: Material) -> AsyncIterator[tuple[Path, Path]]:
    """Yield the folder of the search's results, which it has alone, and that of the compile cache
    of all the client's searches. The first is the same for the same program and inputs, so an
    interrupted search continues."""
    kept = await in_thread(lambda stop: _place_of(work, material, stop))
    cache = make("minify", own_name("cache", work.client), work.client, work.home)
    cache.hold()
    while True:
        with kept.alone() as free:
            if free:
                yield kept.path, cache.path
                return
        work.say("waiting for another search of the same program")
        if work.stop.is_set():
            raise Cancelled
        await anyio.sleep(AGAIN_S)


def _place_of(work: RunState, material: Material, stop: threading.Event) -> Kept:
    content = hashlib.sha256()
    for path in (material.exported, material.inputs):
        if path is None:
            content.update(b"-")
            continue
        with open_regular(path, stop, follow=True) as file:
            while part := file.read(1 << 20):
                content.update(part)
    content.update(repr(sorted((material.settings or {}).items())).encode())
    content.update(interpreter_name(work.request.target).encode())
    name = own_name(content.hexdigest()[:16], work.client)
    kept = make("minify", name, work.client, work.home)
    os.utime(kept.path)
    return kept
