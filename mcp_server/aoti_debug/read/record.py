"""What readers give: frozen records, each with the lines that prove it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

QUOTE_LIMIT = 300


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


@dataclass(frozen=True, slots=True)
class Record:
    span: Span


class Reader(Protocol):
    """Take the lines of one artifact in order and give records at the end.

    A line reaches `feed` when it holds one of `triggers`, or when the reader's last answer was
    True (it is inside a block and wants the next line whatever it is). Memory is bounded: a reader
    keeps the first and last of what repeats and counts the rest.
    """

    triggers: tuple[str, ...]

    def feed(self, line: Line) -> bool: ...

    def finish(self) -> Iterable[Record]: ...


@dataclass(frozen=True, slots=True)
class DeviceAssert(Record):
    """`FILE:LINE: FUNC: block: [..], thread: [..] Assertion `COND` failed.` of a GPU kernel,
    or the same of a CPU kernel (`block` and `thread` None)."""

    file: str
    line: int
    function: str | None
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    condition: str
    lower: str | None  # of `index out of bounds: LOWER <= INDEX < UPPER`
    index: str | None
    upper: str | None
    count: int  # how many such lines there were


@dataclass(frozen=True, slots=True)
class InputCheck(Record):
    """`input_handles[N]: ...`, the model's own input check."""

    input: int
    property: Literal["dtype", "size", "stride", "device", "rank", "other"]
    dim: int | None
    relation: Literal["equal", "min", "max"]
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Envelope(Record):
    """`CALL(...) API call failed at FILE, line N`: says only that CALL failed."""

    call: str
    file: str
    line: int
    user_side: bool  # the call stands in the model's own wrapper, not in the loader


@dataclass(frozen=True, slots=True)
class RuntimeMessage(Record):
    """`Error: ...` that the model's entry point writes to stderr before an envelope."""

    message: str


@dataclass(frozen=True, slots=True)
class CudaError(Record):
    """A CUDA, driver, cuBLAS, cuDNN or Triton launch error text."""

    api: Literal["runtime", "driver", "cublas", "cudnn", "triton", "other"]
    text: str
    code: str | None  # cudaErrorIllegalAddress, CUBLAS_STATUS_..., when named


@dataclass(frozen=True, slots=True)
class Frame:
    file: str
    line: int
    function: str
    text: str | None


@dataclass(frozen=True, slots=True)
class PythonException(Record):
    """One exception of a traceback; a chain gives several, in printed order."""

    type: str
    message: str  # at most 4,000 characters
    frames: tuple[Frame, ...]
    relation: Literal["cause", "context"] | None  # how it led to the one printed after it
    last: bool  # nothing was printed after it in this chain


@dataclass(frozen=True, slots=True)
class FaultHandlerDump(Record):
    """Python's own stack on a fatal signal (`Fatal Python error: ...`) or on time-out."""

    reason: str
    frames: tuple[Frame, ...]  # most recent first, of the current thread
    extension_modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CppFrame:
    index: int
    function: str
    library: str


@dataclass(frozen=True, slots=True)
class ShimException(Record):
    """`[E... c_shim_*.cpp:N] Exception in aoti_torch: ...` with its C++ frames."""

    file: str
    line: int
    message: str
    frames: tuple[CppFrame, ...]


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

    when: Literal["before", "after", "input"]
    kernel: str
    argument: str
    launch: int  # counted over all kernels, 1-based; 0 for the model's inputs
    numel: int | None
    dtype: str | None
    device: str | None
    mean: float | None
    minimum: float | None
    maximum: float | None
    size: tuple[int, ...] | None
    stride: tuple[int, ...] | None
    values: str | None  # the printed tensor, at most 2,000 characters


@dataclass(frozen=True, slots=True)
class SavedTensor(Record):
    """A file that printer mode 1 says it wrote."""

    path: str
    when: Literal["before", "after", "input"] | None
    kernel: str | None
    argument: str | None
