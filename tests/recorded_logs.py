"""Open recorded logs: `recorded("embed_oob", "base")`."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "recorded" / "hardware"


@cache
def recorded_bytes(case: str, name: str) -> bytes:
    """Return a file of a case, by its full name."""
    with zipfile.ZipFile(FOLDER / f"{case}.zip") as archive:
        return archive.read(name)


def recorded(case: str, stage: str) -> str:
    """Return what a case printed under a stage (or the named file, `memcheck-0.txt`)."""
    name = stage if "." in stage else f"{stage}.log"
    return recorded_bytes(case, name).decode()


def recordings() -> list[tuple[str, str]]:
    """List every recorded log as (case, stage)."""
    found: list[tuple[str, str]] = []
    for path in sorted(FOLDER.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if n.endswith((".log", ".txt"))]
        found += [(path.stem, n.removesuffix(".log")) for n in names]
    return found
