"""Take packages apart and put broken ones together."""

from __future__ import annotations

import json
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

Members = list[tuple[str, bytes]]
RECORDED = Path(__file__).parent / "recorded" / "packages"


def unpack(path: Path, folder: Path) -> None:
    """Unpack a recorded archive; `extractall(filter=…)` is not in every Python that we run on."""
    with tarfile.open(path) as archive:
        for member in archive:
            if (content := archive.extractfile(member)) is not None:
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())


def members(path: Path) -> Members:
    """Return the entries of an archive in order."""
    with zipfile.ZipFile(path) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def write(path: Path, entries: Members, *, compress: bool = False) -> Path:
    """Write an archive of these entries, names unchanged."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            archive.writestr(info, data)
    return path


def change(entries: Members, ending: str, how: Callable[[bytes], bytes]) -> Members:
    """Apply `how` to the entries with this ending."""
    return [(name, how(data) if name.endswith(ending) else data) for name, data in entries]


def drop(entries: Members, *endings: str) -> Members:
    return [(name, data) for name, data in entries if not name.endswith(endings)]


def metadata(**changes: str | None) -> Callable[[bytes], bytes]:
    """Set (or with None remove) keys of a metadata file."""

    def apply(data: bytes) -> bytes:
        document = {**json.loads(data), **changes}
        return json.dumps({k: v for k, v in document.items() if v is not None}).encode()

    return apply


def machine(number: int) -> Callable[[bytes], bytes]:
    """Set the machine of an ELF header."""
    return lambda data: data[:18] + struct.pack("<H", number) + data[20:]


def zeros(path: Path, name: str, size: int, entries: Members) -> Path:
    """Append a stored entry of `size` zero bytes as a hole, so that a huge package costs nothing.

    The sizes must fit 32 bits. The checksum is wrong; nothing is to read so far.
    """
    write(path, entries)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"")
        info = archive.getinfo(name)
        start, offset = archive.start_dir, info.header_offset
    data = path.read_bytes()
    at = data.rindex(name.encode()) - 46  # its central record
    local = bytearray(data[offset:start])
    local[18:26] = struct.pack("<II", size, size)
    central = bytearray(data[start:])
    central[at - start + 20 : at - start + 28] = struct.pack("<II", size, size)
    end = central.rindex(b"PK\x05\x06")
    central[end + 16 : end + 20] = struct.pack("<I", start + size)
    with path.open("wb") as stream:
        stream.write(data[:offset])
        stream.write(local)
        stream.seek(start + size)
        stream.write(central)
    return path
