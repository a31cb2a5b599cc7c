"""Unpack what a client has sent, within bounds; a server does it in a process of its own."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import shutil
import tarfile
import time
import zlib
from pathlib import Path
from typing import IO, cast

from aoti_debug.answers import UploadAnswer
from aoti_debug.errors import TooLarge, WrongUse
from aoti_debug.plain import clean
from aoti_debug.run.directory import prune
from aoti_debug.run.files import create, remove_tree
from aoti_debug.run.files import folder as make_folder
from aoti_debug.run.kept import make

KIND = "uploads"
MIB = 1 << 20
BODY = 64 * MIB  # of the archive as it comes
FOLDER = 256 * MIB  # of the files in it
FILES = 5_000
DEPTH = 15  # folders within each other
HEADER = 4096  # bytes of a name or an extended header; tarfile takes the square of them
HEADERS = 2 * MIB
HELP = "Send a tar archive of the folder: tar -cz -C FOLDER . | curl --data-binary @- …/upload"


def large(what: str) -> TooLarge:
    return TooLarge(
        what,
        help=f"At most {BODY // MIB} MiB packed, {FOLDER // MIB} MiB unpacked, {FILES} files, "
        "none of them sparse.",
    )


class _Unpacked:
    """The bytes of a tar archive, gzipped or not, and no more than it may have."""

    def __init__(self, packed: IO[bytes]) -> None:
        zipped = packed.read(2) == b"\x1f\x8b"
        packed.seek(0)
        self._stream = gzip.GzipFile(fileobj=packed) if zipped else packed
        self._left = FOLDER + 32 * MIB

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise large("the folder is too large")
        return data


_NO_ARCHIVE = (
    tarfile.TarError,
    EOFError,
    OverflowError,
    ValueError,
    zlib.error,
    gzip.BadGzipFile,
    RecursionError,
    NotADirectoryError,
    IsADirectoryError,
)


_EXTENDED = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)


def _bounded() -> type[tarfile.TarInfo]:
    """Return the members of one archive, none of which has long headers."""
    left = HEADERS

    class Bounded(tarfile.TarInfo):
        def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
            nonlocal left
            if self.type in _EXTENDED:
                left -= self.size
                if self.size > HEADER or left < 0:
                    raise large("its extended headers are too large")
            return super()._proc_member(archive)  # type: ignore[no-any-return, misc]

        def _refuse(self, *_: object) -> tarfile.TarInfo:  # its map takes any memory
            raise large("the archive holds a sparse file")

        _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse

    return Bounded


def new_name() -> str:
    return f"u-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"


def unpack(packed: Path, name: str, owner: str | None) -> UploadAnswer:
    """Unpack an archive into a new folder, which the caller removes where this does not end well:
    this process may be killed. Blocks. Raise WrongUse, TooLarge, RunDirectoryError or OSError."""
    kept = make(KIND, name, owner)
    kept.hold()
    folder = kept.path / "files"
    remove_tree(folder)  # it may be the second try
    folder.mkdir(mode=0o700)
    try:
        with (
            packed.open("rb") as file,
            tarfile.open(
                fileobj=cast(IO[bytes], _Unpacked(file)), mode="r|", tarinfo=_bounded()
            ) as archive,
        ):
            _extract(archive, folder)
        prune(owner=owner)
    except FileExistsError as error:
        raise WrongUse("the archive holds a name twice", help="Pack the folder anew.") from error
    except _NO_ARCHIVE as error:
        raise WrongUse(clean(f"this is no tar archive: {error}"), help=HELP) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise WrongUse("a name in the archive is too long", help="Shorten it.") from error
        raise
    files = [path for path in folder.rglob("*") if path.is_file()]
    return UploadAnswer(
        folder=str(folder), files=len(files), bytes=sum(f.stat().st_size for f in files)
    )


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    left = FOLDER
    for number, member in enumerate(archive, 1):
        if not (member.isreg() or member.isdir()):
            raise WrongUse(
                f"{clean(member.name)[:200]!r} is neither file nor folder",
                help="Leave links and devices out (tar --dereference).",
            )
        if len(Path(member.name).parts) > DEPTH:
            raise large("the folder is too deep")
        if member.size < 0:
            raise WrongUse(
                f"{clean(member.name)[:200]!r} has a negative size", help="Write the archive anew."
            )
        left -= member.size
        if left < 0 or number > FILES:
            raise large("the folder is too large")
        _write(archive, member, folder)


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write below `folder`, which has no link; `extract` may leave it before Python 3.11.4."""
    name = Path(member.name.lstrip("/"))
    if ".." in name.parts:
        raise WrongUse(f"{clean(member.name)[:200]!r} is outside of the folder", help=HELP)
    path = folder / name
    make_folder(path if member.isdir() else path.parent)
    content = archive.extractfile(member)
    if content is not None:
        with os.fdopen(create(path), "wb") as file:
            shutil.copyfileobj(content, file)
        path.chmod(0o700 if member.mode & 0o100 else 0o600)
