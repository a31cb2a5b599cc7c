"""Open whatever was given as a package and list its members, without trusting any of it."""

from __future__ import annotations

import stat
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from aoti_debug.package.record import Archive, Flaw, Layout, Member
from aoti_debug.package.source import FileSource, Source, SourceError, ZipSource
from aoti_debug.run.files import files_below, open_regular

MODELS = "data/aotinductor/"
MEMBERS_LIMIT = 50_000
DIRECTORY_BYTES = 16 * 1024 * 1024  # of the zip's own table of contents
QUICKLY = 192 * 1024 * 1024  # bytes that are verified where not all are
GROWS = 20  # times its own size: all that is unpacked of an archive to verify it
OLD_LOADER = "Failed to initialize zip archive: "
REFUSED = OLD_LOADER + "invalid header or archive is corrupted"
OUTDATED = "Loading outdated pt2 file. Please regenerate your package."
LOCAL_HEADER = 30  # bytes before a member, without its name
# What zipfile raises on damaged input, by its source and by trial.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, struct.error, zlib.error, SourceError, OSError, EOFError),
    *(ValueError, RuntimeError, OverflowError, LookupError),
)


@contextmanager
def open_archive(
    path: Path, stop: threading.Event | None = None
) -> Iterator[tuple[Archive, Source | None]]:
    """Yield what lies at `path` and where its bytes can be read; None when nothing can be. With
    `stop` every member's checksum is verified, which takes as long as reading the file, and ends
    with Stopped once it is set; without, those of the smallest."""
    with ExitStack() as stack:
        yield _open(path, stack, stop)


def _open(
    path: Path, stack: ExitStack, stop: threading.Event | None
) -> tuple[Archive, Source | None]:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return _directory(path, stack)
        if not stat.S_ISREG(status.st_mode):
            return _broken(0, f"{path.name} is not a regular file", "file open failed")
        stream = stack.enter_context(open_regular(path, stop, follow=True))
        head = stream.read(4)
    except OSError as error:
        return _broken(0, f"cannot read {path.name}: {error.strerror}", "file open failed")
    if head == b"\x7fELF":
        files = FileSource(path, single=True)
        stack.callback(files.close)
        member = Member(path.name, status.st_size)
        return Archive("library", status.st_size, (member,)), files
    return _zip(stream, status.st_size, stack, stop)


def _broken(size: int, what: str, message: str) -> tuple[Archive, None]:
    fix = "Copy the package again and compare its size with the origin's."
    return Archive("unknown", size, flaws=(Flaw(what, OLD_LOADER + message, fix),)), None


def _zip(
    stream: BinaryIO, size: int, stack: ExitStack, stop: threading.Event | None
) -> tuple[Archive, Source | None]:
    if size < 22:
        what = "the file is empty" if size == 0 else f"{size} bytes are no package"
        return _broken(size, what, "not a ZIP archive")
    stream.seek(0)
    what = "the file is not a zip archive, so it is not a .pt2 package"
    if stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06"):
        what = "the archive is truncated: its table of contents, which is at the end, is missing"
    ends = _directory_size(stream, size)
    if ends is None:
        return _broken(size, what, "failed finding central directory")
    if ends > DIRECTORY_BYTES:
        what = f"the archive's table of contents claims {ends} bytes"
        return _broken(size, what, "invalid header")
    try:
        archive = stack.enter_context(zipfile.ZipFile(stream))
        infos = archive.infolist()
    except ZIP_ERRORS as error:
        what = f"the archive's table of contents is damaged ({_short(error)})"
        return _broken(size, what, "invalid header or archive is corrupted")
    if len(infos) > MEMBERS_LIMIT:
        return _broken(size, f"the archive has {len(infos)} members", "invalid header")
    prefix = _prefix([info.filename for info in infos])
    members, flaws = _members(infos, prefix, size)
    source = ZipSource(stream, archive, prefix)
    flaws += _verify(source, members, size, stop)
    return Archive(_layout(members, prefix), size, members, tuple(flaws)), source


def _directory_size(stream: BinaryIO, size: int) -> int | None:
    """Return the bytes of the central directory as the end record says, None without one."""
    tail = min(size, 22 + 65_535)
    stream.seek(size - tail)
    data = stream.read(tail)
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or len(data) - at < 22:
        return None
    length = int.from_bytes(data[at + 12 : at + 16], "little")
    record = data.rfind(b"PK\x06\x06", 0, at)
    if length == 0xFFFFFFFF and 0 <= record <= len(data) - 56:
        length = int.from_bytes(data[record + 40 : record + 48], "little")
    return length


def _prefix(names: list[str]) -> str:
    """Return the `<stem>/` that torch 2.8 and later put before every name."""
    for name in names:
        head, slash, rest = name.partition("/")
        if slash and (rest.startswith((MODELS, "models/", ".data/")) or rest == "archive_format"):
            return f"{head}/"
        if name.startswith((MODELS, ".data/")) or name == "archive_format":
            return ""
    return ""


def _members(
    infos: list[zipfile.ZipInfo], prefix: str, size: int
) -> tuple[tuple[Member, ...], list[Flaw]]:
    members: list[Member] = []
    flaws: list[Flaw] = []
    seen: set[str] = set()
    for info in infos:
        flaws += [*_name_flaws(info.filename, prefix, seen), *_size_flaws(info, size)]
        if stat.S_ISLNK(info.external_attr >> 16):
            flaws.append(_strange(f"{info.filename[:200]!r} is a symbolic link", info.filename))
        seen.add(info.filename)
        if info.filename.endswith("/") or not info.filename.startswith(prefix):
            continue
        name = info.filename[len(prefix) :]
        compressed = info.compress_type != zipfile.ZIP_STORED
        members.append(Member(name, info.file_size, info.header_offset, compressed))
    return tuple(members), flaws[:50]


def _name_flaws(name: str, prefix: str, seen: set[str]) -> Iterator[Flaw]:
    where = name[:200]
    if ".." in name.split("/") or name.startswith("/") or "\\" in name or ":" in name.split("/")[0]:
        fix = "Do not load it: torch writes a member where its name says. Ask for a new package."
        yield _strange(f"a member's name points outside the package: {where!r}", name, fix)
    elif prefix and not name.startswith(prefix):
        yield replace(
            _strange(f"a member lies outside the package's folder {prefix!r}: {where!r}", name),
            message=OUTDATED,
            confidence="likely",
            fix="Do not add files to a package with a zip tool.",
        )
    if name in seen:
        twice = _strange(f"two members have the name {where!r}", name)
        yield replace(twice, confidence="likely")


def _size_flaws(info: zipfile.ZipInfo, size: int) -> Iterator[Flaw]:
    where, stored = info.filename[:200], info.compress_type == zipfile.ZIP_STORED
    packed, bytes_ = info.compress_size, info.file_size
    refused = ""
    if info.header_offset + LOCAL_HEADER + packed > size:
        refused = "ends after the end of the file: the archive is truncated or rewritten"
    elif stored and bytes_ != packed:
        refused = f"is stored uncompressed, but its sizes differ: {packed} and {bytes_} bytes"
    if refused:
        yield Flaw(f"{where!r} {refused}", REFUSED, "Copy the package again.", where=where)
    if not stored and bytes_ > 200 * packed + 4096:
        fix = "torch stores members uncompressed: this archive was not written by it."
        yield _strange(f"{where!r} would grow from {packed} to {bytes_} bytes", info.filename, fix)


def _strange(what: str, name: str, fix: str | None = None) -> Flaw:
    """Return a flaw that no archive written by torch has."""
    return Flaw(what, None, fix, severity="may_break", where=name[:200])


def _verify(
    source: ZipSource, members: tuple[Member, ...], size: int, stop: threading.Event | None
) -> list[Flaw]:
    """Compare checksums, smallest members first, within a budget: where it can be stopped, of what
    an archive of `size` bytes may hold."""
    flaws: list[Flaw] = []
    left = max(QUICKLY, GROWS * size) if stop else QUICKLY
    for member in sorted(members, key=lambda m: m.size):
        if member.size > left:
            break
        left -= max(member.size, 256)
        reason = _damage(source, member, stop or threading.Event())
        if reason is not None and len(flaws) < 20:
            fix = (
                "Copy the package again. torch checks no checksum: it loads such a package and may "
                "crash or give wrong numbers."
            )
            flaws.append(_strange(f"{member.name} is damaged: {reason}", member.name, fix))
    return flaws


def _damage(source: ZipSource, member: Member, stop: threading.Event) -> str | None:
    try:
        size = source.length(member, stop)  # reading to the end compares the checksum
    except ZIP_ERRORS as error:
        return "its checksum differs" if "CRC" in str(error) else _short(error)
    return None if size == member.size else f"{size} bytes instead of {member.size}"


def _layout(members: tuple[Member, ...], prefix: str) -> Layout:
    names = [m.name for m in members]
    if any(n.startswith(MODELS) for n in names):
        return "prefixed" if prefix else "root"
    exported = ("models/", "serialized_exported_program", "serialized_state_dict")
    if any(n.startswith(exported) for n in names):
        return "exported_program"
    return "unknown"


def _directory(path: Path, stack: ExitStack) -> tuple[Archive, Source | None]:
    members: list[Member] = []
    flaws: list[Flaw] = []
    for number, full in enumerate(files_below(path)):
        if number >= MEMBERS_LIMIT:
            what = f"the folder holds more than {MEMBERS_LIMIT:,} files: it is no package"
            return _broken(0, what, "file open failed")
        name = full.relative_to(path).as_posix()
        try:
            status = full.lstat()
        except FileNotFoundError:  # it went meanwhile
            continue
        if stat.S_ISREG(status.st_mode):
            members.append(Member(name, status.st_size))
        elif len(flaws) < 50:
            what = f"{name} is a link or special file: not read"
            flaws.append(Flaw(what, confidence="likely", severity="may_break", where=name))
    found = tuple(sorted(members, key=lambda m: m.name))
    prefix = _prefix([m.name for m in found])
    kept = (m for m in found if m.name.startswith(prefix))
    found = tuple(Member(m.name[len(prefix) :], m.size) for m in kept)
    source = FileSource(path / prefix, single=False)
    stack.callback(source.close)
    total = sum(m.size for m in found)
    return Archive("directory", total, found, tuple(flaws)), source


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
