"""The text of generated sources that a package carries."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from aoti_debug.package.archive import ZIP_ERRORS, open_archive

SOURCE_BYTES = 16 * 1024 * 1024


def line_of_member(package: Path, file: str, number: int) -> str | None:
    """Return line `number`, counted from 1, of the member named as `file` is; None without one."""
    text = member_text(package, file)
    lines = text.split("\n") if text is not None else []
    return lines[number - 1].strip() if 0 < number <= len(lines) else None


def member_text(package: Path, file: str) -> str | None:
    """Return the text of the member that has the base name of `file`; None without one."""
    name = PurePosixPath(file).name
    with open_archive(package) as (archive, source):
        for member in archive.members if source is not None else ():
            if PurePosixPath(member.name).name == name and member.size <= SOURCE_BYTES:
                try:
                    data = source.read(member, SOURCE_BYTES) if source is not None else b""
                except ZIP_ERRORS:
                    return None
                return data.decode("utf-8", "replace")
    return None
