"""What `time` answers: where the seconds of a call, a load and a compile go."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aoti_debug.model import Model, SourceLine


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


class LaunchChange(Model):
    """What became of a launch in the other package."""

    state: Literal["same", "only here", "only there", "gaps"]
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
