"""Have calls on devices judged there, and settle them before the process ends."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import call_counters, device, events, holding, outputs

_watcher: list[device.Watcher | None] = []
_modules = sys.modules


def watcher() -> device.Watcher | None:
    """Return what watches the devices of this process, from the first call on one."""
    if not _watcher:
        if not device.ready():
            return None
        found = device.made(_settled)
        if found is not None:
            found.on_stuck = _stuck
            _before_exit()
        _watcher.append(found)
    return _watcher[0]


def before(number: int, loaded: Any, group: Any, flat: Any) -> device.Entry | None:
    """Copy the inputs of a call on a device; None where nothing can be, or is to be, added."""
    watching = _watcher[0] if _watcher else watcher()
    torch: Any = _modules["torch"]
    if watching is None or torch._C._cuda_isCurrentStreamCapturing():
        return None
    if group.layout is None:
        flat = ()
    elif len(flat) != len(group.layout.places):
        flat = [leaf for leaf in flat if type(leaf) is torch.Tensor]
    return _begin(torch, watching, group.device, number, loaded, group, flat)


def _begin(
    torch: Any, watching: device.Watcher, at: int, number: int, loaded: Any, group: Any, flat: Any
) -> device.Entry | None:
    if torch._C._cuda_getDevice() != at:
        with torch.cuda.device(at):
            return _begin(torch, watching, at, number, loaded, group, flat)
    stream = torch._C._cuda_getCurrentRawStream(at)
    return watching.begin(at, stream, number, loaded, group, flat)


def judge(
    number: int,
    loaded: Any,
    group: Any,
    entry: device.Entry | None,
    signature: int,
    later: outputs.Later,
) -> None:
    """Have the outputs of a call judged on their device, after its kernels."""
    torch: Any = _modules["torch"]
    watching = _watcher[0] if _watcher else watcher()
    if entry is None and watching is not None and not device.capturing(torch):
        at = later.leaves[0].get_device() if later.leaves else torch._C._cuda_getDevice()
        entry = _begin(torch, watching, at, number, loaded, group, ())
    if watching is None or entry is None:
        outputs.unread()
        return
    entry.seen = signature
    _end(torch, watching, entry, later)


def _end(torch: Any, watching: device.Watcher, entry: device.Entry, later: outputs.Later) -> None:
    at = entry.at
    if torch._C._cuda_getDevice() != at:
        with torch.cuda.device(at):
            _end(torch, watching, entry, later)
        return
    looks = later.looks.get(at)
    if looks is None:
        looks = later.looks[at] = watching.looks(at, later.leaves, later.places)
    watching.end(entry, later.leaves, looks)


def _settled(entry: device.Entry, signature: int) -> None:
    counted = call_counters.of_process()
    if counted is not None and counted.numbers[call_counters.ON_DEVICE] == entry.call:
        counted.numbers[call_counters.ON_DEVICE] = 0
    if signature or not outputs.finite(entry.loaded):
        about = entry.call, entry.loaded, entry.group
        outputs.settle(*about, signature, lambda stem: holding.write(entry, stem))


def _stuck(entry: device.Entry) -> None:
    """Keep the inputs of a call that a device does not come to the end of."""
    counted = call_counters.of_process()
    if counted is None:
        return
    numbers = counted.numbers
    numbers[call_counters.ON_DEVICE_KEPT] = 0
    known = entry.group is not None and entry.group.id is not None
    numbers[call_counters.ON_DEVICE_GROUP] = entry.group.id if known else -1
    numbers[call_counters.ON_DEVICE] = entry.call
    if holding.write(entry, "call-pending").get("captured"):
        numbers[call_counters.ON_DEVICE_KEPT] = entry.call


def finish() -> None:
    """Settle what devices are still busy with, and keep the inputs of the latest call."""
    watching = _watcher[0] if _watcher else None
    counted = call_counters.of_process() if watching is not None else None
    if watching is None or counted is None or watching.ended:
        return
    try:
        watching.finish()
        first, numbers = watching.first(), counted.numbers
        if first is not None:
            _stuck(first)
        latest = watching.latest
        if latest is not None and latest.call == numbers[call_counters.LAST]:
            numbers[call_counters.HELD] = 0
            if holding.write(latest, "call-now").get("captured"):
                numbers[call_counters.HELD] = latest.call
    except Exception as error:
        events.note("settle what devices are busy with", error)


def _before_exit() -> None:
    """Have `os._exit`, which runs no exit handlers, settle first."""
    leave = os._exit

    def exit_now(status: int) -> None:
        finish()
        leave(status)

    os._exit = exit_now  # type: ignore[assignment]


def failed(entry: device.Entry | None) -> None:
    """Look which call a device did not come to the end of, when one raised: the call itself only
    if its device is lost, since a host may refuse a call before its kernels."""
    watching = _watcher[0] if _watcher else None
    if watching is None:
        return
    watching.read()
    first = watching.first()
    if first is not None and (first is not entry or watching.lost()):
        _stuck(first)
    if entry is not None:
        watching.drop(entry)


def forget() -> None:
    """Forget the devices, in a process that was forked: they cannot be used there."""
    _watcher.clear()
