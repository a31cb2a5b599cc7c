"""What readers give: frozen records, each with the lines that prove it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from aoti_debug.vocabulary import Place

QUOTE_LIMIT = 300
Triple = tuple[int, int, int]
Property = Literal["dtype", "size", "stride", "device", "rank", "other"]
Relation = Literal["equal", "min", "max"]
Told = Literal["frame", "log", "type"]
Chain = Literal["cause", "context"]
When = Literal["before", "after", "input"]
Tool = Literal["memcheck", "initcheck", "racecheck", "synccheck"]
Access = Literal["read", "write", "atomic", "assert", "free"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an artifact: its 1-based number and its text without the newline."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Span:
    """The lines of an artifact that prove a record; `quote` is at most QUOTE_LIMIT characters."""

    artifact: str
    first: int
    last: int
    quote: str

    def holds(self, other: Span) -> bool:
        """Tell whether `other` begins among these lines."""
        return other.artifact == self.artifact and self.first <= other.first <= self.last


@dataclass(frozen=True, slots=True)
class Record:
    span: Span


class Reader(Protocol):
    """Take the lines of one artifact in order and give records at the end, in bounded memory.

    A line reaches `feed` when it holds one of `triggers`, or when the reader's last answer was
    True: it is inside a block and wants the next line whatever it is.
    """

    @property
    def triggers(self) -> tuple[str, ...]: ...

    def feed(self, line: Line) -> bool: ...

    def finish(self) -> Iterable[Record]: ...


@dataclass(frozen=True, slots=True)
class DeviceAssert(Record):
    """`FILE:LINE: FUNC: block: [..], thread: [..] Assertion `COND` failed.` of a GPU kernel,
    or the same of a CPU kernel (`block` and `thread` None)."""

    file: str
    line: int
    function: str | None
    block: Triple | None
    thread: Triple | None
    condition: str
    lower: str | None  # of `index out of bounds: LOWER <= INDEX < UPPER`
    index: str | None
    upper: str | None
    count: int  # how many such lines there were


@dataclass(frozen=True, slots=True)
class InputCheck(Record):
    """`input_handles[N]: ...`, the model's own input check."""

    input: int
    property: Property
    dim: int | None
    relation: Relation
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class RuntimeMessage(Record):
    """`Error: ...` that the model's entry point writes to stderr before an envelope."""

    message: str


@dataclass(frozen=True, slots=True)
class ErrorLine(Record):
    """A line that speaks of an error, in a log in which nothing else is known."""


@dataclass(frozen=True, slots=True)
class SaidLine(Record):
    """A line of a log that says little: no frame and no code; `text` goes on over the next two."""

    text: str


@dataclass(frozen=True, slots=True)
class CodePlace(Record):
    """A place in torch's or Triton's code: a frame of any kind of traceback, the module whose
    logger printed an error, or the module of an exception's type."""

    file: str
    function: str  # "" when only the file is known
    told: Told


@dataclass(frozen=True, slots=True)
class PythonException(Record):
    """One exception of a traceback; a chain gives several, in printed order."""

    type: str
    message: str  # at most 4,000 characters
    frames: tuple[Place, ...]
    relation: Chain | None  # how it led to the one printed after it
    last: bool  # nothing was printed after it in this chain


@dataclass(frozen=True, slots=True)
class FaultHandlerDump(Record):
    """Python's own stack on a fatal signal (`Fatal Python error: ...`) or on time-out."""

    reason: str
    frames: tuple[Place, ...]  # most recent first, of the current thread
    threads: int = 1
    stacks: tuple[tuple[Place, ...], ...] = ()  # of every thread, as printed; the first ones


@dataclass(frozen=True, slots=True)
class ShimException(Record):
    """`[E... c_shim_*.cpp:N] Exception in aoti_torch: ...`."""

    message: str


@dataclass(frozen=True, slots=True)
class PrintedDifference(Record):
    """A number that a line calls a difference."""

    number: float


@dataclass(frozen=True, slots=True)
class PrintedNaN(Record):
    """A line in which a program prints NaN as a number."""


@dataclass(frozen=True, slots=True)
class PrintedVerdict(Record):
    """A line in which a program says of results that they do not fit."""


@dataclass(frozen=True, slots=True)
class CppThrow(Record):
    """`Exception raised from FUNCTION at FILE:LINE`, and the functions of the stack below it."""

    functions: tuple[str, ...]  # innermost first; "" for a frame without one


@dataclass(frozen=True, slots=True)
class Terminated(Record):
    """`terminate called after throwing ...`, abort and glibc texts of a dying process."""

    type: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Launches(Record):
    """What the debug printer said about kernel order in one artifact."""

    mode: Literal[1, 2, 3]
    kernels: tuple[tuple[str, int], ...]  # (name, launches), in order of first launch
    total: int
    unfinished: str | None  # began and did not end
    unfinished_launch: int | None  # its launch number, counted over all kernels, 1-based
    last_finished: str | None


@dataclass(frozen=True, slots=True)
class TensorStatistics(Record):
    """One block of printer mode 2."""

    when: When
    kernel: str
    argument: str
    launch: int  # counted over all kernels, 1-based; 0 for the model's inputs
    numel: int | None
    dtype: str | None
    device: str | None
    mean: float | None
    min: float | None
    max: float | None
    size: tuple[int, ...] | None
    stride: tuple[int, ...] | None
    values: str | None  # the printed tensor, at most 2,000 characters


@dataclass(frozen=True, slots=True)
class SavedTensor(Record):
    """A file that printer mode 1 says it wrote."""

    path: str
    when: When | None
    kernel: str | None
    argument: str | None


@dataclass(frozen=True, slots=True)
class GpuException(Record):
    """A GPU exception as the driver's core dump progress or cuda-gdb tells it. `line`, with its
    `text`, is the faulting one, or the kernel's first (`start_only`) of an assert, which leaves no
    program counter."""

    source: Literal["driver", "cuda-gdb"]
    exception: str  # CUDBG_EXCEPTION_... of the driver, "Warp Illegal Address" of cuda-gdb
    kernel: str | None = None
    file: str | None = None
    line: int | None = None
    text: str | None = None
    block: Triple | None = None
    thread: Triple | None = None
    instruction: str | None = None
    start_only: bool = False
    count: int = 1


@dataclass(frozen=True, slots=True)
class SanitizerError(Record):
    """One finding of compute-sanitizer; those alike but for thread and address are counted."""

    tool: Tool
    what: str
    access: Access | None
    size: int | None  # of the access, in bytes
    kernel: str | None = None
    offset: int | None = None
    file: str | None = None
    line: int | None = None
    block: Triple | None = None
    thread: Triple | None = None
    address: int | None = None
    distance: int | None = None  # bytes to the nearest allocation
    side: Literal["after", "before", "inside"] | None = None
    allocation_address: int | None = None
    allocation_size: int | None = None
    frames: tuple[str, ...] = ()  # host and device frames, at most 64
    count: int = 1


@dataclass(frozen=True, slots=True)
class SanitizerSummary(Record):
    """How a run under compute-sanitizer ended."""

    errors: int


@dataclass(frozen=True, slots=True)
class NativeFrame:
    index: int
    function: str
    file: str | None
    line: int | None
    library: str | None


@dataclass(frozen=True, slots=True)
class NativeBacktrace(Record):
    """A stack that gdb printed (`bt`), of the thread that stopped."""

    signal: str | None
    frames: tuple[NativeFrame, ...]

    @property
    def in_model(self) -> NativeFrame | None:
        """Return the innermost frame of the compiled model itself."""
        for frame in self.frames:
            wrapper = (frame.file or "").endswith(".wrapper.cpp")
            if wrapper or "AOTInductorModel::" in frame.function:
                return frame
        return None
