"""What the home keeps: whose it is, what may be removed, and how much there may be."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from aoti_debug.errors import RunDirectoryError, UnreadableInput
from aoti_debug.run.files import files_below, folder, read_regular, remove_tree, write_new

OWNER = ".owner"  # whose it is, where the server has several clients
KEEP = {"runs": 50, "uploads": 20, "minify": 20, "sweeps": 50, "check_inputs": 50}  # of one owner
KEEP_BYTES = 5 * 10**9  # of all kinds together, for one token or for all clients without one
LONGEST = 4096  # characters of a path
STEPS = 1000  # folders and links of one path
LINKS = 40  # that the kernel follows in one path
UNUSED_S = 24 * 3600.0  # after which a client may remove what another one has left


def home(env: Mapping[str, str] | None = None) -> Path:
    """Return where everything is kept: $AOTI_DEBUG_HOME, or ~/.cache/aoti-debug."""
    named = (os.environ if env is None else env).get("AOTI_DEBUG_HOME")
    try:
        return Path(named or "~/.cache/aoti-debug").expanduser().absolute()
    except RuntimeError as error:
        raise RunDirectoryError("there is no home directory") from error


class Kept:
    """One folder that the home keeps, at HOME/KIND/NAME. A holder has a shared lock of the kernel
    on it, which ends with the process; removing it needs the lock alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: int | None = None
        self._close: Callable[[], object] | None = None

    def hold(self) -> bool:
        """Keep the folder from being removed until `release`; False where it is already gone."""
        if self._held is not None:
            return True
        try:
            self._held = _opened(self.path)
        except OSError:
            return False
        self._close = weakref.finalize(self, os.close, self._held)
        with contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(self._held, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return self.is_held()

    def release(self) -> None:
        if self._held is not None and self._close is not None:
            self._close()
            self._held = None

    def is_held(self) -> bool:
        """Say whether the folder that was held is still the one at its path."""
        with contextlib.suppress(OSError, TypeError):
            return os.path.samestat(self.path.lstat(), os.fstat(self._held))  # type: ignore[arg-type]
        return False

    def owner(self) -> str | None:
        """Return whose it is; None for the machine's own user."""
        try:
            return read_regular(self.path / OWNER, 1000).decode("utf-8", "replace")
        except OSError:
            return None

    def belongs_to(self, owner: str | None) -> bool:
        """Say whether this owner may see it; None is the machine's own user, who may."""
        return owner is None or self.owner() == owner

    def size(self) -> int:
        """Return the bytes that it takes on disk; a file with several names counts once."""
        files: dict[tuple[int, int], int] = {}
        for path in files_below(self.path):
            with contextlib.suppress(OSError):
                found = path.lstat()
                files[found.st_dev, found.st_ino] = found.st_blocks * 512
        return sum(files.values())

    def age(self) -> tuple[float, str]:
        """Order by the last change, in seconds since 1970, the newest first."""
        with contextlib.suppress(OSError):
            return (-self.path.stat().st_mtime, self.path.name)
        return (0.0, self.path.name)

    def is_used(self) -> bool:
        """Say whether its files are in use although no process of this machine holds it."""
        return False

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Have the folder alone while the body runs; yield False where another holds it."""
        try:
            mine = _opened(self.path)
        except OSError:
            yield False
            return
        try:
            try:
                fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
                free = True
            except OSError as error:
                free = error.errno not in (errno.EWOULDBLOCK, errno.EACCES)  # no locks there
            yield free
        finally:
            os.close(mine)

    def remove(self) -> bool:
        """Remove it; False where it is in use."""
        if self.is_used():
            return False
        with self.alone() as free:
            if free:
                remove_tree(self.path)
        return free


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def make(kind: str, name: str, owner: str | None = None, at: Path | None = None) -> Kept:
    """Make or take the folder of this kind and owner; raise RunDirectoryError."""
    path = (at or home()) / kind / name
    kept = Kept(path)
    try:
        folder(path)
        if owner is not None and kept.owner() is None:
            write_new(path / OWNER, owner.encode())
    except OSError as error:
        raise RunDirectoryError(f"cannot make {path}: {error.strerror}") from error
    if not kept.belongs_to(owner):
        raise RunDirectoryError(f"cannot make {path}: it is another client's")
    return kept


def own_name(name: str, owner: str | None) -> str:
    return name if owner is None else f"{name}-{hashlib.sha256(owner.encode()).hexdigest()[:16]}"


PARTS, PARTS_BYTES = 1000, 1 << 16  # of words, in which folders are looked for


def named_in(words: Iterable[str], cwd: Path, owner: str | None, at: Path | None) -> list[Kept]:
    """Return the folders of the home that words or their parts name, each once; raise
    UnreadableInput for another's, and for more paths of a client than can be looked at."""
    parts = (part for word in words for part in (word, *re.split("[=:,]", word)))
    paths = dict.fromkeys(part for part in parts if os.sep in part and len(part) < LONGEST)
    if owner is not None and (len(paths) > PARTS or sum(map(len, paths)) > PARTS_BYTES):
        what = f"the words name over {PARTS:,} paths, or paths of {PARTS_BYTES >> 10} KiB"
        raise UnreadableInput(what, help="Put them into a file.")
    found = (within(cwd / path, owner, at) for path in islice(paths, PARTS))
    return [*{kept.path: kept for kept in found if kept is not None}.values()]


private: list[Path] = []  # files of the server that no client may read: its tokens


def within(path: Path, owner: str | None = None, at: Path | None = None) -> Kept | None:
    """Return the folder of the home that a path leads into; raise UnreadableInput for another's."""
    if owner is not None and _is_private(path):
        raise UnreadableInput(f"there is no file {path}", help="Name a file of your own.")
    try:
        parts = path.resolve().relative_to((at or home()).resolve()).parts
    except (OSError, RuntimeError, ValueError):
        return None
    if not parts or parts[0] not in (*KEEP, "interpreters", "locks", "environments"):
        return None
    kept = Kept((at or home()).resolve() / parts[0] / parts[1]) if len(parts) > 1 else None
    if owner is not None and (kept is None or kept.owner() != owner):
        raise UnreadableInput(f"there is no file {path}", help="Name a file of your own.")
    return kept if parts[0] in KEEP else None


def _is_private(path: Path) -> bool:
    """Tell whether a path leads to a private file, or through what the kernel tells of processes,
    which is not the same for the process that reads."""
    try:
        return _passes_proc(path) or any(path.samefile(one) for one in private)
    except (OSError, RuntimeError, ValueError):
        return False


def _passes_proc(path: Path) -> bool:
    """Follow a path as the kernel does; one of more steps than any real path counts as such."""
    at, left, links = "", str(path).split("/")[::-1], 0
    for _ in range(STEPS):
        if not left:
            return False
        part = left.pop()
        if part in ("", "."):
            continue
        at = at.rpartition("/")[0] if part == ".." else f"{at}/{part}"
        if at == "/proc":
            return True
        try:
            to = os.readlink(at)  # noqa: PTH115 - of thousands of parts
        except (FileNotFoundError, NotADirectoryError):
            return ".." in left  # nothing can be opened there, but Python would go on
        except OSError:  # no link
            continue
        left += to.split("/")[::-1]
        at, links = "" if to.startswith("/") else at.rpartition("/")[0], links + 1
        if links > LINKS:
            return True  # the kernel opens nothing there, and Python would follow them all
    return True


def keep(folders: list[Kept], owner: str | None, count: int | None, most: int) -> list[str]:
    """Remove the oldest folders of a quota, given newest first: beyond `count` of an owner and kind
    and beyond `most` bytes; none in use, of other owners only those unused for a day. Return their
    names. Raise RunDirectoryError where others' exceed `most`."""
    removed: list[str] = []
    counts: Counter[tuple[str, str | None]] = Counter()
    total = 0
    for kept in folders:
        size, whose, kind = kept.size(), kept.owner(), kept.path.parent.name
        counts[kind, whose] += 1
        total += size
        too_many = counts[kind, whose] > (KEEP[kind] if count is None else count)
        mine = owner is None or whose == owner or -kept.age()[0] < time.time() - UNUSED_S
        if (too_many or total > most) and mine and kept.remove():
            total -= size
            removed.append(kept.path.name)
    if owner is not None and total > most:
        raise RunDirectoryError(
            f"the {most / 1e9:g} GB for what clients leave here are in use",
            help="Wait until others' runs have ended, or serve with a token for each client.",
        )
    return removed


def share_of(owner: str | None) -> str:
    """Return whose quota an owner's folders count to: a token's own, or that of all the others."""
    return owner if owner is not None and owner.startswith("token ") else ""
