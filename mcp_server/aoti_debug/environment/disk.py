"""Look at the directories where torch compiles, caches and unpacks."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from aoti_debug.environment.rules import Folder


def folders(env: Mapping[str, str]) -> tuple[Folder, ...]:
    """Return the temporary and cache directories that a run with `env` would use."""
    seen: dict[str, Folder] = {}
    for role, path in _wanted(env):
        seen.setdefault(str(path), _folder(role, path))
    return tuple(seen.values())


def _wanted(env: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    temporary = Path(env.get("TMPDIR") or "/tmp")
    yield "temporary", temporary
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    default = temporary / f"torchinductor_{user}"
    yield "cache", Path(env.get("TORCHINDUCTOR_CACHE_DIR") or default)


def _folder(role: str, path: Path) -> Folder:
    """Describe a directory; a cache that does not exist yet is judged by where it would be."""
    place = path
    while role == "cache" and not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return Folder(role, str(path), exists=False)
    try:
        status = os.statvfs(place)
    except OSError:
        return Folder(role, str(path), writable=os.access(place, os.W_OK | os.X_OK))
    return Folder(
        role=role,
        path=str(path),
        writable=os.access(place, os.W_OK | os.X_OK),
        noexec=bool(status.f_flag & os.ST_NOEXEC),
        free=status.f_bavail * status.f_frsize,
        inodes_left=status.f_favail > 0 or status.f_files == 0,
    )
