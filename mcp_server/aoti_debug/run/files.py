"""Read and write regular files, also those of foreign programs, and cut pages out of them."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import stat
import threading
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from aoti_debug.errors import WrongUse
from aoti_debug.model import ArtifactPage
from aoti_debug.plain import plain
from aoti_debug.run.machine import ask
from aoti_debug.signals import open_stoppable

BLOCK = 1 << 20
LINES = 100
BYTES = 512
COUNTED = 1 << 30  # bytes of a file whose lines are counted
TEXT_LIMIT = 6000  # characters of a page: the whole answer has to stay under 8,000
LINE_LIMIT = 1000  # characters of a line
_ALWAYS_TEXT = {".log", ".txt", ".json", ".jsonl", ".xml", ".py", ".cpp", ".h", ".md", ".html"}
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27}) + b"\x7f"


_Part = tuple[int, int, int, list[str], int]  # offset, limit, total, rows, how many of it


def read(run: str, file: BinaryIO, name: str, offset: int, limit: int | None) -> ArtifactPage:
    small = os.fstat(file.fileno()).st_size <= COUNTED  # a sparse file has any size at no cost
    text = small and (Path(name).suffix in _ALWAYS_TEXT or _looks_like_text(file))
    offset, limit, total, rows, count = (_lines if text else _bytes)(file, offset, limit)
    return ArtifactPage(
        run=run,
        name=name,
        offset=offset,
        limit=limit,
        total=total,
        unit="lines" if text else "bytes",
        text="\n".join(rows),
        next_offset=offset + count if count and offset + count < total else None,
    )


def _looks_like_text(file: BinaryIO) -> bool:
    sample = file.read(8192)
    file.seek(0)
    return len(sample) == len(sample.translate(None, _CONTROLS))


def _lines(file: BinaryIO, offset: int, limit: int | None) -> _Part:
    total = _count(file)
    offset = max(0, total + offset) if offset < 0 else offset
    limit = LINES if limit is None else max(1, limit)
    _skip(file, offset)
    shown: list[str] = []
    size = 0
    while len(shown) < limit and (line := _line(file)) is not None:
        size += len(line) + 1
        if shown and size > TEXT_LIMIT:
            break
        shown.append(line)
    return offset, limit, total, shown, len(shown)


def _count(file: BinaryIO) -> int:
    lines = 0
    last = b"\n"
    while block := file.read(BLOCK):
        lines += block.count(b"\n")
        last = block
    return lines + (not last.endswith(b"\n"))


def _skip(file: BinaryIO, lines: int) -> None:
    """Place `file` behind its first `lines` lines."""
    file.seek(0)
    while lines > 0:
        start = file.tell()
        block = file.read(BLOCK)
        inside = block.count(b"\n")
        if not block:
            return
        if inside < lines:
            lines -= inside
            continue
        at = -1
        for _ in range(lines):
            at = block.index(b"\n", at + 1)
        file.seek(start + at + 1)
        return


def _line(file: BinaryIO) -> str | None:
    data = file.readline(LINE_LIMIT * 4)
    if not data:
        return None
    rest = 0
    last = data
    while last and not last.endswith(b"\n"):
        last = file.readline(BLOCK)
        rest += len(last)
    text = plain(data.decode("utf-8", "replace").rstrip("\r\n"))
    if rest or len(text) > LINE_LIMIT:
        rest += len(text[LINE_LIMIT:].encode())
        return f"{text[:LINE_LIMIT]} [{rest:,} bytes of this line not shown]"
    return text


def _bytes(file: BinaryIO, offset: int, limit: int | None) -> _Part:
    total = os.fstat(file.fileno()).st_size
    offset = max(0, total + offset) if offset < 0 else min(offset, total)
    limit = BYTES if limit is None else max(1, limit)
    file.seek(offset)
    data = file.read(min(limit, TEXT_LIMIT // 78 * 16))
    rows = [_row(offset + at, data[at : at + 16]) for at in range(0, len(data), 16)]
    return offset, limit, total, rows, len(data)


def _row(at: int, data: bytes) -> str:
    letters = "".join(chr(b) if 32 <= b < 127 else "." for b in data)
    return f"{at:08x}  {data.hex(' '):<47}  {letters}"


DOCUMENT_BYTES = 16 * 1024 * 1024  # of one of our JSON documents


def open_regular(
    path: Path, stop: threading.Event | None = None, *, follow: bool = False
) -> BinaryIO:
    """Open a regular file without waiting for a pipe or a device, and without following a link
    unless `follow`. Raise OSError, or Stopped in a read once `stop` is set."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return open_stoppable(descriptor, stop or threading.Event())


def read_regular(path: Path, limit: int = DOCUMENT_BYTES, *, follow: bool = False) -> bytes:
    """Return the content of such a file; raise OSError, also where it is longer than `limit`."""
    with open_regular(path, follow=follow) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def read_json(path: Path, limit: int = DOCUMENT_BYTES) -> Any:
    """Return the JSON document that such a file holds; None where it holds none."""
    try:
        return json.loads(read_regular(path, limit))
    except (OSError, ValueError, RecursionError):
        return None


def read_source(path: Path, limit: int = DOCUMENT_BYTES) -> str:
    """Return the text of a user's file, also through a link; raise OSError, also past `limit`."""
    return read_regular(path, limit, follow=True).decode("utf-8", "replace")


def files_below(root: Path, depth: int = 16, most: int | None = None) -> Iterator[Path]:
    """Yield the files below a directory, nearest first, not through links, at most `depth` deep;
    `most` entries are looked at, folders among them."""
    folders, looked = deque([(root, 0)]), 0
    while folders and (most is None or looked < most):
        folder, level = folders.popleft()
        left = None if most is None else most - looked
        try:
            with os.scandir(folder) as found:
                entries = sorted(islice(found, left), key=lambda entry: entry.name)
        except OSError:
            continue
        looked += len(entries) + 1
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


def folder(path: Path) -> None:
    """Make a folder that its owner alone may enter, and those above it that are missing."""
    if not path.parent.exists():
        folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def create(path: Path, mode: int = 0o600) -> int:
    """Return the descriptor of a new file; what had its name, a link too, is gone."""
    path.unlink(missing_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, mode)


def reserve(path: Path, size: int) -> None:
    """Make a file of so many bytes on disk, if there is room for it."""
    with contextlib.suppress(OSError), os.fdopen(create(path), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)


def write_new(path: Path, data: bytes) -> None:
    with os.fdopen(create(path), "wb") as file:
        file.write(data)


def copy(path: Path, to: Path) -> None:
    with path.open("rb") as file, os.fdopen(create(to), "wb") as new:
        shutil.copyfileobj(file, new)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` so that a reader sees the old content or the new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_new(temporary, data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


PATH_BYTES = 4096  # that the system takes


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return the path with a home directory in place of `~`; raise WrongUse for an unknown user,
    and for a path that is too long: to resolve it takes the square of its length."""
    if len(os.fspath(path)) > PATH_BYTES:
        raise WrongUse(
            f"{plain(os.fspath(path), 80)} is longer than a path may be",
            help=f"A path has at most {PATH_BYTES:,} characters.",
        )
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        named = plain(str(path), 80)
        raise WrongUse(
            f"{named} names the home of an unknown user", help="Write the path out, from / on."
        ) from error
