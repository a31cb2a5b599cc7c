"""The types that cross a boundary: what tools, the command line and files give and take."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field

from aoti_debug.plain import clean_all
from aoti_debug.vocabulary import Place

Phase = Literal[
    "environment",
    "export",
    "lower",
    "autotune",
    "triton_compile",
    "cpp_compile",
    "package",
    "load",
    "constants",
    "run",
    "output",
    "hang",
    "none",
]
Category = Literal[
    "contract_shape",
    "contract_dtype",
    "contract_stride",
    "contract_device",
    "contract_guard",
    "contract_argument",
    "index_out_of_bounds",
    "illegal_memory_access",
    "misaligned_address",
    "kernel_resources",
    "host_segfault",
    "nan_or_inf",
    "wrong_result",
    "lowering_error",
    "triton_error",
    "cpp_error",
    "autotune_error",
    "toolchain",
    "package_corrupt",
    "package_incompatible",
    "missing_symbol",
    "missing_kernel_binary",
    "custom_op_missing",
    "custom_op_fake_kernel",
    "constants_missing",
    "constants_mismatch",
    "out_of_memory",
    "device_unavailable",
    "concurrency",
    "hang",
    "performance",
    "false_alarm",
    "user_code",
    "unknown",
    "no_fault",
]
Confidence = Literal["proved", "likely", "possible"]
Verdict = Literal["fixed", "moved", "masked", "not fixed", "undecided"]  # on a fix
Status = Literal["done", "running", "cancelled", "failed"]

PHASES: tuple[Phase, ...] = get_args(Phase)
CATEGORIES: tuple[Category, ...] = get_args(Category)
NOT_FAULTS: frozenset[Category] = frozenset({"no_fault", "false_alarm"})
ANSWER = "answer.json"  # of a run, in its directory
M = TypeVar("M", bound="Model")


class Model(BaseModel):
    """Base of all boundary types: unknown fields are errors, nulls are left out when sent."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @property
    def found_fault(self) -> bool | None:
        """Whether the answer says that something is broken; None where it does not know."""
        return False

    def document(self) -> dict[str, Any]:
        """Return the JSON document: clean text, no nulls, no empty lists or objects."""
        return _without_empty(clean_all(self.model_dump(mode="json", exclude_none=True)))

    def cleaned(self: M) -> M:
        """Return the same with clean text, as it is shown to people."""
        return type(self).model_validate(clean_all(self.model_dump()))


def _without_empty(value: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            item = _without_empty(item)
        elif isinstance(item, list):
            item = [_without_empty(i) if isinstance(i, dict) else i for i in item]
        if item not in ([], {}):
            kept[key] = item
    return kept


class Kernel(Model):
    name: str
    kind: Literal["triton", "cpp", "extern", "custom_op", "aten", "cuda"] | None = None
    launch: int | None = Field(None, description="1-based number of the launch within one call")
    file: str | None = None
    line: int | None = None
    text: str | None = Field(None, description="source text of that line")


class SourceLine(Model):
    file: str
    line: int
    text: str | None = None


def source_of(*places: Place | tuple[str, int] | None) -> list[SourceLine]:
    """Return places as lines of an answer, without those that are not known."""
    known = (Place(*one) if isinstance(one, tuple) else one for one in places if one is not None)
    return [SourceLine(file=one.file, line=one.line, text=one.text) for one in known]


class InputFinding(Model):
    index: int
    name: str | None = None
    property: str = Field(
        description="size, rank, dtype, stride, device, value, guard, alignment, aliasing, type, "
        "count, nesting"
    )
    dim: int | None = None
    expected: str | None = None
    got: str | None = None
    lower: int | None = None
    upper: int | None = Field(None, description="of a value: lower <= value < upper")


class Fault(Model):
    access: str | None = Field(None, description="read, write, assert, atomic, ...")
    size: int | None = Field(None, description="bytes")
    address: str | None = None
    distance: int | None = Field(None, description="bytes past the nearest allocation")
    side: Literal["after", "before", "inside"] | None = Field(None, description="of it")
    allocation: int | None = Field(None, description="bytes of the nearest allocation")
    allocated_at: str | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    signal: str | None = Field(None, description="SIGSEGV, SIGABRT, ... of the process")


class Evidence(Model):
    artifact: str
    lines: tuple[int, int] | None = Field(None, description="first and last line, 1-based")
    quote: str = ""


class Fix(Model):
    what: str
    where: str | None = None
    why: str | None = None
    patch: str | None = Field(None, description="a unified diff, as verify_fix takes it")
    verdict: Verdict | None = Field(None, description="on the patch, by a run of it")


class Next(Model):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    why: str


class Cost(Model):
    process_runs: int = 0
    recompiles: int = Field(0, description="compilations beyond the script's own")
    wall_s: float = 0.0
    gpu_s: float | None = None


class Experiment(Model):
    """What was tried on a captured call, and what came out."""

    experiment: str
    result: str


class ValueRow(Model):
    """What one node of the graph computed in the captured call."""

    number: int | None = Field(None, description="place along the model, from 1")
    node: str
    op: str
    shape: list[int] = Field(default_factory=list)
    dtype: str | None = None
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    eager: float | None = Field(None, description="mean in eager, where these are the package's")
    nan: int = 0
    inf: int = 0
    error: float | None = Field(None, description="largest difference to the reference")
    line: str | None = Field(None, description="file:line of the model")
    mark: str | None = Field(None, description="fault that starts here")


class Diagnosis(Model):
    phase: Phase
    category: Category
    confidence: Confidence
    summary: str
    means: str | None = None
    calls: str | None = Field(None, description="which calls have it, numbered from 1")
    kernel: Kernel | None = None
    ops: list[str] = Field(default_factory=list)
    source: list[SourceLine] = Field(default_factory=list)
    input: InputFinding | None = None
    constant: str | None = Field(None, description="the faulty constant of load_constants")
    fault: Fault | None = None
    misleading: list[str] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)
    because: list[Experiment] = Field(
        default_factory=list, description="experiments that show the cause"
    )
    also_true: list[str] = Field(default_factory=list, description="true, and not the cause")
    slice: list[str] = Field(default_factory=list, description="the lines that make the index")
    values: list[ValueRow] = Field(default_factory=list, description="along the model")
    guide: str | None = None
    fixes: list[Fix] = Field(default_factory=list)
    next: list[Next] = Field(default_factory=list)
    signature: str | None = Field(None, description="id of the failure signature that matched")
    cost: Cost | None = None
    run: str | None = None

    @property
    def found_fault(self) -> bool:
        return self.category not in NOT_FAULTS


class Step(Model):
    """One thing that a triage did, skipped or could not do, and why."""

    name: str
    status: Literal["done", "skipped", "impossible", "running"]
    why: str = ""
    finding: str | None = None
    exit: str | None = None
    ended_well: bool | None = None
    wall_s: float | None = None
    artifact: str | None = Field(None, description="directory of its files within the run")


class Ending(BaseModel):
    """How a process ended by itself."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)

    code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    enough: bool = False  # ended by us, after it was watched long enough
    timeout_s: float | None = None

    @property
    def clean(self) -> bool:
        return (self.code == 0 or self.enough) and not self.timed_out


class RunRecord(BaseModel):
    """What run.json says of a run, which the run's own script may have written over."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, defer_build=True)

    status: str = "running"
    kind: str = "unknown"
    command: str = ""
    label: str = ""
    cwd: str | None = None
    started: float | None = None  # unix seconds
    wall_s: float | None = None
    exit: str | None = None  # as `Exit.how` says it
    ended: Ending | None = None  # None: not by itself, or not known
    script_s: float | None = None  # of its first run
    peak_rss: int = 0  # bytes, of its first run
    torch: str | None = None
    summary: str | None = None
    server: dict[str, str | int | None] = Field(default_factory=dict)  # whose run it is


class DiagnoseAnswer(Model):
    """What a log says: the best diagnosis in full, the others in short."""

    diagnoses: list[Diagnosis] = Field(default_factory=list)
    lines: int
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool:
        return bool(self.diagnoses) and self.diagnoses[0].found_fault


class ArtifactPage(Model):
    run: str
    name: str
    offset: int
    limit: int
    total: int = Field(description="lines of a text artifact, bytes of a binary one")
    unit: Literal["lines", "bytes"]
    text: str
    next_offset: int | None = None


class RunModel(Model):
    """What every kind of run answers, at any moment."""

    run: str
    status: Status
    diagnosis: Diagnosis | None = None
