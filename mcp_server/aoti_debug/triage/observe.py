"""Read all that one process left in a directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aoti_debug.diagnose import Ending, Observations
from aoti_debug.read.error_line import error_lines
from aoti_debug.read.events import Events, read_events
from aoti_debug.read.memcheck_xml import read_memcheck_xml
from aoti_debug.read.record import (
    GpuException,
    InputCheck,
    NativeBacktrace,
    OutputCheck,
    Record,
    SanitizerError,
)
from aoti_debug.read.scan import log_readers, scan
from aoti_debug.signatures import matcher
from aoti_debug.triage.launch import EVENTS

REPORT = "report.json"
# What a replay shows about the failing call itself; its other records are about the replay.
ABOUT_THE_CALL = (InputCheck, OutputCheck, SanitizerError, GpuException, NativeBacktrace)
# In the order of trust: what the process itself said on stderr comes first.
TEXTS = (
    "stderr.log", "stdout.log", "cuda.log", "cuda-gdb.log", "sanitizer.log", "gdb.log",
    "stacks.log",
)  # fmt: skip


def observe(
    directory: Path,
    prefix: str = "",
    ending: Ending | None = None,
    torch: str | None = None,
    extra: tuple[Record, ...] = (),
) -> Observations:
    """Return the records of every text in `directory`; artifacts are named with `prefix`."""
    records: list[Record] = []
    for name in TEXTS:
        path = directory / name
        if path.is_file():
            records.extend(scan_file(path, prefix + name))
    if not records and ending is not None and ending.code:
        records.extend(last_words(directory / TEXTS[0], prefix + TEXTS[0]))
    xml = directory / "sanitizer.xml"
    if xml.is_file():
        records.extend(read_memcheck_xml(xml.read_bytes(), prefix + "sanitizer.xml"))
    events = events_of(directory)
    if torch is None and events is not None and events.torch is not None:
        torch = events.torch.version
    return Observations((*records, *extra), events, ending, torch)


def report_of(directory: Path) -> dict[str, Any] | None:
    """Return what a program of the probe reported; None when it wrote no whole report."""
    try:
        report = json.loads((directory / REPORT).read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def scan_file(path: Path, artifact: str) -> tuple[Record, ...]:
    with path.open("rb") as stream:
        return scan(stream, artifact, [*log_readers(artifact), matcher(artifact)]).records


def last_words(path: Path, artifact: str) -> list[Record]:
    """Return the first lines that speak of an error, of a text in which nothing is known."""
    if not path.is_file():
        return []
    with path.open("rb") as stream:
        return list(error_lines(stream, artifact))


def events_of(directory: Path) -> Events | None:
    path = directory / EVENTS
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        return read_events(stream)
