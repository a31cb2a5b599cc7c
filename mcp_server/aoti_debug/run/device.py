"""GPUs: which ones a program would see, whether each is well, and which run has each of them."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import io
import json
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from aoti_debug.errors import DeviceBusy, RunDirectoryError
from aoti_debug.plain import plain
from aoti_debug.run.files import folder as make_folder
from aoti_debug.run.kept import home
from aoti_debug.run.machine import Answer, ask, find_tool, this_process

QUERY_S = 10.0
RETRY_S = 0.5
WAITING = "waiting"  # the file that those who wait for a GPU have locked together
_LOST = re.compile(
    r"GPU is lost|fallen off the bus|requires reset|Unable to determine the device handle"
    r"|couldn't communicate|Driver/library version mismatch|Failed to initialize NVML[^\n]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Device:
    index: int  # as nvidia-smi counts
    uuid: str
    name: str
    memory: int  # bytes; 0: not told
    free: int  # bytes


@dataclass(frozen=True, slots=True)
class Health:
    ok: bool
    what: str = ""  # what is wrong with it


def visible_devices(env: Mapping[str, str] | None = None) -> list[Device]:
    """Return the GPUs that a program with `env` would see; none without a driver. Blocks."""
    env = os.environ if env is None else env
    rows = query_gpus(("index", "uuid", "name", "memory.total", "memory.free"), env)
    found = [_device(row) for row in rows if len(row) == 5 and row[0].isdigit()]
    return _chosen(found, env.get("CUDA_VISIBLE_DEVICES"))


def query_gpus(fields: Sequence[str], env: Mapping[str, str], device: str = "") -> list[list[str]]:
    answer = _smi(fields, env, device)
    if answer is None or answer.code != 0:
        return []
    return list(csv.reader(io.StringIO(answer.stdout), skipinitialspace=True))


def _smi(fields: Sequence[str], env: Mapping[str, str], device: str) -> Answer | None:
    tool = find_tool("nvidia-smi", env)
    if tool is None:
        return None
    argv = [str(tool), f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    return ask([*argv, f"--id={device}"] if device else argv, env=env, timeout_s=QUERY_S)


def _device(row: Sequence[str]) -> Device:
    total, free = (int(cell) << 20 if cell.isdigit() else 0 for cell in row[3:5])
    return Device(int(row[0]), row[1], plain(row[2], 80), total, free)


def _chosen(devices: list[Device], visible: str | None) -> list[Device]:
    """Apply CUDA_VISIBLE_DEVICES as CUDA does: in its order, up to the first unknown entry."""
    if visible is None:
        return devices
    chosen: list[Device] = []
    for entry in (part.strip() for part in visible.split(",")):
        if entry.startswith("MIG-"):  # a slice of a GPU, which nvidia-smi does not list
            match = [Device(len(chosen), entry, "MIG slice", 0, 0)]
        elif entry.isdigit():
            match = [d for d in devices if d.index == int(entry)]
        else:
            match = [d for d in devices if entry.startswith("GPU-") and d.uuid.startswith(entry)]
        if len(match) != 1 or match[0] in chosen:
            break
        chosen += match
    return chosen


@contextlib.contextmanager
def lock_devices(
    devices: Sequence[Device], *, run: str, command: str, at: Path | None = None
) -> Iterator[None]:
    """Hold `devices` by the kernel's locks, or raise DeviceBusy with the holder's name."""
    with contextlib.ExitStack() as held:
        for device in sorted(devices, key=lambda d: d.uuid):
            held.enter_context(_lock(device, run, command, at))
        yield


@contextlib.asynccontextmanager
async def hold_devices(
    devices: Sequence[Device],
    *,
    run: str,
    command: str,
    wait_s: float = 0.0,
    on_wait: Callable[[str], None] | None = None,
    at: Path | None = None,
) -> AsyncIterator[None]:
    """Hold `devices` like `lock_devices`, waiting at most `wait_s` for other runs to end."""
    deadline = anyio.current_time() + wait_s
    with contextlib.ExitStack() as held:
        with contextlib.ExitStack() as waiting:
            while True:
                try:
                    held.enter_context(lock_devices(devices, run=run, command=command, at=at))
                    break
                except DeviceBusy as busy:
                    if anyio.current_time() >= deadline:
                        raise
                    waiting.enter_context(_said_to_wait(devices, at))
                    if on_wait is not None:
                        on_wait(f"waiting: {busy.args[0]}")
                await anyio.sleep(RETRY_S)
        yield


def are_wanted(devices: Sequence[Device], at: Path | None = None) -> bool:
    """Say whether another process waits for one of `devices`."""
    for device in devices:
        with contextlib.suppress(OSError):
            file = _lock_file(device, at, WAITING)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                os.close(file)
    return False


@contextlib.contextmanager
def _said_to_wait(devices: Sequence[Device], at: Path | None) -> Iterator[None]:
    """Let `are_wanted` see, in any process, that this one waits."""
    with contextlib.ExitStack() as held:
        for device in devices:
            with contextlib.suppress(OSError):
                file = _lock_file(device, at, WAITING)
                held.callback(os.close, file)
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield


def _lock_file(device: Device, at: Path | None, suffix: str) -> int:
    folder = (at or home()) / "locks"
    make_folder(folder)
    name = re.sub(r"[^A-Za-z0-9-]", "-", device.uuid or str(device.index))
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(folder / f"{name}.{suffix}", flags, 0o600)


@contextlib.contextmanager
def _lock(device: Device, run: str, command: str, at: Path | None) -> Iterator[None]:
    try:
        file = _lock_file(device, at, "lock")
    except OSError as error:
        what = f"cannot open the lock of GPU {device.index} in {at or home()}"
        raise RunDirectoryError(f"{what}: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = _holder(file)
        os.close(file)
        raise DeviceBusy(f"GPU {device.index} ({device.name}) is {holder}") from error
    note = {**this_process(), "run": run, "command": command[:200], "since": time.time()}
    try:
        with contextlib.suppress(OSError):  # on a full disk the lock holds, without a name
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps(note).encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.ftruncate(file, 0)
        os.close(file)


def _holder(file: int) -> str:
    try:
        note = json.loads(os.pread(file, 4096, 0))
        minutes = max(0.0, time.time() - note["since"]) / 60
        command = plain(str(note["command"]), 120)
        return f"held by run {note['run']} (pid {note['pid']}, {minutes:.0f} min: {command})"
    except (OSError, ValueError, KeyError, TypeError):
        return "held by another run"


def health(device: Device, env: Mapping[str, str] | None = None) -> Health:
    """Tell whether a GPU answers its driver and needs no reset. Blocks, at most 2 * QUERY_S."""
    env = os.environ if env is None else env
    asked = "" if device.uuid.startswith("MIG-") else device.uuid or str(device.index)
    answer = _smi(("uuid", "ecc.errors.uncorrected.volatile.total"), env, asked)
    if answer is None:
        return Health(False, f"nvidia-smi did not answer within {QUERY_S:g} s")
    text = f"{answer.stdout}\n{answer.stderr}"
    if found := _LOST.search(text):
        return Health(False, plain(found.group(0), 200))
    if answer.code != 0:
        return Health(False, plain(text.strip().split("\n")[0], 200))
    # Only newer drivers know this field; asked apart, since an unknown field fails a whole query.
    action = query_gpus(("gpu_recovery_action",), env, asked)
    wanted = action[0][0].strip() if action and action[0] else "None"
    if wanted not in ("None", "N/A", "[N/A]", ""):
        return Health(False, f"the driver asks for: {plain(wanted, 80)}")
    return Health(True)
