"""Where a package's bytes come from: a zip, a directory or a bare library. Nothing is extracted."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from pathlib import Path
from typing import IO, BinaryIO, Protocol

from aoti_debug.package.record import Member
from aoti_debug.run.files import open_regular
from aoti_debug.signals import Stopped

PART = 1 << 20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of compression, that torch's reader knows

READ_CALLS = 400_000  # reads of one window before its parser is taken to be lost
READ_BYTES = 96 * 1024 * 1024  # bytes of one window that a parser may ask for


class SourceError(Exception):
    """These bytes cannot be read; the message says why."""


class Source(Protocol):
    """Bytes of members by name; every read is bounded."""

    def read(self, member: Member, limit: int) -> bytes: ...

    def window(self, member: Member) -> BinaryIO: ...


class Window(io.RawIOBase):
    """A read-only view of `size` bytes of a file, with a budget of reads for parsers that a damaged
    header sends in circles, or to a table of exabytes."""

    def __init__(self, stream: BinaryIO, start: int, size: int) -> None:
        self._stream, self._start, self._size = stream, start, size
        self._at = 0
        self._calls, self._bytes = READ_CALLS, READ_BYTES

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if not 0 <= base + offset < 2**63:
            raise SourceError(f"offset {base + offset} is outside the file")
        self._at = base + offset
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._size - self._at)
        count = left if size is None or size < 0 else min(size, left)
        self._calls -= 1
        self._bytes -= count
        if self._calls < 0 or self._bytes < 0:
            raise SourceError("its tables are larger than any real library's")
        self._stream.seek(self._start + self._at)
        data = self._stream.read(count)
        self._at += len(data)
        return data


class FileSource:
    """One bare file, or the files below a directory."""

    def __init__(self, root: Path, single: bool) -> None:
        self._root, self._single = root, single
        self._open: list[BinaryIO] = []

    def _stream(self, member: Member) -> BinaryIO:
        path = self._root if self._single else self._root / member.name
        stream = open_regular(path, follow=self._single)
        self._open.append(stream)
        return stream

    def read(self, member: Member, limit: int) -> bytes:
        return self._stream(member).read(limit)

    def window(self, member: Member) -> BinaryIO:
        return Window(self._stream(member), 0, member.size)  # type: ignore[return-value]

    def close(self) -> None:
        for stream in self._open:
            stream.close()


class ZipSource:
    """The members of a zip archive."""

    def __init__(self, stream: BinaryIO, archive: zipfile.ZipFile, prefix: str) -> None:
        self._stream, self._archive, self._prefix = stream, archive, prefix

    def _open(self, member: Member) -> IO[bytes]:
        info = self._archive.getinfo(self._prefix + member.name)
        if info.compress_type not in METHODS:
            raise SourceError("it is compressed by a method that torch cannot read")
        return self._archive.open(info)

    def read(self, member: Member, limit: int) -> bytes:
        with self._open(member) as stream:
            return stream.read(limit)

    def length(self, member: Member, stop: threading.Event) -> int:
        """Read a member to its end, in parts, and return how long it is."""
        size = 0
        with self._open(member) as stream:
            while size <= member.size and (part := stream.read(PART)):
                if stop.is_set():
                    raise Stopped
                size += len(part)
        return size

    def window(self, member: Member) -> BinaryIO:
        if member.compressed:
            if member.size > READ_BYTES:
                raise SourceError("it is compressed and too large to look into")
            data = self.read(member, READ_BYTES)
            return Window(io.BytesIO(data), 0, len(data))  # type: ignore[return-value]
        start = self._data_start(member)
        return Window(self._stream, start, member.size)  # type: ignore[return-value]

    def _data_start(self, member: Member) -> int:
        """Return where the bytes begin: past the local header, whose lengths may differ from the
        directory's (PyTorch pads there)."""
        if member.offset is None:
            raise SourceError("it has no place in the archive")
        self._stream.seek(member.offset)
        header = self._stream.read(30)
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise SourceError("its local header is damaged")
        name = int.from_bytes(header[26:28], "little")
        extra = int.from_bytes(header[28:30], "little")
        return member.offset + 30 + name + extra
