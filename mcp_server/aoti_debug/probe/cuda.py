"""Memory and kernels on CUDA devices, by the driver itself: torch has no part in them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from . import shared_buffer

MARKS = 1024  # calls that may be on devices at the same time
POOL_BYTES = 4 << 20
COPIES, OUTPUTS = 24, 20  # of one launch, as the kernels declare them
_COPY, _OUTPUT = 3, 5  # numbers that describe one
_ROWS = _OUTPUT * OUTPUTS  # numbers that a launch is given at most
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
        self.launch = self.library.cuLaunchKernel
        number, pointer = ctypes.c_uint, ctypes.c_void_p
        self.launch.argtypes = [pointer, *[number] * 7, pointer, pointer, pointer]

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
        self.packers = [struct.Struct(f"={n}Q").pack_into for n in range(_ROWS + 1)]
        self.parameters = ctypes.create_string_buffer(8 * (_ROWS + 4))
        at = ctypes.addressof(self.parameters)
        # The rows, how many, and up to three words.
        of_kernel = [ctypes.c_void_p(at + 8 * n) for n in (0, *range(_ROWS, _ROWS + 4))]
        self.to_hold = (ctypes.c_void_p * 4)(*of_kernel[:4])
        self.to_judge = (ctypes.c_void_p * 5)(*of_kernel)

    def copy(self, copies: list[int], most: int, stream: int, mark: int, call: int) -> None:
        """Launch copies, of each (from, to, bytes), and then mark the call."""
        while len(copies) > _COPY * COPIES:
            part, copies = copies[: _COPY * COPIES], copies[_COPY * COPIES :]
            self._launch(self.hold, part, COPIES, most, stream, self.to_hold, 0, call, 0)
        count = len(copies) // _COPY
        self._launch(self.hold, copies, count, most, stream, self.to_hold, mark, call, 0)

    def look(self, outputs: list[int], most: int, stream: int, words: tuple[int, ...]) -> None:
        """Launch a look at outputs, each as the kernel declares it; the words are the scratch
        memory of the call, its place among the marks, and its number."""
        scratch, _, call = words
        while len(outputs) > _ROWS:
            part, outputs = outputs[:_ROWS], outputs[_ROWS:]
            self._launch(self.judge, part, OUTPUTS, most, stream, self.to_judge, scratch, 0, call)
        count = len(outputs) // _OUTPUT
        self._launch(self.judge, outputs, count, most, stream, self.to_judge, *words)

    def _launch(
        self,
        kernel: int,
        rows: list[int],
        count: int,
        most: int,
        stream: int,
        given: Any,
        *words: int,
    ) -> None:
        parameters, launch = self.parameters, self.driver.launch
        self.packers[len(rows)](parameters, 0, *rows)
        self.packers[4](parameters, 8 * _ROWS, count, *words)
        blocks = min(_BLOCKS, most // (_THREADS * _EACH) + 1)
        code = launch(kernel, blocks, 1, 1, _THREADS, 1, 1, 0, stream, given, None)
        if code == _NO_CONTEXT:  # of this thread, which has not used CUDA before
            self.driver("cuCtxSetCurrent", ctypes.c_void_p(self.context))
            code = launch(kernel, blocks, 1, 1, _THREADS, 1, 1, 0, stream, given, None)
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
