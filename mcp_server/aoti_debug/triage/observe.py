"""Read all that one process left in a directory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from aoti_debug.diagnose import Ending, Observations
from aoti_debug.read.events import Events, read_events
from aoti_debug.read.memcheck_xml import read_memcheck_xml
from aoti_debug.read.python_traceback import error_lines
from aoti_debug.read.record import (
    GpuException,
    InputCheck,
    NativeBacktrace,
    Record,
    SanitizerError,
)
from aoti_debug.read.scan import log_readers, scan
from aoti_debug.read.traffic import with_tallies
from aoti_debug.run.files import is_regular, open_regular, read_regular
from aoti_debug.signatures import matcher
from aoti_debug.triage.environment import EVENTS

XML_BYTES = 64 * 1024 * 1024
# What a replay shows about the failing call itself; its other records are about the replay.
ABOUT_THE_CALL = (InputCheck, SanitizerError, GpuException, NativeBacktrace)
SAID = ("stderr.log", "stdout.log")  # by the process itself, which comes first
SANITIZER = "sanitizer.xml"
# What other programs wrote of it. A script can put files of these names into its directory too.
STACKS, CUDA_GDB = "stacks.log", "cuda-gdb.log"
TOLD = ("cuda.log", CUDA_GDB, STACKS)


def observe(
    directory: Path,
    prefix: str = "",
    ending: Ending | None = None,
    torch: str | None = None,
    extra: tuple[Record, ...] = (),
    ours: Collection[str] = (),
) -> Observations:
    """Return the records of every text in `directory`; artifacts are named with `prefix`.

    `ours` names what else we had written there: any other file of such a name is the script's.
    """
    records: list[Record] = []
    for name in (*SAID, *(name for name in TOLD if name in ours)):
        path = directory / name
        if is_regular(path):
            records.extend(scan_file(path, prefix + name))
    if not records and ending is not None and ending.code:
        records.extend(last_words(directory / SAID[0], prefix + SAID[0]))
    xml = directory / SANITIZER
    if SANITIZER in ours and is_regular(xml):
        records.extend(read_memcheck_xml(read_regular(xml, XML_BYTES), prefix + SANITIZER))
    events = events_of(directory)
    if events is not None and ending is not None and ending.enough:
        events = ended_by_us(events)
    if torch is None and events is not None and events.torch is not None:
        torch = events.torch.version
    return Observations((*records, *extra), events, ending, torch)


def about_the_call(observations: Observations) -> list[Record]:
    """Return what a replay showed of the failing call itself."""
    return [record for record in observations.records if isinstance(record, ABOUT_THE_CALL)]


def scan_file(path: Path, artifact: str) -> tuple[Record, ...]:
    with open_regular(path) as stream:
        return scan(stream, artifact, [*log_readers(artifact), matcher(artifact)]).records


def last_words(path: Path, artifact: str) -> list[Record]:
    """Return the first lines that speak of an error, of a text in which nothing is known."""
    if not is_regular(path):
        return []
    with open_regular(path) as stream:
        return list(error_lines(stream, artifact))


def events_of(directory: Path) -> Events | None:
    path = directory / EVENTS
    if not is_regular(path):
        return None
    with open_regular(path) as stream:
        events = read_events(stream)
    return with_tallies(events, {c.file: tally_of(directory / c.file) for c in events.counted})


def ended_by_us(events: Events) -> Events:
    """Count what was under way when a program had been watched long enough as gone well."""
    calls = tuple(replace(c, ok=True) if c.ok is None else c for c in events.calls)
    phases = tuple(replace(p, ok=True) if p.ok is None else p for p in events.phases)
    return replace(events, calls=calls, phases=phases)


def tally_of(path: Path) -> bytes:
    try:
        return read_regular(path)
    except (OSError, ValueError):
        return b""
