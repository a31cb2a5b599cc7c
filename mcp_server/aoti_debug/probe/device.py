"""Watch calls on CUDA devices, which nothing waits for. One kernel copies the inputs before a call,
another looks at the float outputs after it, both on the stream of the call. What they say lies in
pinned memory of the host, in eight words of each call: its number when its inputs were copied, its
number when its outputs were judged, what they hold; its number, group and where its inputs are. A
thread reads it, and so does the next call. Where that can be, the memory is a file's: it tells
which call a device did not come to the end of, however the process ended.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from . import budget, events
from .cuda import (
    HOST_BYTES,
    MARKS,
    OUTPUTS,
    POOL_BYTES,
    ROWS,
    Block,
    Device,
    Driver,
    Part,
    Pool,
    Unavailable,
)

_FILE_BYTES = 8 << 20  # marks, and the first pool
_SMALL = 1 << 20  # bytes that are copied to the host whatever time that takes
_BYTES_PER_SECOND = 20e9  # from a device to pinned memory
_POLL_S = 0.05
_STUCK_S = 0.1  # a call under way for so long may be one that faulted, or hangs
_SHARE = 20  # of the time, that goes into keeping the inputs of such calls: one of so many
_END_S = 10.0  # for the calls under way when a process ends
_BUSY = 600  # an error of the driver
_WORDS = 8
_PENDING = 32  # calls that are read together
_described = struct.Struct("=5Q").pack_into

# dtype -> bits of the exponent, bits of the mantissa, bytes, elements in one
_FLOATS = {
    "float32": (0x7F800000, 0x007FFFFF, 4, 1),
    "float16": (0x7C00, 0x03FF, 2, 1),
    "bfloat16": (0x7F80, 0x007F, 2, 1),
    "float64": (0x7FF0000000000000, 0x000FFFFFFFFFFFFF, 8, 1),
    "complex64": (0x7F800000, 0x007FFFFF, 4, 2),
    "complex128": (0x7FF0000000000000, 0x000FFFFFFFFFFFFF, 8, 2),
    "float8_e5m2": (0x7C, 0x03, 1, 1),
    "float8_e4m3fn": (0x7F, 0x7F, 1, 1),
}


Looks = list[Part]  # launches that look at outputs of some sizes and dtypes


class Entry:
    """One call on a device, from before its launch until its outputs are judged."""

    __slots__ = tuple("at block bytes call group launched loaded over seen slot stream".split())

    def __init__(self, at: int, stream: int, call: int, loaded: Any, group: Any, slot: int) -> None:
        self.at, self.stream = at, stream  # the device's number
        self.call, self.loaded, self.group, self.slot = call, loaded, group, slot
        self.block: Block | None = None
        self.bytes = 0  # of its inputs
        self.seen = 0  # what its outputs on the host hold
        self.launched = self.over = False


class Watcher:
    """All calls on the devices of this process."""

    def __init__(self, driver: Driver, settle: Callable[[Entry, int], None]) -> None:
        self.driver, self.settle = driver, settle
        self.devices: dict[int, Device] = {}
        torch = sys.modules["torch"]
        named = {getattr(torch, name, None): masks for name, masks in _FLOATS.items()}
        self.floats = {dtype: masks for dtype, masks in named.items() if dtype is not None}
        size = 8 * _WORDS * MARKS
        self.file = ""
        try:
            self.memory, self.file = driver.registered(_FILE_BYTES)
            self.marks_at = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        except Unavailable as error:
            events.note("keep what devices tell in a file", error)
            self.marks_at = driver.pinned(_FILE_BYTES)
            ctypes.memset(self.marks_at, 0, size)
        marks = (ctypes.c_uint64 * (_WORDS * MARKS)).from_address(self.marks_at)
        self.marks = memoryview(marks).cast("B").cast("Q")
        self.host = [Pool(self.marks_at + size, _FILE_BYTES - size, ctypes.string_at)]
        self.entries: deque[Entry] = deque()
        self.next = 0
        self.latest: Entry | None = None  # that was judged; its inputs are still there
        self.lock = _thread.allocate_lock()  # of all that follows, and of the parameters
        self.reading = _thread.allocate_lock()
        self.ended = False
        self.on_stuck: Callable[[Entry], None] = lambda _: None
        _thread.start_new_thread(self._watch, ())

    def device(self, index: int) -> Device:
        """Return a device; its context is the current one."""
        if index not in self.devices:
            self.devices[index] = Device(self.driver, index)
        return self.devices[index]

    def begin(
        self, index: int, stream: int, call: int, loaded: Any, group: Any, flat: Any
    ) -> Entry | None:
        """Copy the inputs of a call that is about to be made; None where too many are under way."""
        device = self.devices.get(index) or self.device(index)
        with self.lock:
            if len(self.entries) >= MARKS - 1:
                return None
            slot = self.next
            self.next = (slot + 1) % MARKS
            entry = Entry(index, stream, call, loaded, group, slot)
            self.entries.append(entry)
            parts, block = device.empty, None
            if flat and group.layout is not None:
                entry.bytes = group.layout.bytes
                block = entry.block = self._block(device, group.layout)
            base = begin = length = 0
            if block is not None:
                base = block.pool.address + block.begin
                if block.pool is self.host[0]:
                    begin, length = base - self.marks_at, block.end - block.begin
                if group.parts is None:
                    group.parts = self._parts(device, flat, group.layout)
                parts, others = group.parts
                if others:
                    self._from_host(block, [(flat[n], base + at, size) for n, at, size in others])
            known = group.id + 1 if group is not None and group.id is not None else 0
            mark = self.marks_at + 8 * _WORDS * slot
            _described(self.marks, 8 * (_WORDS * slot + 3), call, known, begin, length, 0)
            try:
                for part in parts:
                    numbers, place = part.numbers, 0
                    for n, at in part.rows:
                        numbers[place] = flat[n].data_ptr()
                        numbers[place + 1] = base + at
                        place += 3
                    numbers[ROWS + 1], numbers[ROWS + 2] = mark if part is parts[-1] else 0, call
                    device.start(part, stream)
            except Unavailable:
                self.drop(entry)
                raise
        return entry

    def _parts(self, device: Device, flat: Any, layout: Any) -> tuple[list[Part], list[Any]]:
        """Return the launches that copy a group's inputs, and those that are on the host."""
        places = [(n, *place) for n, place in enumerate(layout.places)]
        found = [one for one in places if flat[one[0]].is_cuda]
        return device.copies(found), [one for one in places if not flat[one[0]].is_cuda]

    def _from_host(self, block: Block, copies: list[tuple[Any, int, int]]) -> None:
        for leaf, to, size in copies:
            if block.pool in self.host:
                ctypes.memmove(to, leaf.data_ptr(), size)
            else:
                given = ctypes.c_uint64(to), ctypes.c_void_p(leaf.data_ptr())
                self.driver("cuMemcpyHtoD_v2", *given, ctypes.c_size_t(size))

    def _block(self, device: Device, layout: Any) -> Block | None:
        """Return memory for inputs: the host's, which outlives a fault, where they are small or
        there is time to copy them; else the device's own."""
        size = layout.bytes
        seconds = size / _BYTES_PER_SECOND
        on_host = size <= _SMALL or budget.allows(seconds)
        if on_host and (found := self._take(self.host, size, self._host_pool)):
            budget.spent += seconds if size > _SMALL else 0.0
            return found
        return self._take(device.pools, size, device.pool)

    def _take(
        self, pools: list[Pool], size: int, more: Callable[[int], Pool | None]
    ) -> Block | None:
        for pool in pools:
            if found := pool.take(size):
                return found
        if new := more(size):
            pools.append(new)
            return new.take(size)
        return None

    def _host_pool(self, size: int) -> Pool | None:
        size = max(2 * size, POOL_BYTES)
        if size + sum(pool.size for pool in self.host) > HOST_BYTES:
            return None
        return Pool(self.driver.pinned(size), size, ctypes.string_at)

    def looks(self, index: int, leaves: list[Any], places: list[int]) -> Looks:
        """Return how outputs are looked at on a device, the floats that are there; each has its
        place among all."""
        rows = []
        for n, (place, leaf) in enumerate(zip(places, leaves)):
            known = self.floats.get(leaf.dtype)
            if known is not None and leaf.get_device() == index:
                exponent, mantissa, width, each = known
                shift = 3 * min(place, OUTPUTS - 1)
                numbers = 0, leaf.numel() * each, exponent, mantissa, width | shift << 32
                rows.append((n, numbers))
        return self.device(index).looks(rows)

    def end(self, entry: Entry, leaves: list[Any], looks: Looks) -> None:
        """Look at outputs of a call, when they are there."""
        device = self.devices[entry.at]
        with self.lock:
            at = self.marks_at + 8 * _WORDS * entry.slot
            scratch = device.scratch + 16 * entry.slot
            try:
                for part in looks:
                    numbers, place = part.numbers, 0
                    for n, _ in part.rows:
                        leaf = leaves[n]
                        if not leaf.is_contiguous():
                            leaf = leaves[n] = leaf.contiguous()
                        numbers[place] = leaf.data_ptr()
                        place += 5
                    numbers[ROWS + 1], numbers[ROWS + 3] = scratch, entry.call
                    numbers[ROWS + 2] = at if part is looks[-1] else 0
                    device.start(part, entry.stream)
            except Unavailable:
                self.drop(entry)
                raise
            entry.launched = True
        if len(self.entries) > _PENDING or entry.bytes > _SMALL:
            self.read()

    def drop(self, entry: Entry) -> None:
        """Forget a call that failed, or whose outputs are not judged here."""
        self.marks[_WORDS * entry.slot + 3] = 0
        entry.over = True

    def read(self) -> None:
        """Settle what the devices have judged, in the order of the calls."""
        entries, marks = self.entries, self.marks
        if not self.reading.acquire(len(entries) > MARKS // 2):
            return  # another thread does
        try:
            while entries:
                entry = entries[0]
                if not entry.over:
                    at = _WORDS * entry.slot
                    if not entry.launched or marks[at + 1] != entry.call:
                        break
                    self.settle(entry, entry.seen | marks[at + 2])
                with self.lock:
                    entries.popleft()
                    if entry.over:
                        self._free(entry)
                    else:
                        if self.latest is not None:
                            self._free(self.latest)
                        self.latest = entry
        finally:
            self.reading.release()

    def _free(self, entry: Entry) -> None:
        if entry.block is not None:
            given = entry.block.pool.given
            if given[0] is entry.block:
                given.popleft()
            else:
                given.remove(entry.block)

    def first(self) -> Entry | None:
        """Return the first call that is on a device and not through it."""
        found = next((one for one in list(self.entries) if not one.over), None)
        if found is None or self.marks[_WORDS * found.slot] != found.call:
            return None
        return found

    def _watch(self) -> None:
        """Read from time to time: a process may end at any moment, and make no more calls."""
        seen, since, filed, again = None, 0.0, None, 0.0
        while not self.ended:
            time.sleep(_POLL_S)
            try:
                self.read()
                found, now = self.first(), time.perf_counter()
                if found is not seen:
                    seen, since = found, now
                if found is None or found is filed or now < max(since + _STUCK_S, again):
                    continue
                filed = found
                self.on_stuck(found)
                again = now + _SHARE * (time.perf_counter() - now)
            except Exception as error:
                events.note("read what devices have judged", error)
                return

    def finish(self) -> None:
        """Wait for the calls under way, as long as their device is well."""
        until = time.perf_counter() + _END_S
        while True:
            self.read()
            if not any(one.launched and not one.over for one in list(self.entries)):
                break
            if time.perf_counter() > until or self.lost():
                break
            time.sleep(0.001)
        self.ended = True
        if self.file and not self.entries:
            os.unlink(self.file)

    def lost(self) -> bool:
        """Tell whether a device's context has failed."""
        cuda, before = self.driver.library, ctypes.c_void_p()
        cuda.cuCtxGetCurrent(ctypes.byref(before))
        try:
            return any(
                cuda.cuCtxSetCurrent(ctypes.c_void_p(one.context))
                or cuda.cuStreamQuery(one.stream) not in (0, _BUSY)
                for one in self.devices.values()
            )
        finally:
            cuda.cuCtxSetCurrent(before)


def capturing(torch: Any) -> bool:
    """Tell whether the current stream of this thread records a CUDA graph."""
    return bool(torch._C._cuda_isCurrentStreamCapturing())


def ready() -> bool:
    """Tell whether torch has begun to use CUDA in this process."""
    cuda = sys.modules.get("torch.cuda")
    return cuda is not None and cuda.is_initialized()


def made(settle: Callable[[Entry, int], None]) -> Watcher | None:
    """Return what watches the devices of this process; None, with a note, where it cannot."""
    try:
        return Watcher(Driver(), settle)
    except (OSError, Unavailable, AttributeError) as error:
        events.note("judge the outputs of calls on a device", error, process=os.getpid())
        return None
