"""What was recorded, read again as a run leaves it; packages taken apart, broken ones put
together."""

from __future__ import annotations

import io
import json
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from aoti_debug.diagnose import Ending, Observations
from aoti_debug.read.check_report import read_reports, read_step
from aoti_debug.read.checks import CheckReports
from aoti_debug.read.record import Record
from aoti_debug.record.events import read_events
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.triage.observe import ABOUT_THE_CALL, SANITIZER, TOLD, observe
from aoti_debug.vocabulary import CHECKS, Check

OURS = (*TOLD, SANITIZER)
AT = {"t": 1.5, "pid": 7}
CODE = re.compile(r"exit (\d{1,3})")
TIMED_OUT = re.compile(r"timed out after ([\d.]{1,10}) s")
SIGNAL = re.compile(r"SIG[A-Z0-9]{2,10}")


def recall(directory: Path, *, steps: bool = True) -> Observations:
    """Return the observations of a run, with those of its steps; the package is not read."""
    record = json.loads((directory / "run.json").read_bytes())
    first = observe(directory, "", ending_of(str(record.get("exit"))), ours=OURS)
    found: dict[str, Observations] = {}
    checks = CheckReports()
    about: list[Record] = []
    for step in (record.get("steps") or []) if steps else []:
        artifact, name = step.get("artifact"), str(step.get("name"))
        if not isinstance(artifact, str):
            continue
        ending = ending_of(str(step.get("exit")))
        observations = observe(directory / artifact, f"{artifact}/", ending, ours=OURS)
        about += [one for one in observations.records if isinstance(one, ABOUT_THE_CALL)]
        if (check := next((one for one in CHECKS if one == name), None)) is not None:
            checks = checks.joined(reported(directory, artifact, check))
        else:
            found[name] = observations
    return replace(first, records=(*first.records, *about), steps=found, checks=checks)


def reported(directory: Path, artifact: str, name: Check) -> CheckReports:
    """Read a report: of one process with all checks, or of one process for each, as older runs
    have them."""
    path = directory / artifact / "report.json"
    if not path.is_file():
        return CheckReports()
    document: dict[str, Any] = json.loads(path.read_bytes())
    if document.get("format") == 2:
        return read_reports(document, f"{artifact}/report.json")
    whole = {key: value for key, value in document.items() if key != "error"}
    step = read_step(name, {**whole, "state": "done"}, f"{artifact}/report.json")
    found: dict[str, Any] = {name: step}
    return CheckReports(**found)


def ending_of(how: str) -> Ending:
    """Read what `Exit.how` wrote."""
    if timed_out := TIMED_OUT.match(how):
        return Ending(timed_out=True, timeout_s=float(timed_out[1]))
    if code := CODE.match(how):
        return Ending(code=int(code[1]))
    if signal := SIGNAL.match(how):
        return Ending(signal=signal[0])
    return Ending()


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


def events(*lines: dict[str, Any] | str) -> RunSeen:
    """Read events, which are of process 7 where they do not say."""
    return read_events(io.BytesIO(jsonl(*lines).encode()))


def jsonl(*lines: dict[str, Any] | str) -> str:
    return "".join(f"{x if isinstance(x, str) else json.dumps({**AT, **x})}\n" for x in lines)


def begin(id: int, phase: str = "lower", **details: Any) -> dict[str, Any]:
    return {"event": "begin", "id": id, "phase": phase, "name": f"f{id}", **details}


def end(id: int, ok: bool = True, **details: Any) -> dict[str, Any]:
    return {"event": "end", "id": id, "ok": ok, "seconds": 1.25, **details}


def called(*inputs: dict[str, Any], **details: Any) -> dict[str, Any]:
    """Return the beginning of the first call of a package."""
    leaves = [{"kind": "tensor", "index": n, **one} for n, one in enumerate(inputs)]
    return begin(1, "run", call=1, package="/t/model.pt2", inputs=leaves, **details)


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
