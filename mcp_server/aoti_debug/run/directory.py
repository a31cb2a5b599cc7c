"""Run directories: what a run leaves, named, paged and pruned."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from aoti_debug.errors import RunDirectoryError, UnknownArtifact, UnknownRun
from aoti_debug.model import ArtifactPage, RunRecord
from aoti_debug.plain import clean
from aoti_debug.run import files as pages
from aoti_debug.run.files import (
    files_below,
    folder,
    is_regular,
    open_regular,
    read_json,
    remove,
    reserve,
    write_atomically,
    write_new,
)
from aoti_debug.run.kept import KEEP, KEEP_BYTES, OWNER, Kept, home, keep, share_of
from aoti_debug.run.machine import is_alive, this_process

RECORD = "run.json"
ARTIFACT_LIMIT = 500
LOOKED_AT = 20_000  # files of a run, hidden ones too
RECORD_BYTES = 1 << 20  # of run.json
RESERVE = ".reserve"  # space for the records of a run whose output fills the disk
RESERVE_BYTES = 256 * 1024
FULL = (errno.ENOSPC, errno.EDQUOT)
UNSEEN_S = 24 * 3600.0  # how long a run of a process that cannot be seen from here counts as alive
RUN_ID = re.compile(r"r-\d{8}-\d{4}-[0-9a-z]{4}")
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


class RunDirectory(Kept):
    """One run's directory; its record names the server that it belongs to. Whoever made or opened
    it holds it: it is not removed meanwhile, and a replacement is neither read nor written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.id = path.name

    @classmethod
    def create(cls, at: Path | None = None, owner: str | None = None) -> RunDirectory:
        """Make a new run directory in `at` (default: `home()`)."""
        runs = (at or home()) / "runs"
        try:
            folder(runs)
            while True:
                end = "".join(secrets.choice(_LETTERS) for _ in range(4))
                run = cls(runs / f"r-{time.strftime('%Y%m%d-%H%M')}-{end}")
                with contextlib.suppress(FileExistsError):
                    run.path.mkdir(mode=0o700)
                    break
            run.hold()
            if owner is not None:
                write_new(run.path / OWNER, owner.encode())
        except OSError as error:
            raise RunDirectoryError(f"cannot make a run directory in {runs}: {error}") from error
        run.write_record({"status": "running"})
        reserve(run.path / RESERVE, RESERVE_BYTES)
        return run

    @classmethod
    def open(cls, run: str, at: Path | None = None, owner: str | None = None) -> RunDirectory:
        """Return the directory of an existing run that this owner may see."""
        path = (at or home()) / "runs" / run
        if not RUN_ID.fullmatch(run) or path.is_symlink() or not path.is_dir():
            raise UnknownRun(f"there is no run {run[:40]!r}")
        found = cls(path)
        if not found.belongs_to(owner) or not found.hold():
            raise UnknownRun(f"there is no run {run[:40]!r}")
        return found

    def check(self, before: str = "") -> None:
        """Raise RunDirectoryError, which begins with `before`, if the directory is gone or new."""
        if self._held is None or self.is_held():
            return
        raise RunDirectoryError(
            f"{before}the run deleted or replaced its own directory {self.path}",
            help="Its files are lost. Keep the script away from AOTI_DEBUG_HOME.",
        )

    def subdirectory(self, name: str, *, new: bool = False) -> Path:
        """Make a directory, not through a link; `new` replaces one. Raise RunDirectoryError."""
        self.check()
        path = self.path
        *_, last = parts = Path(name).parts
        for part in parts:
            path = path / part
            try:
                if new and part == last:
                    remove(path)
                with contextlib.suppress(FileExistsError):
                    path.mkdir(mode=0o700)
                if not stat.S_ISDIR(path.lstat().st_mode):
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            except OSError as error:
                raise RunDirectoryError(f"cannot make {path}: {error.strerror}") from error
        return path

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Write run.json, at once or not at all; `run` and `server` are added."""
        self.write(RECORD, {"run": self.id, "server": this_process(), **record})
        if record.get("status") != "running":
            (self.path / RESERVE).unlink(missing_ok=True)

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Write JSON atomically, on a full disk into reserved space; raise RunDirectoryError."""
        self.check()
        path = self.path / name
        data = json.dumps(document, indent=1, ensure_ascii=True).encode() + b"\n"
        try:
            try:
                write_atomically(path, data)
            except OSError as error:
                if error.errno not in FULL:
                    raise
                (self.path / RESERVE).unlink(missing_ok=True)
                write_atomically(path, data)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise RunDirectoryError(f"cannot write {path}: {why}") from error

    def read_record(self) -> RunRecord | None:
        """Return run.json, but what is no such value in it; None if it cannot be read."""
        record = read_json(self.path / RECORD, RECORD_BYTES)
        if not isinstance(record, dict):
            return None
        try:
            return RunRecord.model_validate(record)
        except ValidationError as error:
            bad = {part["loc"][0] for part in error.errors() if part["loc"]}
            kept = {key: value for key, value in record.items() if key not in bad}
            return RunRecord.model_validate(kept)

    def is_running(self) -> bool:
        """Tell whether the run goes on: its record says so and its server is alive."""
        record = self.read_record()
        if record is not None and record.status != "running":
            return False
        alive = is_alive(record.server) if record is not None else None
        if alive is None:
            with contextlib.suppress(OSError):
                return time.time() - self.path.stat().st_mtime < UNSEEN_S
        return bool(alive)

    is_used = is_running

    def age(self) -> tuple[float, str]:
        """Order by minute of the name, then by time of the record, newest first."""
        minute = 0.0
        with contextlib.suppress(ValueError, OverflowError):
            minute = time.mktime(time.strptime(self.id[2:15], "%Y%m%d-%H%M"))
        with contextlib.suppress(OSError):
            return (-minute, f"{1e12 - self.path.stat().st_ctime:020.6f}")
        return (-minute, self.id)

    def artifacts(self) -> list[str]:
        """Return the names of the run's files, those of the run itself before its steps'."""
        names = []
        for path in files_below(self.path, most=LOOKED_AT):
            below = path.relative_to(self.path)
            if "cache" in below.parts[:-1]:  # of Inductor: too many
                continue
            if not path.name.startswith(".") and is_regular(path):
                names.append(below.as_posix())
            if len(names) > ARTIFACT_LIMIT * 4:
                break
        return sorted(names, key=lambda name: (name.count("/"), name))[:ARTIFACT_LIMIT]

    def resolve(self, name: str) -> Path:
        """Return the path of the artifact `name`; nothing outside the run's directory."""
        unknown = UnknownArtifact(f"run {self.id} has no artifact {name[:200]!r}")
        hidden = any(part.startswith(".") for part in Path(name).parts)  # "..", and what is ours
        if not name or "\0" in name or Path(name).is_absolute() or hidden:
            raise unknown
        path = self.path / name
        if not is_regular(path):  # a name that is no UTF-8 is listed in another form
            path = next((self.path / n for n in self.artifacts() if clean(n) == name), path)
        try:
            path = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise unknown from error
        if not path.is_relative_to(self.path.resolve()) or not is_regular(path):
            raise unknown
        return path

    def page(
        self,
        name: str,
        offset: int = 0,
        limit: int | None = None,
        stop: threading.Event | None = None,
    ) -> ArtifactPage:
        """Return a part of an artifact: lines of a text, a hex dump of anything else. `offset` is
        in lines or bytes, and counts from the end if it is negative."""
        path = self.resolve(name)
        try:
            with open_regular(path, stop) as file:
                return pages.read(self.id, file, name, offset, limit)
        except OSError as error:
            raise UnknownArtifact(f"{name} cannot be read: {error.strerror}") from error


def list_runs(at: Path | None = None) -> list[RunDirectory]:
    """Return the kept runs, newest first."""
    try:
        found = [p for p in ((at or home()) / "runs").iterdir() if RUN_ID.fullmatch(p.name)]
    except OSError:
        return []
    runs = [RunDirectory(p) for p in found if p.is_dir() and not p.is_symlink()]
    return sorted(runs, key=RunDirectory.age)


def prune(
    count: int | None = None,
    most: int = KEEP_BYTES,
    at: Path | None = None,
    owner: str | None = None,
) -> list[str]:
    """Make room in the home for what this owner is about to leave; see `keep`."""
    found: list[Kept] = [*list_runs(at)]
    for kind in KEEP.keys() - {"runs"}:
        with contextlib.suppress(OSError):
            found += [
                Kept(Path(entry.path))
                for entry in os.scandir((at or home()) / kind)
                if entry.is_dir(follow_symlinks=False)
            ]
    share = share_of(owner)
    shared = [kept for kept in found if share_of(kept.owner()) == share]
    return keep(sorted(shared, key=lambda kept: kept.age()), owner, count, most)
