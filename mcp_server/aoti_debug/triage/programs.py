"""The package of a program that has no probe: named in its arguments, or open while it runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

import psutil

from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import Package
from aoti_debug.run.target import Target

ARCHIVE = ".pt2"
UNPACKED = "/data/aotinductor/"  # in the folder that the loader unpacks an archive to
LIBRARY = ".so"
LISTED = 16  # packages of one directory
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
                    yield from sorted(path.glob(f"*{ARCHIVE}"))[:LISTED]
                    if any(path.glob(f"{UNPACKED.strip('/')}/*")):
                        yield path


def is_model(package: Package) -> bool:
    """Tell whether what was inspected is a package at all; a damaged archive counts as one."""
    if package.layout == "library":
        return any(model.library and model.library.model for model in package.models)
    return bool(package.models) or package.path.suffix == ARCHIVE


def first_model(paths: Iterator[Path]) -> Package | None:
    return next((found for path in paths if is_model(found := inspect(path))), None)


def is_python(target: Target) -> bool:
    """Tell whether the target is a script for the interpreter that it was resolved with."""
    return target.python is not None and target.argv[0] == str(target.python)


class OpenFiles:
    """Look, in a thread, which package a tree of processes has open while it runs.

    The loader has the archive open for a moment only. What it unpacks from it stays mapped, but is
    removed when the model goes: it is inspected at once.
    """

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def package(self, named: Iterable[Path]) -> Package | None:
        """Return what the program used: of the archives that it was given or had open the one that
        it unpacked, else what was unpacked itself."""
        archives = [path for path in dict.fromkeys([*named, *self.archives]) if path.exists()]
        stems = {folder.name for folder in self.unpacked}
        archives.sort(key=lambda path: path.stem not in stems)
        return first_model(iter(archives)) or next(iter(self.unpacked.values()), None)

    def _watch(self, pid: int) -> None:
        wait = FIRST_S
        while not self._over.wait(wait):
            wait = min(LAST_S, wait * SLOWER)
            try:
                root = psutil.Process(pid)
                tree = [root, *root.children(recursive=True)]
            except psutil.Error:
                continue
            for process in tree:
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
