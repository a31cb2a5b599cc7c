"""Read all that one process left in a directory, and answer what the plan asks of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from aoti_debug.diagnose import Ending, Observations
from aoti_debug.diagnose.from_gpu import access_of, core_of, ends_py
from aoti_debug.diagnose.observations import FAULTS
from aoti_debug.facts.categories import GPU_FAULTS
from aoti_debug.model import Diagnosis
from aoti_debug.read import device_marks
from aoti_debug.read.device_marks import pending
from aoti_debug.read.event_records import Call
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
from aoti_debug.record.counts import OnDevice, with_call_counts
from aoti_debug.record.events import read_events
from aoti_debug.record.outputs import first_odd
from aoti_debug.record.run_seen import NO_RECORD, RunSeen
from aoti_debug.run.files import is_regular, open_regular, read_regular, write_atomically
from aoti_debug.signatures import matcher
from aoti_debug.symptom import rejects
from aoti_debug.triage.environment import CAPTURE, EVENTS, KEY
from aoti_debug.triage.source_text import expects_nan, read

SHARED_MEMORY = Path("/dev/shm")
XML_BYTES = 64 * 1024 * 1024
# What a replay shows about the failing call itself; its other records are about the replay.
ABOUT_THE_CALL = (InputCheck, SanitizerError, GpuException, NativeBacktrace)
SAID = ("stderr.log", "stdout.log")  # by the process itself, which comes first
SANITIZER = "sanitizer.xml"
# What other programs wrote of it; a script can make files of these names too.
STACKS, CUDA_GDB = "stacks.log", "cuda-gdb.log"
TOLD = ("cuda.log", CUDA_GDB, STACKS)


def observe(
    directory: Path,
    prefix: str = "",
    ending: Ending | None = None,
    torch: str | None = None,
    ours: Collection[str] = (),
) -> Observations:
    """Return the records of every text in `directory`; `prefix` begins the names of artifacts.
    `ours` names other files that we wrote: files of such names are otherwise the script's."""
    records: list[Record] = []
    for name in (*SAID, *(name for name in TOLD if name in ours)):
        path = directory / name
        if is_regular(path):
            readers = [*log_readers(prefix + name), matcher(prefix + name)]
            with open_regular(path) as stream:
                records.extend(scan(stream, prefix + name, readers).records)
    said = directory / SAID[0]
    if not records and ending is not None and ending.code and is_regular(said):
        with open_regular(said) as stream:  # nothing is known of it: what speaks of an error
            records.extend(error_lines(stream, prefix + SAID[0]))
    xml = directory / SANITIZER
    if SANITIZER in ours and is_regular(xml):
        records.extend(read_memcheck_xml(read_regular(xml, XML_BYTES), prefix + SANITIZER))
    run = events_of(directory)
    if ending is not None and ending.enough:  # what was under way then counts as gone well
        calls = (replace(c, ok=True, on_device=False) if c.ok is None else c for c in run.calls)
        phases = (replace(p, ok=True) if p.ok is None else p for p in run.phases)
        run = replace(run, calls=tuple(calls), phases=tuple(phases))
    seen = run.torch.version if run.torch is not None else None
    found = Observations(tuple(records), run, ending, seen if torch is None else torch)
    return replace(found, run=replace(run, rejected=rejects(found)))


def events_of(directory: Path) -> RunSeen:
    """Return what the probe saw of a run."""
    path = directory / EVENTS
    if not is_regular(path):
        return NO_RECORD
    with open_regular(path) as stream:
        run = read_events(stream, key=key_of(directory))
    files = {}
    for counted in run.counted:
        with contextlib.suppress(OSError, ValueError):
            files[counted.file] = read_regular(directory / counted.file)
    pids = {c.pid for c in run.counted}
    left = {pid: found for pid in pids if (found := on_device(directory, pid)) is not None}
    return with_call_counts(run, files, left)


def on_device(directory: Path, pid: int) -> OnDevice | None:
    """Return the call that a device did not come to the end of; keep its inputs by themselves."""
    name = f"aoti-debug-{(key_of(directory) or 'run')[:16]}-{pid}.bin"
    kept, shared = directory / CAPTURE / f"call-device-{pid}.bin", SHARED_MEMORY / name
    try:
        if is_regular(shared) and shared.stat().st_uid == os.getuid():
            write_atomically(kept, read_regular(shared, device_marks.BYTES))
            shared.unlink()
        found = pending(read_regular(kept, device_marks.BYTES)) if is_regular(kept) else None
        if found is None:
            return None
        file = f"{CAPTURE}/call-pending-{pid}.bin"
        if found.inputs:
            write_atomically(directory / file, found.inputs)
    except OSError:
        return None
    return OnDevice(found.call, found.group, file if found.inputs else None)


def key_of(directory: Path) -> str | None:
    try:
        return read_regular(directory / KEY, 64).decode("ascii", "replace")
    except OSError:
        return None


def takes_nan_for_missing(observations: Observations) -> bool:
    """Tell whether the script ended well and the file that calls the model expects NaN."""
    odd = first_odd(observations.run, observations.run.calls)
    paths = [Path(line.file) for line in observations.run.source(odd)]
    files = [read(path, path.parent) for path in paths if not observations.failed]
    return any(file is not None and expects_nan(file.tree) for file in files)


UNRECORDED = "record every call"  # a note of the probe: not each call has its event


def checks_compiled_in(observations: Observations) -> bool:
    """Tell whether the model can check its inputs, unless its package says that it cannot."""
    model = observations.model
    return model is None or model.wrapper is None or model.wrapper.checks != "none"


def on_gpu(observations: Observations) -> bool:
    models = observations.package.models if observations.package else ()
    packaged = any((model.device or "").startswith("cuda") for model in models)
    return packaged or observations.run.uses_cuda


def dump_tells(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether the core dump holds line and access of a Triton kernel that the user wrote."""
    core = core_of(observations)
    if core is None or best.confidence != "proved" or access_of(core) is None:
        return False
    kernel = core.kernel if core.line is not None and ends_py(core.file) else None
    same = best.kernel is not None and best.kernel.name == kernel
    return same and not (kernel or "").startswith("triton_")


def crashed(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether a signal of the host ended the process and its own words do not explain it."""
    ending = observations.ending
    if ending is None or ending.timed_out:
        return False
    aborted = ending.signal == "SIGABRT" and best.category == "host_segfault"
    return aborted or ending.signal in FAULTS


def crashed_outside(observations: Observations, best: Diagnosis) -> bool:
    """Tell whether a host signal came after the last call, with no phase of AOTInductor open."""
    run = observations.run
    if run.last_call is None or not crashed(observations, best):
        return False
    unrecorded = any(note.what == UNRECORDED for note in run.notes)
    return run.last_call.ok is True and run.unfinished is None and not unrecorded


def only_values(observations: Observations, best: Diagnosis, call: Call | None) -> bool:
    """Tell whether only the values of the call can be wrong: it returned and the process ended."""
    ending = observations.ending
    if ending is None or ending.code is None or ending.timed_out or call is None or not call.ok:
        return False
    outside_the_call = best.category in GPU_FAULTS or best.phase in ("load", "constants")
    return ending.clean or not outside_the_call
