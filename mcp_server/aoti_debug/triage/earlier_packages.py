"""Offer a process the packages that this client's earlier runs compiled; the probe takes one in
place of an equal compile. A package is code, so no client gets the packages of another. The record
of a package carries its run's secret, as an event does."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aoti_debug.errors import UnknownRun
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.directory import RunDirectory, list_runs
from aoti_debug.run.files import read_regular, write_atomically
from aoti_debug.run.kept import Kept
from aoti_debug.triage.environment import CAPTURE, KEY

# Where the package must come from: a program whose lines are the same too, since it names them; any
# equal program; nowhere, because it is the compile that is looked at.
Reuse = Literal["same lines", "any lines", "never"]
FILE = "packages.json"
RECORD_BYTES = 1 << 14
MOST = 500
WRITABLE = stat.S_IWGRP | stat.S_IWOTH


class Compiled(BaseModel):
    """What a run has left of one package that it compiled."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    lines: str
    parts: Mapping[str, str]
    package: str = Field(pattern=r"^package-\d+\.\w+$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    seconds: float
    secret: str
    compiled_by: str | None = None  # a run that this one had the package of


class Offer(Compiled):
    run: str  # that compiled it
    file: Path


class Offers(BaseModel):
    same_lines: bool
    packages: tuple[Offer, ...]


def offered(directory: Path, owner: str | None, home: Path, reuse: Reuse) -> Mapping[str, str]:
    """Write down which packages there are, and return the variable that names the file."""
    found = [] if reuse == "never" else list(packages(home, owner))
    if not found:
        return {}
    offers = Offers(same_lines=reuse == "same lines", packages=tuple(found[:MOST]))
    exclude = {"packages": {"__all__": {"secret"}}}
    write_atomically(directory / FILE, offers.model_dump_json(exclude=exclude).encode())
    return {"AOTI_DEBUG_REUSE": str(directory / FILE)}


def packages(home: Path, owner: str | None) -> Iterator[Offer]:
    """Yield what the kept runs of this very client have compiled, the newest run's first."""
    for run in list_runs(home):
        if run.owner() == owner:
            for folder in (run.path, *sorted((run.path / "steps").glob("*"))):
                yield from _of(run, folder)


def _of(run: RunDirectory, folder: Path) -> Iterator[Offer]:
    for record in sorted((folder / CAPTURE).glob("compiled-*.json")):
        try:
            secret = read_regular(folder / KEY, 64).decode()
            one = Compiled.model_validate_json(read_regular(record, RECORD_BYTES))
            file = folder / CAPTURE / one.package
            known = one.secret == secret and _ours(file) and _ours(record)
        except (OSError, ValueError, ValidationError):
            continue
        if known:
            yield Offer(**one.model_dump(), run=one.compiled_by or run.id, file=file)


def _ours(file: Path) -> bool:
    status = file.lstat()
    mine = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    return mine and not status.st_mode & WRITABLE


def compiled_in(seen: RunSeen, directory: Path) -> list[Path]:
    """Return the directories of the runs that compiled what this one uses, its own first."""
    owner, home, found = Kept(directory).owner(), directory.parent.parent, [directory]
    for _, reused in seen.reused:
        with contextlib.suppress(UnknownRun):
            found.append(RunDirectory.open(reused.run, home, owner).path)
    return list(dict.fromkeys(found))


def said(seen: RunSeen) -> list[str]:
    """Say of each package that was reused whose it is, and which time it saved."""
    return [
        f"package of {reused.run}, {one.seconds or 0.0:.1f} s in place of {reused.seconds:.1f} s"
        for one, reused in seen.reused
    ]
