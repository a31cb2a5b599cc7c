"""Hold the inputs of a call until it is known what came of it, and keep those of the odd ones."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from . import budget, call_counters, capture, cuda, describe, device, shared_buffer, store
from .lazy import below_autograd, torch
from .watch import Details

buffer = threading.Lock()  # whose holder's inputs are in the shared input buffer


def hold(call: Any, numbers: memoryview[int]) -> bool:
    """Copy the inputs of a call that is not recorded: to the shared buffer if they fit, else into
    a file as long as there is time for it. Return False where neither was done."""
    group = call.group
    if group.buffer is None:
        if group.device is not None and group.layout is not None:
            return True  # copied on the device
        if group.id is None or not budget.allows(capture.fixed()):
            return False
        if capture.keep(call, describe.unreadable_now(), ()).get("captured"):
            numbers[call_counters.LATEST_KEPT] = call.number
        return True
    if torch._C._len_torch_dispatch_stack() or not buffer.acquire(False):
        return True
    call.holds = True
    numbers[call_counters.HELD] = 0
    with below_autograd():
        for to, given in zip(group.buffer, call.flat):
            to.copy_(given)
    numbers[call_counters.HELD] = call.number
    return True


def keep(call: Any, stem: str) -> Details:
    """Keep the inputs of a call on the CPU that has just returned: as they were before it, where
    the model writes to them."""
    if call.holds:
        return _write(shared_buffer.held(torch, call.group.layout), stem)
    if kept := capture.again(call, stem):
        return kept
    if call.loaded.writes:
        size = capture.storage_bytes(call.flat)
        return {"captured": None, "why_not": f"the model writes to its inputs ({size} bytes)"}
    with torch._C.DisableTorchFunction():
        return capture.keep_now(call, stem)


def write(entry: device.Entry, stem: str) -> Details:
    """Keep the inputs of a call on a device."""
    if entry.block is None:
        why = "its inputs are not all plain memory, or over 256 MB: they were not copied"
        if entry.bytes:
            why = f"its {entry.bytes} bytes of inputs were not copied: calls before it were under "
            why += "way and held all memory for copies; torch.cuda.synchronize() between calls "
            why += "would free it"
        return {"captured": None, "why_not": why}
    try:
        return _write(entry.block.read(), stem)
    except cuda.Unavailable as error:
        why = f"its {entry.bytes} bytes were on the device, which is lost ({error})"
        return {"captured": None, "why_not": why}


def _write(data: Any, stem: str) -> Details:
    if store.directory() is None:
        return {"captured": None, "why_not": "capture is off"}
    if len(data) > store.free():
        return {"captured": None, "why_not": f"{len(data)} bytes are more than the disk has left"}
    name = store.own_name(stem, ".bin")
    return {"captured": store.write(name, lambda to: Path(to).write_bytes(data))}
