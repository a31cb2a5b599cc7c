"""Look into a package without loading it."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TypeVar

from aoti_debug.answers import EnvironmentAnswer, PackageAnswer
from aoti_debug.package.answer import answer as package_answer
from aoti_debug.package.archive import MODELS, ZIP_ERRORS, open_archive
from aoti_debug.package.documents import (
    JSON_LIMIT,
    DocumentError,
    load_document,
    read_custom_ops,
    read_metadata,
    read_origins,
)
from aoti_debug.package.elf import HEAD, SUFFIXES, read_binary, read_library
from aoti_debug.package.flaws import archive_flaws, model_flaws
from aoti_debug.package.record import (
    Archive,
    Binary,
    CompiledModel,
    Flaw,
    Library,
    Member,
    Package,
    Wrapper,
)
from aoti_debug.package.source import Source
from aoti_debug.package.wrapper import read_wrapper

T = TypeVar("T")
WRAPPER_LIMIT = 24 * 1024 * 1024
FATBIN_LIMIT = 4 * 1024 * 1024
BINARIES_LIMIT = 5_000
MODELS_LIMIT = 64


def inspect(path: Path, stop: threading.Event | None = None, *, binaries: bool = True) -> Package:
    """Return everything that a package, a bare library or a directory says; without `binaries`
    what its texts say. With `stop`, which ends it, all of its bytes are verified; without, not
    those of large weights. Never raise for what lies at `path`: what is wrong is a flaw."""
    with open_archive(path, stop) as (archive, source):
        models: list[CompiledModel] = []
        flaws = list(archive.flaws)
        if source is not None:
            for name, members in list(_folders(archive).items())[:MODELS_LIMIT]:
                model, found = _ModelReader(archive, source, name, members, binaries).read()
                models.append(model)
                flaws += found
            flaws += archive_flaws(archive, _small_texts(archive, source), tuple(models))
        written_by = _written_by(archive, models)
    return Package(path, archive.layout, archive.bytes, written_by, tuple(models), tuple(flaws))


def answer(
    path: Path,
    environment: EnvironmentAnswer | None = None,
    *,
    stop: threading.Event | None = None,
    check_inputs: str | None = None,
) -> PackageAnswer:
    """Return what lies at `path` and what would go wrong with it on this machine. `environment`
    tells about the user's torch: without it only what the machine itself decides is judged.
    `check_inputs` is the file with the function that checks a call's inputs."""
    return package_answer(inspect(path, stop), environment, check_inputs=check_inputs)


def _folders(archive: Archive) -> dict[str, list[Member]]:
    """Return the members of each model; a bare library or folder of files is one model."""
    found: dict[str, list[Member]] = defaultdict(list)
    for member in archive.members:
        rest = member.name.removeprefix(MODELS)
        if rest != member.name and "/" in rest:
            found[rest.split("/", 1)[0][:200]].append(member)
    if not found and archive.layout in ("library", "directory"):
        flat = [m for m in archive.members if "/" not in m.name]
        if any(m.name.endswith((".so", ".cpp")) for m in flat) or archive.layout == "library":
            found["model"] = flat
    return dict(found)


def _small_texts(archive: Archive, source: Source) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name in ("archive_format", "archive_version"):
        if (member := archive.find(name)) is not None:
            with contextlib.suppress(*ZIP_ERRORS):
                texts[name] = source.read(member, 64).decode("utf-8", "replace").strip()
    return texts


def _written_by(archive: Archive, models: list[CompiledModel]) -> str | None:
    if not models or archive.layout == "library":
        return None
    if archive.layout == "root":
        single = any(m.wrapper and not m.wrapper.member.endswith(".wrapper.cpp") for m in models)
        return "2.6" if single else "2.7"
    recent = any("AOTI_PLATFORM" in m.metadata for m in models)
    return "2.10 or later" if recent else "2.8 or 2.9"


def _preferred(members: list[Member], ending: str) -> Member | None:
    """Return the first member with this ending, else the first."""
    return next((m for m in members if m.name.endswith(ending)), next(iter(members), None))


class _ModelReader:
    """Reads the members of one model."""

    def __init__(
        self, archive: Archive, source: Source, name: str, members: list[Member], whole: bool
    ) -> None:
        self._archive, self._source, self._whole = archive, source, whole
        self._name, self._members = name, members
        self._flaws: list[Flaw] = []

    def read(self) -> tuple[CompiledModel, list[Flaw]]:
        library = self._library()
        wrapper = self._wrapper()
        model = CompiledModel(
            name=self._name,
            folder=f"{MODELS}{self._name}",
            metadata=self._metadata(library),
            wrapper=wrapper,
            library=library,
            binaries=tuple(self._binaries()),
            custom_ops=self._document(self._extern_nodes(library), read_custom_ops) or (),
            origins=self._document(self._ending("kernel_information.json"), read_origins) or (),
            weights=self._weights(),
            source_only=library is None and bool(self._all("_compile_flags.json")),
        )
        weights_index = self._document(self._ending("weights_config.json"), load_document)
        found = model_flaws(model, self._archive, weights_index)
        return model, [*self._flaws, *found]

    def _all(self, *endings: str) -> list[Member]:
        return [m for m in self._members if m.name.endswith(endings)]

    def _ending(self, ending: str) -> Member | None:
        return next(iter(self._all(ending)), None)

    def _bytes(self, member: Member | None, limit: int) -> bytes | None:
        """Return the first of its bytes; a wrong checksum is among the archive's flaws."""
        with contextlib.suppress(*ZIP_ERRORS):
            return self._source.read(member, limit) if member is not None else None
        return None

    def _library(self) -> Library | None:
        candidates = self._all(".so")
        if not candidates and self._archive.layout == "library":
            candidates = self._members
        member = _preferred(candidates, ".wrapper.so")
        if member is None or not self._whole:
            return Library(member.name) if member is not None else None
        try:
            window = self._source.window(member)
        except ZIP_ERRORS as error:
            return Library(member.name, error=str(error)[:200])
        return read_library(member.name, window, member.size)

    def _wrapper(self) -> Wrapper | None:
        sources = [m for m in self._all(".cpp") if not m.name.endswith(".kernel.cpp")]
        member = _preferred(sources, ".wrapper.cpp")
        data = self._bytes(member, WRAPPER_LIMIT)
        if member is None or data is None:
            return None
        cut = member.size > WRAPPER_LIMIT
        return read_wrapper(member.name, data.decode("utf-8", "replace"), truncated=cut)

    def _metadata(self, library: Library | None) -> dict[str, str]:
        """Read the copy that belongs to the library, else any."""
        stem = library.member.removesuffix(".so") if library else ""
        found = self._ending(f"{stem}_metadata.json") if stem else None
        return self._document(found or self._ending("_metadata.json"), read_metadata) or {}

    def _extern_nodes(self, library: Library | None) -> Member | None:
        if library is None:
            return None
        name = library.member.removesuffix(".so") + ".json"
        return next((m for m in self._members if m.name == name), None)

    def _document(self, member: Member | None, read: Callable[[bytes], T]) -> T | None:
        data = self._bytes(member, JSON_LIMIT)
        if member is None or data is None:
            return None
        try:
            return read(data)
        except DocumentError as error:
            what = f"{member.name} cannot be read: {error}"
            fix = "Copy or compile the package again."
            self._flaws.append(Flaw(what, None, fix, severity="may_break", where=member.name))
        return None

    def _binaries(self) -> Iterator[Binary]:
        for member in self._all(*SUFFIXES)[: BINARIES_LIMIT if self._whole else 0]:
            limit = FATBIN_LIMIT if member.name.endswith(".fatbin") else HEAD
            if (data := self._bytes(member, limit)) is not None:
                yield read_binary(PurePosixPath(member.name).name, data)

    def _weights(self) -> tuple[Member, ...]:
        own = [m for m in self._members if m.name.endswith((".blob", "_weights.bin"))]
        return tuple(own + [m for m in self._archive.members if m.name.startswith("data/weights/")])
