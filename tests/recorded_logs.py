"""Open recorded logs: `recorded("embed_oob", "base")`."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path

LOGS = Path(__file__).parent / "recorded" / "hardware" / "logs.tar.xz"


@cache
def _files() -> dict[tuple[str, str], bytes]:
    """Read all recordings once: (case, name) -> content."""
    with tarfile.open(LOGS) as archive:
        found: dict[tuple[str, str], bytes] = {}
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            case, _, name = member.name.partition("/")
            found[case, name] = content.read()
    return found


def recorded_bytes(case: str, name: str) -> bytes:
    """Return a file of a case, by its full name."""
    return _files()[case, name]


def recorded(case: str, stage: str) -> str:
    """Return what a case printed under a stage (or the named file, `memcheck-0.txt`)."""
    name = stage if "." in stage else f"{stage}.log"
    return recorded_bytes(case, name).decode()


def recordings() -> list[tuple[str, str]]:
    """List every recorded log as (case, stage)."""
    return [
        (case, name.removesuffix(".log"))
        for case, name in sorted(_files())
        if name.endswith((".log", ".txt"))
    ]
