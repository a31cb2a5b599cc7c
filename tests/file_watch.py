"""Wait until another process reads a file, or has closed it again: Linux's inotify."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from pathlib import Path

READ = 0x1  # IN_ACCESS
CLOSED = 0x10  # IN_CLOSE_NOWRITE
_HEAD = struct.Struct("iIII")
_PATIENCE_S = 60.0


class FileWatch:
    """What happens to one file from now on."""

    def __init__(self, path: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._file = libc.inotify_init1(os.O_CLOEXEC)
        if libc.inotify_add_watch(self._file, os.fsencode(path), READ | CLOSED) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")

    def wait(self, wanted: int) -> None:
        """Return when it is read, or closed."""
        seen = 0
        while not seen & wanted:
            if not select.select([self._file], [], [], _PATIENCE_S)[0]:
                raise TimeoutError("nothing happened to the file")
            events = os.read(self._file, 4096)
            for at in range(0, len(events), _HEAD.size):
                seen |= _HEAD.unpack_from(events, at)[1]

    def close(self) -> None:
        os.close(self._file)
