"""Memory and kernels on CUDA devices, by the driver itself: torch has no part in them."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from . import shared_buffer

MARKS = 1024  # calls that may be on devices at the same time
POOL_BYTES = 4 << 20
COPIES, OUTPUTS = 24, 20  # of one launch, as the kernels declare them
ROWS = 5 * OUTPUTS  # numbers that a launch is given at most; their count and words follow
_NO_CONTEXT = 201  # an error of the driver
_THREADS, _EACH = 256, 16  # of a block; elements of a thread
_BLOCKS = 264
HOST_BYTES = DEVICE_BYTES = 512 << 20  # of all pools


class Unavailable(Exception):
    """The driver refused something; the message says what."""


class Block:
    """Inputs of a call in a pool, laid out as in the shared input buffer."""

    __slots__ = ("begin", "end", "pool")

    def __init__(self, pool: Pool, begin: int, end: int) -> None:
        self.pool, self.begin, self.end = pool, begin, end

    def read(self) -> bytes:
        address, size = self.pool.address + self.begin, self.end - self.begin
        return self.pool.read(address, size)


class Pool:
    """Memory that is given out in turns: a ring. `read` copies a part of it to the host."""

    def __init__(self, address: int, size: int, read: Callable[[int, int], bytes]) -> None:
        self.address, self.size, self.read = address, size, read
        self.given: deque[Block] = deque()

    def take(self, size: int) -> Block | None:
        """Return a free part; None where all is given out."""
        given, begin = self.given, 0
        if given:
            oldest, begin = given[0].begin, given[-1].end
            wrapped = given[-1].begin < oldest
            if begin + size > (oldest if wrapped else self.size):
                if wrapped or size > oldest:
                    return None
                begin = 0
        if begin + size > self.size:
            return None
        block = Block(self, begin, begin + size)
        given.append(block)
        return block


class Driver:
    """The CUDA driver's functions; each raises Unavailable where the driver refuses."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        # With the types of its arguments declared, each call takes three times as long.
        self.launch = self.library.cuLaunchKernel

    def __call__(self, name: str, *args: Any) -> None:
        code = getattr(self.library, name)(*args)
        if code:
            raise Unavailable(f"{name}: CUDA error {code}")

    def address(self, name: str, *args: Any) -> int:
        """Return what a function writes into its first argument."""
        found = ctypes.c_void_p()
        self(name, ctypes.byref(found), *args)
        return found.value or 0

    def pinned(self, size: int) -> int:
        with self.relaxed():
            return self.address("cuMemHostAlloc", ctypes.c_size_t(size), 1)  # for every context

    def registered(self, size: int) -> tuple[Any, str]:
        """Return memory of the host that is a file's, and the file; raise where none can be."""
        why = "capture is off"
        for path in shared_buffer.device_files():
            try:
                memory = shared_buffer.mapped(path, size)
            except OSError as error:
                why = f"{path}: {error.strerror}"
                continue
            at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            try:
                with self.relaxed():
                    self("cuMemHostRegister_v2", ctypes.c_void_p(at), ctypes.c_size_t(size), 1)
                return memory, path
            except Unavailable as error:
                why = f"{path}: {error}"
                os.unlink(path)
        raise Unavailable(why)

    @contextlib.contextmanager
    def relaxed(self) -> Iterator[None]:
        """Allocate beside a CUDA graph that another thread captures."""
        mode = ctypes.c_int(2)
        self("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            yield
        finally:
            self("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))


class Part:
    """A launch whose parameters stay but for addresses: rows of numbers, how many, further words.
    `rows` has the index of each row's tensor, and the second of its numbers; `on` what launches it
    on each stream."""

    __slots__ = ("blocks", "given", "kernel", "numbers", "on", "rows")

    def __init__(
        self, kernel: int, rows: Sequence[tuple[int, tuple[int, ...]]], blocks: int, words: int
    ) -> None:
        parameters = (ctypes.c_uint64 * (ROWS + 4))()
        at = ctypes.addressof(parameters)
        places = (0, *range(ROWS, ROWS + 1 + words))
        self.kernel, self.blocks = ctypes.c_void_p(kernel), blocks
        self.given = (ctypes.c_void_p * len(places))(*(at + 8 * n for n in places))
        self.numbers = memoryview(parameters).cast("B").cast("Q")
        flat = [number for _, numbers in rows for number in numbers]
        for place, number in enumerate(flat):
            self.numbers[place] = number
        self.numbers[ROWS] = len(rows)
        self.rows = [(index, numbers[1]) for index, numbers in rows]
        self.on: dict[int, Callable[[], int]] = {}


class Device:
    """The kernels in the context of one device, and its memory."""

    def __init__(self, driver: Driver, index: int) -> None:
        self.driver = driver
        self.context = driver.address("cuDevicePrimaryCtxRetain", index)
        driver("cuCtxSetCurrent", ctypes.c_void_p(self.context))
        path = os.path.join(os.path.dirname(__file__), "device_kernels.ptx")
        with open(path, "rb") as file:
            module = ctypes.c_void_p(driver.address("cuModuleLoadData", file.read() + b"\0"))
        self.hold, self.judge = (
            driver.address("cuModuleGetFunction", module, name) for name in (b"hold", b"judge")
        )
        with driver.relaxed():
            self.scratch = driver.address("cuMemAlloc_v2", ctypes.c_size_t(16 * MARKS))
            self.stream = ctypes.c_void_p(driver.address("cuStreamCreate", 1))  # waits for no other
        scratch = ctypes.c_uint64(self.scratch)
        driver("cuMemsetD8Async", scratch, 0, ctypes.c_size_t(16 * MARKS), self.stream)
        driver("cuStreamSynchronize", self.stream)
        self.pools: list[Pool] = []
        self.empty = self.copies(())  # marks a call

    def copies(self, places: Sequence[tuple[int, int, int]]) -> list[Part]:
        """Return the launches that copy tensors: of each its index, where to, and its bytes."""
        rows = [(index, (0, at, size)) for index, at, size in places]
        most = max((size // 16 for *_, size in places), default=0)
        return self._parts(self.hold, rows, COPIES, most, 2)

    def looks(self, rows: Sequence[tuple[int, tuple[int, ...]]]) -> list[Part]:
        """Return the launches that look at tensors, each as the kernel declares it."""
        most = max((numbers[1] for _, numbers in rows), default=0)
        return self._parts(self.judge, rows, OUTPUTS, most, 3)

    def _parts(
        self,
        kernel: int,
        rows: Sequence[tuple[int, tuple[int, ...]]],
        limit: int,
        most: int,
        words: int,
    ) -> list[Part]:
        blocks = min(_BLOCKS, most // (_THREADS * _EACH) + 1)
        starts = range(0, len(rows) or 1, limit)
        return [Part(kernel, rows[at : at + limit], blocks, words) for at in starts]

    def start(self, part: Part, stream: int) -> None:
        """Launch a part on a stream."""
        launch = part.on.get(stream)
        if launch is None:
            where = part.blocks, 1, 1, _THREADS, 1, 1, 0, ctypes.c_void_p(stream)
            launch = partial(self.driver.launch, part.kernel, *where, part.given, None)
            part.on[stream] = launch
        code = launch()
        if code == _NO_CONTEXT:  # of this thread, which has not used CUDA before
            self.driver("cuCtxSetCurrent", ctypes.c_void_p(self.context))
            code = launch()
        if code:
            raise Unavailable(f"cuLaunchKernel: CUDA error {code}")

    def pool(self, size: int) -> Pool | None:
        """Return a new pool that holds so many bytes, on the device."""
        size = max(2 * size, POOL_BYTES)
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.driver("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        if size > free.value // 8 or size + sum(p.size for p in self.pools) > DEVICE_BYTES:
            return None
        with self.driver.relaxed():
            address = self.driver.address("cuMemAlloc_v2", ctypes.c_size_t(size))
        return Pool(address, size, self.read)

    def read(self, address: int, size: int) -> bytes:
        """Copy from the device, beside what else goes on there."""
        driver, to = self.driver, ctypes.create_string_buffer(size)
        driver("cuCtxSetCurrent", ctypes.c_void_p(self.context))
        given = ctypes.c_uint64(address), ctypes.c_size_t(size)
        driver("cuMemcpyDtoHAsync_v2", to, *given, self.stream)
        driver("cuStreamSynchronize", self.stream)
        return to.raw
