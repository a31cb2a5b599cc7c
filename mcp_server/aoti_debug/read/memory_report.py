"""What the probe measured of a package's memory, in bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """Used by all processes; the rest is what torch's allocator holds for this one."""

    total: int = 0
    used: int = 0
    reserved: int = 0
    allocated: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class Moment:
    resident: int = 0
    peak: int = 0
    gpu: Gpu | None = None

    @property
    def used(self) -> int:
        """Return the bytes of the GPU, else those of the process."""
        return self.gpu.used if self.gpu is not None else self.resident

    @property
    def top(self) -> int:
        """Return the most of them."""
        return self.gpu.used if self.gpu is not None else self.peak


@dataclass(frozen=True, slots=True)
class CallMoments:
    """Before a call with its inputs, and after it with its outputs."""

    before: Moment = Moment()
    after: Moment = Moment()


@dataclass(frozen=True, slots=True)
class Block:
    bytes: int
    shape: tuple[int, ...] = ()
    dtype: str = ""
    step: int = 0
    made_by: str = ""
    last_by: str = ""
    freed: int = 0


@dataclass(frozen=True, slots=True)
class Blocks:
    """What the package asked for in a call, at most; `curve`: held before the first
    kernel, and after each."""

    most: int = 0
    at_step: int = 0
    steps: int = 0
    curve: tuple[float, ...] = ()
    at_most: tuple[Block, ...] = ()  # the largest
    forgotten: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Growth:
    held: tuple[tuple[int, ...], ...] = ()  # resident, used on the GPU, allocated, by call


@dataclass(frozen=True, slots=True)
class Together:
    """Calls of some threads at the same time; `mixed` gave other outputs than a call alone."""

    calls: int = 0
    seconds: float = 0.0
    mixed: int = 0

    @property
    def rate(self) -> float:
        return self.calls / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class AtOnce:
    """As many runners as threads (`many`), one runner for them (`one`), one thread (`alone`)."""

    count: int = 0
    many: Together = Together()
    one: Together = Together()
    alone: Together = Together()
    before: Moment = Moment()
    loaded: Moment = Moment()
    after: Moment = Moment()


@dataclass(frozen=True, slots=True)
class SecondBuffer:
    before: Moment = Moment()
    filled: Moment = Moment()
    freed: Moment = Moment()


@dataclass(frozen=True, slots=True)
class MemoryReport:
    state: str = ""
    device: str = ""
    inputs: int = 0
    outputs: int = 0
    weights: int = 0  # as the source declares them
    folded: int = 0
    library: int = 0  # in memory of the mapped file
    before: Moment = Moment()
    loaded: Moment = Moment()
    call: CallMoments = CallMoments()
    blocks: Blocks = Blocks()
    growth: Growth = Growth()
    instances: AtOnce | None = None
    buffer: SecondBuffer | None = None
