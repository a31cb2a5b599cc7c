"""What the probe reported of a package: CUDA graphs, memory in bytes, new weights, values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from aoti_debug.probe.update_steps import Finding
from aoti_debug.read.typed import Texts
from aoti_debug.vocabulary import ValueSummary


@dataclass(frozen=True, slots=True)
class GraphsReport:
    tried: Literal["no GPU", "refused", "wrong", "captured"] | None = None
    said: str = ""


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
    """What a package asked for in a call; `curve`: held before the first kernel and after each."""

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
class Alike:
    """Weights with the same values, of so many bytes each."""

    names: Texts = ()
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class SecondBuffer:
    alike: tuple[Alike, ...] = ()
    before: Moment = Moment()
    filled: Moment = Moment()
    freed: Moment = Moment()


@dataclass(frozen=True, slots=True)
class MemoryReport:
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


@dataclass(frozen=True, slots=True)
class StepSeen:
    """A step; `agrees` of a call: its outputs are right, None: they were not compared."""

    step: str
    agrees: bool | None = None
    wrong: Texts = ()  # constants that calls use and that are not the new ones
    error: str | None = None
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class RacesSeen:
    """Updates to and fro while threads called; `torn` outputs are those of no weights."""

    threads: int = 0
    updates: int = 0
    calls: int = 0
    torn: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SafeSeen:
    sequence: str
    agrees: bool | None = None


@dataclass(frozen=True, slots=True)
class WeightsReport:
    state: str = ""
    at: int = 0  # the step under way
    device: str = ""
    constants: int = 0
    folded: int = 0
    changed: int = 0
    truth: str = ""  # what outputs were compared with
    steps: tuple[StepSeen, ...] = ()
    findings: tuple[Finding, ...] = ()
    races: RacesSeen | None = None
    safe: SafeSeen | None = None


def numbers(document: object) -> dict[str, float] | None:
    """Read named numbers."""
    if not isinstance(document, dict):
        return None
    found = {str(k)[:80]: v for k, v in list(document.items())[:64]}
    return {k: v for k, v in found.items() if isinstance(v, (int, float))}


@dataclass(frozen=True)
class Seen(ValueSummary):
    """A tensor as it was."""

    shape: tuple[int, ...] = ()
    dtype: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    at: tuple[int, ...] = ()
    package: float | str | None = None  # NaN and Inf are texts
    expected: float | str | None = None


@dataclass(frozen=True, slots=True)
class Like:
    """The value of the reference that a written one agrees with, or is nearest to."""

    node: str = ""
    op: str = ""
    stack: tuple[Any, ...] = ()
    wrong: int | None = None
    first_wrong: Place | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    name: str = ""
    read: bool = False
    before: Seen | None = None
    after: Seen | None = None
    agrees: bool | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What would launch a kernel again: its parameters; `devices` are empty for numbers."""

    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launched:
    number: int = 0
    kernel: str = ""
    kind: str = ""
    source: int | None = None  # number of the launch in the generated source
    grid: tuple[int, ...] = ()
    sizes: Annotated[dict[str, float] | None, numbers] = None
    arguments: tuple[Argument, ...] = ()
    given: Given | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    verdict: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Inside:
    """An integer that a kernel does not write, and that passes 32 bits."""

    node: str = ""
    exact: int = 0
    wrapped: int = 0
    stack: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class First:
    number: int = 0
    argument: str = ""
    then: tuple[int, ...] = ()
    inside: Inside | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A check of a kernel's own that failed, and ended the call."""

    kernel: str = ""
    number: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class ValuesReport:
    launches: tuple[Launched, ...] = ()
    unseen: tuple[str, ...] = ()
    compared: Compared | None = None
    first: First | None = None
    nan: First | None = None
    refused: Refused | None = None
    not_decomposed: str = ""
