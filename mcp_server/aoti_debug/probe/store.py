"""Put files into the capture directory: whole or not at all, and within a number of bytes."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

_DEFAULT_BYTES = 512 * 1024 * 1024
_COPY_BYTES = 32 * 1024 * 1024
_FICLONE = 0x40049409
_LEFT_BYTES = 64 * 1024 * 1024  # of the disk

busy = threading.Lock()  # only ever tried, never waited for
_made: dict[str, Path] = {}
_owned: dict[int, bool] = {}


def directory() -> Path | None:
    """Return the capture directory, or None when nothing shall be captured."""
    value = os.environ.get("AOTI_DEBUG_CAPTURE")
    if not value:
        return None
    if value not in _made:
        path = Path(value)
        path.mkdir(0o700, parents=True, exist_ok=True)
        _made[value] = path
    return _made[value]


def limit() -> int:
    """Return how many bytes may be captured, all files together."""
    try:
        return int(os.environ.get("AOTI_DEBUG_CAPTURE_BYTES", ""))
    except ValueError:
        return _DEFAULT_BYTES


def free() -> int:
    """Return how many bytes the disk has left, less what others shall find there."""
    folder = directory()
    if folder is None:
        return 0
    status = os.statvfs(folder)
    return max(0, status.f_bavail * status.f_frsize - _LEFT_BYTES)


def room(replaces: str | None = None) -> int:
    """Return how many bytes are left, counting the file called `replaces` as gone."""
    folder = directory()
    if folder is None:
        return 0
    used: dict[int, int] = {}
    for entry in os.scandir(folder):
        status = entry.stat(follow_symlinks=False)
        linked_package = entry.name.startswith("package-") and status.st_nlink > 1
        shared_memory = entry.name.startswith(("call-now", "call-device"))  # of fixed size
        if entry.name != replaces and not linked_package and not shared_memory:
            used[status.st_ino] = status.st_size
    return min(limit() - sum(used.values()), free())


def whole(path: Path, save: Callable[[Path], object]) -> None:
    """Have `save` write a file that takes its name when it is complete."""
    temporary = path.with_name(f".{os.getpid()}-{path.stem}.tmp{path.suffix}")
    try:
        save(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write(name: str, save: Callable[[str], object]) -> str:
    """Have `save` write a file and give it its name when it is complete."""
    folder = directory()
    if folder is None:
        raise FileNotFoundError("nothing shall be captured")

    def saved(temporary: Path) -> None:
        save(str(temporary))
        if temporary.stat().st_nlink == 1:  # not the program's own file
            temporary.chmod(0o600)
        # Some file systems flush a file that is renamed over another one: 4 ms a call.
        (folder / name).unlink(missing_ok=True)

    whole(folder / name, saved)
    return f"{folder.name}/{name}"


def alias(name: str, existing: str) -> str | None:
    """Give a captured file a second name, in one step."""
    folder = directory()
    if folder is None:
        return None
    temporary = folder / f".{os.getpid()}-alias.tmp"
    temporary.unlink(missing_ok=True)
    os.link(folder / existing, temporary)
    temporary.replace(folder / name)
    return f"{folder.name}/{name}"


def own_name(stem: str, suffix: str) -> str:
    """Return a name for a file that each process writes again and again.

    The first process that asks gets the plain name, another one a name with its process id.
    """
    folder, process = directory(), os.getpid()
    if folder is not None and process not in _owned:
        try:
            (folder / ".owner").touch(0o600, exist_ok=False)
            _owned[process] = True
        except FileExistsError:
            _owned[process] = False
    return f"{stem}{suffix}" if _owned.get(process) else f"{stem}-{process}{suffix}"


def new_name(stem: str, suffix: str) -> str:
    """Return the next free name of the form STEM-N, reserved by an empty file."""
    folder = directory()
    number = 1
    while folder is not None:
        try:
            (folder / f"{stem}-{number}{suffix}").touch(0o600, exist_ok=False)
            break
        except FileExistsError:
            number += 1
    return f"{stem}-{number}{suffix}"


def discard(name: str) -> None:
    """Remove a reserved name that nothing was written to."""
    folder = directory()
    if folder is not None:
        (folder / name).unlink(missing_ok=True)


def keep(path: str, stem: str, suffix: str) -> tuple[str | None, str | None]:
    """Keep a file as it is now; return its captured name, or None and the reason.

    A small file is copied, because the program may write over it; a large one gets a second link,
    or shares its blocks where the file system can. Only one that may vanish with the program's
    temporary files is worth a copy of many bytes; any other is found where it is.
    """
    folder = directory()
    if folder is None:
        return None, "capture is off"
    size = Path(path).stat().st_size
    affordable = size <= room()
    name = new_name(stem, suffix)
    try:
        if size <= _COPY_BYTES and affordable:
            return write(name, lambda to: shutil.copyfile(path, to)), None
        for share in (os.link, _clone):
            try:
                return write(name, lambda to, share=share: share(path, to)), None  # type: ignore[misc]
            except OSError as error:
                why = error.strerror
        if affordable and Path(path).is_relative_to(tempfile.gettempdir()):
            return write(name, lambda to: shutil.copyfile(path, to)), None
        discard(name)
        return None, f"its {size} bytes stay where they are: no hard link ({why})"
    except OSError as error:
        discard(name)
        return None, f"{type(error).__name__}: {error.strerror}"


def _clone(path: str, to: str) -> None:
    """Make a file of the same blocks, which are copied only when one of the two is written to."""
    import fcntl

    with Path(path).open("rb") as source, Path(to).open("wb") as target:
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
