"""The package that a run is about: read, never loaded; of a program without a probe, found."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import psutil

from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.calls import opaque
from aoti_debug.diagnose.from_constants import spoilt_weights
from aoti_debug.explain.package import Origin, origin_of_index
from aoti_debug.model import Step
from aoti_debug.package.contract import contract, one_line
from aoti_debug.package.documents import Use, uses
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import Package
from aoti_debug.read.record import DeviceAssert
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.debuggers import process_tree
from aoti_debug.triage.run_state import RunState

LISTED = 6
CHECKS = 4
WHY = "the calls of this program were not observed; its package declares what they must pass"


async def with_package(
    state: RunState, observations: Observations, call: Captured, seen: OpenFiles
) -> Observations:
    """Read the package of the call or load; without a probe, one that was named or open."""
    seen_last = (Path(one.path) for one in reversed(observations.run.packages))
    path = call.package or next((path for path in seen_last if path.exists()), None)
    if path is not None:
        package: Package | None = await anyio.to_thread.run_sync(inspect, path)
    elif opaque(observations):
        target = state.request.target
        given = named(target.argv[1:], target.cwd)
        package = await anyio.to_thread.run_sync(seen.package, given)
        if package is not None:
            state.done(Step(name="package", status="done", why=WHY, finding=described(package)))
        else:
            why_not = "no argument names a package, and none was seen open"
            state.impossible("package", WHY, why_not)
    else:
        return observations
    observations = replace(observations, package=package)
    origins = await anyio.to_thread.run_sync(origins_of_indices, observations)
    uses = await anyio.to_thread.run_sync(uses_of_weights, observations, call)
    return replace(observations, origins=origins, uses=uses)


def uses_of_weights(observations: Observations, call: Captured) -> dict[str, Use]:
    names = spoilt_weights(observations)
    program = call.exported or call.graph
    return uses(program, names) if names and program is not None else {}


def origins_of_indices(observations: Observations) -> dict[tuple[str, int, str], Origin]:
    """Follow the indices of failed checks through the sources in the package."""
    package, model = observations.package, observations.model
    if package is None or model is None:
        return {}
    return {
        (check.file, check.line, check.condition): known
        for check in observations.of(DeviceAssert)[:CHECKS]
        if (known := origin_of_index(package.path, model, check)) is not None
    }


def described(package: Package) -> str:
    """Say what is wrong with a package, else what its model takes."""
    broken = [flaw.what for flaw in package.flaws if flaw.severity == "breaks"]
    if broken:
        return f"{package.path.name}: {broken[0]}"
    model = package.model()
    inputs = contract(model).inputs if model is not None else ()
    lines = [f"{one.name} {one_line(one)}" for one in inputs[:LISTED]]
    lines += [f"and {len(inputs) - LISTED} more"] if len(inputs) > LISTED else []
    return package.path.name + (f" takes {'; '.join(lines)}" if lines else "")


ARCHIVE = ".pt2"
UNPACKED = "/data/aotinductor/"  # in the folder that the loader unpacks an archive to
LIBRARY = ".so"
SEARCHED = 16  # packages of one directory
FIRST_S, LAST_S, SLOWER = 0.01, 0.5, 1.3
JOIN_S = 5.0


def named(words: Sequence[str], cwd: Path) -> Iterator[Path]:
    """Yield the packages that arguments name: files, directories with some, `--model=FILE`."""
    for word in words:
        for text in (word, word.partition("=")[2]):
            path = cwd / text
            with contextlib.suppress(OSError, ValueError):
                if text.endswith((ARCHIVE, LIBRARY)) and path.is_file():
                    yield path
                elif text and path.is_dir():
                    yield from sorted(path.glob(f"*{ARCHIVE}"))[:SEARCHED]
                    if any(path.glob(f"{UNPACKED.strip('/')}/*")):
                        yield path


def is_model(package: Package) -> bool:
    """Tell whether what was inspected is a package at all; a damaged archive counts as one."""
    if package.layout == "library":
        return any(model.library and model.library.model for model in package.models)
    return bool(package.models) or package.path.suffix == ARCHIVE


class OpenFiles:
    """Look, in a thread, which package a tree of processes has open while it runs. The loader opens
    the archive only for a moment; what it unpacks is inspected at once, since it is removed with
    the model."""

    def __init__(self) -> None:
        self.archives: dict[Path, None] = {}
        self.unpacked: dict[Path, Package] = {}
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, pid: int) -> None:
        self._thread = threading.Thread(target=self._watch, args=(pid,), daemon=True)
        self._thread.start()

    def __enter__(self) -> OpenFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def package(self, named: Iterable[Path]) -> Package | None:
        """Return what the program used: the archive that it unpacked, else what was unpacked."""
        archives = [path for path in dict.fromkeys([*named, *self.archives]) if path.exists()]
        stems = {folder.name for folder in self.unpacked}
        archives.sort(key=lambda path: path.stem not in stems)
        models = (found for path in archives if is_model(found := inspect(path)))
        return next(models, None) or next(iter(self.unpacked.values()), None)

    def _watch(self, pid: int) -> None:
        wait = FIRST_S
        while not self._over.wait(wait):
            wait = min(LAST_S, wait * SLOWER)
            for process in process_tree(pid):
                with contextlib.suppress(psutil.Error, OSError):
                    self._look(process)

    def _look(self, process: psutil.Process) -> None:
        for file in process.open_files():
            if file.path.endswith(ARCHIVE):
                self.archives[Path(file.path)] = None
        maps = Path(f"/proc/{process.pid}/maps")
        for line in maps.read_text(errors="replace").splitlines():
            if UNPACKED not in line or not line.endswith(LIBRARY):
                continue
            folder = Path(line[line.index("/") :].partition(UNPACKED)[0])
            if folder not in self.unpacked and is_model(found := inspect(folder)):
                self.unpacked[folder] = found
