"""Open what a foreign program may have left: regular files only, no links, within bounds."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from aoti_debug.run.machine import ask
from aoti_debug.stoppable import open_stoppable

DOCUMENT_BYTES = 16 * 1024 * 1024  # of one of our JSON documents


def open_regular(path: Path, stop: threading.Event | None = None) -> BinaryIO:
    """Open a regular file, without following a link or waiting for what only looks like one.

    Once `stop` is set, a read raises Stopped.

    Raises:
        OSError
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return open_stoppable(descriptor, stop or threading.Event())


def read_regular(path: Path, limit: int = DOCUMENT_BYTES) -> bytes:
    """Return what such a file holds.

    Raises:
        OSError: also where it is longer than `limit`.
    """
    with open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def files_below(root: Path, depth: int = 16) -> Iterator[Path]:
    """Yield the files below a directory, nearest first, not through links; not deeper than
    `depth`: nobody's program nests so, and one that does must not exhaust whoever looks."""
    folders = deque([(root, 0)])
    while folders:
        folder, level = folders.popleft()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)
            elif level < depth:
                folders.append((Path(entry.path), level + 1))


def remove_tree(path: Path) -> None:
    """Remove a directory with all that is in it, however deep, as far as that can be done."""
    try:
        shutil.rmtree(path, ignore_errors=True)
    except RecursionError:
        ask(["rm", "-rf", "--", str(path)], timeout_s=60.0)


def is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def create(path: Path) -> int:
    """Return the descriptor of a new file; what had its name, a link too, is gone."""
    path.unlink(missing_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def write_new(path: Path, data: bytes) -> None:
    """Write a file anew, not through a link that has its name."""
    with os.fdopen(create(path), "wb") as file:
        file.write(data)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` so that a reader sees the old content or the new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_new(temporary, data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
