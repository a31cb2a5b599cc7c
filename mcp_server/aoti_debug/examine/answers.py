"""What the examinations of a package answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aoti_debug.model import Confidence, Model, Next, RunModel, SourceLine, Step


class ExamineAnswer(RunModel):
    """What all of them answer."""

    package: str | None = None
    summary: str | None = None
    guide: str | None = None
    artifacts: list[str] = Field(default_factory=list)
    next: list[Next] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class GraphsAnswer(ExamineAnswer):
    """Whether a package's calls can be held in a CUDA graph."""

    graphs: Literal["fit", "not fit", "depends"] | None = None
    tried: str | None = Field(None, description="what a capture here gave")
    blockers: list[str] = Field(default_factory=list)
    rules: list[str] = Field(default_factory=list, description="what the caller must keep to")
    captures: int | None = Field(None, description="for the sizes of the run's calls")

    @property
    def found_fault(self) -> bool | None:
        return {"fit": False, "not fit": True}.get(self.graphs or "")


class MemoryRow(Model):
    """Bytes at the peak of a call, and whose they are."""

    owner: str
    bytes: int
    detail: str | None = None
    line: str | None = Field(None, description="of the model")


class MemoryAnswer(ExamineAnswer):
    """The owners of the memory that a package takes, at the peak of a call."""

    device: str | None = None
    peak: int | None = Field(None, description="bytes, measured")
    rows: list[MemoryRow] = Field(default_factory=list)
    blocks: list[MemoryRow] = Field(default_factory=list, description="of one call, the largest")
    others: list[MemoryRow] = Field(default_factory=list, description="not in the peak")
    curve: list[int] = Field(default_factory=list, description="bytes of the call, by kernel")
    fits: str | None = Field(None, description="how many runners fit here")
    together: str | None = Field(None, description="calls at the same time: outputs, rates")
    growth: str | None = None
    run_grows: list[str] = Field(default_factory=list, description="what the run did to grow")
    grows: bool | None = None
    lower: list[str] = Field(default_factory=list, description="what would lower the peak")

    @property
    def found_fault(self) -> bool | None:
        return self.grows if self.peak is not None else None


class WeightFinding(Model):
    """A constant that is not as the new weights have it."""

    constant: str
    since: str = Field(description="the step")
    reason: str
    confidence: Confidence
    fix: str | None = None


class WeightStep(Model):
    number: int
    step: str
    outputs: Literal["right", "wrong"] | None = Field(None, description="of a call")
    wrong: list[str] = Field(default_factory=list, description="constants, the first of them")
    said: str | None = None


class WeightsAnswer(ExamineAnswer):
    """Whether a package holds the new weights after the steps of an update, and what is wrong."""

    update: Literal["right", "wrong", "undecided"] | None = None
    truth: str | None = Field(None, description="what outputs were compared with")
    findings: list[WeightFinding] = Field(default_factory=list)
    findings_count: int = 0
    sequence: list[WeightStep] = Field(default_factory=list)
    under_calls: str | None = Field(None, description="updates while other threads call")
    safe: str | None = Field(None, description="code of a sequence that was tried and is right")

    @property
    def found_fault(self) -> bool | None:
        return {"right": False, "wrong": True}.get(self.update or "")


class Statistics(Model):
    """What a tensor held."""

    shape: list[int] = Field(default_factory=list)
    dtype: str | None = None
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    nan: int = 0
    inf: int = 0


class TensorValues(Statistics):
    """One argument of a launch: what was read before, or written after it."""

    name: str
    written: bool = False
    digest: str | None = Field(None, description="of all bytes, in the order of the elements")
    like: str | None = Field(None, description="the value of the reference that it agrees with")


class KernelValues(Model):
    """One launch of the call."""

    number: int
    kernel: str
    kind: str
    line: str | None = Field(None, description="file:line of the model")
    ops: list[str] = Field(default_factory=list)
    grid: list[int] = Field(default_factory=list)
    sizes: dict[str, float] = Field(default_factory=dict, description="numbers that it was given")
    arguments: list[TensorValues] = Field(default_factory=list)
    mark: str | None = None


class FirstWrong(Model):
    """The first kernel whose inputs agree with the reference and whose output does not."""

    number: int
    kernel: str
    argument: str
    node: str | None = Field(None, description="the reference's value that is nearest")
    op: str | None = None
    at: list[int] = Field(default_factory=list)
    got: float | str | None = None
    expected: float | str | None = None
    wrong: int | None = Field(None, description="elements")
    inside: str | None = Field(None, description="integer of the kernel that passes 32 bits")
    source: list[SourceLine] = Field(default_factory=list)
    then: list[int] = Field(default_factory=list, description="launches that may be it instead")


class ValuesAnswer(ExamineAnswer):
    """What the kernels of a finished package read and wrote, and the first that is wrong."""

    compared: str | None = Field(None, description="agrees, differs or random")
    reference: str | None = None
    first: FirstWrong | None = None
    nan: int | None = Field(None, description="launch that first writes NaN and reads none")
    launches: list[KernelValues] = Field(default_factory=list)
    launches_count: int = 0
    kernel_scripts: list[str] = Field(default_factory=list, description="scripts of a kernel alone")
    steps: list[Step] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        if self.first is not None or self.nan is not None or self.compared == "differs":
            return True
        return False if self.status == "done" else None


class TimePart(Model):
    """One row of a table: what took how long."""

    name: str
    seconds: float
    share: float = Field(description="of the whole")
    detail: str | None = None


class TimeTable(Model):
    """Where the seconds of one load or one compile went."""

    seconds: float
    named: float = Field(description="share of the seconds that the rows name")
    rows: list[TimePart] = Field(default_factory=list)
    faster: list[str] = Field(default_factory=list, description="settings that would make it so")


class LaunchRow(Model):
    """One launch of a call."""

    number: int
    kernel: str
    seconds: float
    share: float
    bytes: int | None = None
    flops: int | None = None
    of_copy: float | None = Field(None, description="bytes a second, of what a copy does here")
    of_matmul: float | None = Field(None, description="operations a second, of a matmul's here")
    dtypes: list[str] = Field(default_factory=list)
    source: SourceLine | None = None


class CallTime(Model):
    """A call: launches, what lies between, and how it was measured."""

    seconds: float = Field(description="median of calls that nothing was done to")
    launches_s: float
    gaps_s: float
    python_s: float | None = Field(None, description="in Python, around the package's code")
    accounted: float = Field(description="launches and gaps, of the call's seconds")
    overhead_s: float = Field(description="that seeing all launches adds to a call")
    calls: int
    launches: list[LaunchRow] = Field(default_factory=list, description="the longest first")
    launches_count: int = 0


class SlowReason(Model):
    """Why a call is slow, what that costs, what to change, and what the change brings."""

    what: str
    cost_s: float
    share: float
    change: str
    gain: float | None = Field(None, description="of the call's seconds, expected or tried")
    tried: str | None = Field(None, description="how it was measured")
    source: SourceLine | None = None


LaunchState = Literal["same", "only here", "only there", "gaps"]


class LaunchChange(Model):
    """What became of a launch in the other package."""

    state: LaunchState
    kernel: str
    count: int
    ours_s: float
    theirs_s: float


class TimeAgainst(Model):
    """Calls against another package or the program itself, in pairs."""

    what: str
    ratio: float = Field(description="median of the pairs: theirs by ours")
    spread: tuple[float, float] = Field(description="the middle half of the pairs")
    pairs: int
    ours_s: float
    theirs_s: float
    changes: list[LaunchChange] = Field(default_factory=list, description="largest first")


class TimeFindings(Model):
    """Where the time goes."""

    summary: str
    device: str | None = None
    threads: int | None = None
    processors: int | None = None
    reasons: list[SlowReason] = Field(default_factory=list, description="the most costly first")
    trade: str | None = Field(None, description="what is faster only because it is less precise")
    call: CallTime | None = None
    load: TimeTable | None = None
    compiles: list[TimeTable] = Field(default_factory=list)
    against: TimeAgainst | None = None
    copy_bytes_s: float | None = None
    matmul_flops_s: float | None = None
