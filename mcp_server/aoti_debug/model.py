"""The types that cross a boundary: what tools, the command line and files give and take."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field

from aoti_debug.plain import clean_all

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
    "no_fault",
]
Confidence = Literal["proved", "likely", "possible"]
Status = Literal["done", "running", "cancelled", "failed"]

PHASES: tuple[Phase, ...] = get_args(Phase)
CATEGORIES: tuple[Category, ...] = get_args(Category)


M = TypeVar("M", bound="Model")


class Model(BaseModel):
    """Base of all boundary types: unknown fields are errors, nulls are left out when sent."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

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
        if item in ([], {}):
            continue
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


class InputFinding(Model):
    index: int
    name: str | None = None
    property: str = Field(
        description="size, rank, dtype, stride, device, value, guard, alignment, aliasing, type, "
        "count"
    )
    dim: int | None = None
    expected: str | None = None
    got: str | None = None


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
    quote: str


class Fix(Model):
    what: str
    where: str | None = None
    why: str | None = None
    patch: str | None = Field(None, description="a unified diff, as verify_fix takes it")


class Next(Model):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    why: str


class Cost(Model):
    process_runs: int = 0
    recompiles: int = Field(0, description="compilations beyond the script's own")
    wall_s: float = 0.0
    gpu_s: float | None = None


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
    nan: int = 0
    inf: int = 0
    error: float | None = Field(None, description="largest difference to the reference")
    line: str | None = Field(None, description="file:line of the model")
    mark: str | None = Field(None, description="what is wrong from here on")


class Diagnosis(Model):
    phase: Phase
    category: Category
    confidence: Confidence
    summary: str
    means: str | None = None
    kernel: Kernel | None = None
    ops: list[str] = Field(default_factory=list)
    source: list[SourceLine] = Field(default_factory=list)
    input: InputFinding | None = None
    fault: Fault | None = None
    misleading: list[str] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)
    slice: list[str] = Field(default_factory=list, description="the lines that make the index")
    values: list[ValueRow] = Field(default_factory=list, description="along the model")
    guide: str | None = None
    fixes: list[Fix] = Field(default_factory=list)
    next: list[Next] = Field(default_factory=list)
    signature: str | None = Field(None, description="id of the failure signature that matched")
    cost: Cost | None = None
    run: str | None = None


class Step(Model):
    """One thing that a triage did, skipped or could not do, and why."""

    name: str
    status: Literal["done", "skipped", "impossible", "running"]
    why: str
    finding: str | None = None
    exit: str | None = None
    wall_s: float | None = None
    artifact: str | None = Field(None, description="directory of its files within the run")


class DiagnoseAnswer(Model):
    """What a log says: the best diagnosis in full, the others in short."""

    diagnoses: list[Diagnosis] = Field(default_factory=list)
    lines: int
    notes: list[str] = Field(default_factory=list)


class RunModel(Model):
    """What every kind of run answers, at any moment."""

    run: str
    status: Status
    diagnosis: Diagnosis | None = None


class StageAnswer(RunModel):
    """One stage: what it did, and whether it could act at all."""

    stage: str
    acted: bool | None = None
    why: str | None = Field(None, description="why it could or could not act")
    exit: str | None = None
    wall_s: float | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    observed: list[str] = Field(default_factory=list)
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class TriageAnswer(RunModel):
    """The whole road: the diagnosis, what else is possible, every step and its reason."""

    also: list[Diagnosis] = Field(default_factory=list)
    steps: list[Step] = Field(default_factory=list)
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class MinifyAnswer(RunModel):
    """A small reproduction of a failure, and the proof that it fails alike."""

    signature: str | None = Field(None, description="the failure that is reproduced")
    source: str | None = Field(None, description="the model's line")
    reproduced: bool | None = None
    confirmed: str | None = None
    nodes: int | None = Field(None, description="operators left")
    nodes_before: int | None = None
    repro: str | None = Field(None, description="path of repro.py; repro_inputs.pt lies beside it")
    repro_kernel: str | None = Field(None, description="path of a script of the kernel alone")
    candidates: int = 0
    ended: str | None = Field(None, description="why the search ended")
    also_seen: list[str] = Field(default_factory=list, description="other failures met")
    steps: list[Step] = Field(default_factory=list)
    artifacts: list[str] = Field(default_factory=list)
    next: list[Next] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class Check(Model):
    """One thing that a verification looked at."""

    what: str
    result: Literal["good", "bad", "unknown"]
    finding: str


class VerifyAnswer(RunModel):
    """Whether a fix is one, and what shows it."""

    verdict: Literal["fixed", "moved", "masked", "not fixed", "undecided"] | None = None
    reason: str | None = None
    against: str | None = Field(None, description="the run of the failure")
    checks: list[Check] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list, description="files of a patched copy")
    cost: list[str] = Field(default_factory=list, description="time and memory, before and now")
    steps: list[Step] = Field(default_factory=list)
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class Problem(Model):
    """Something on this machine that would break or change a run."""

    what: str
    severity: Literal["breaks", "may_break", "changes", "limits"]
    category: Category | None = None
    message: str | None = Field(None, description="the words the user would otherwise see")
    confidence: Confidence = "likely"
    fix: str | None = None


class EnvironmentAnswer(Model):
    python: str | None = None
    python_version: str | None = None
    torch: str | None = None
    torch_path: str | None = Field(None, description="directory of the installed torch")
    torch_cuda: str | None = Field(None, description="CUDA version torch was built for")
    triton: str | None = None
    devices: list[str] = Field(default_factory=list)
    driver: str | None = None
    compiler: str | None = None
    tools: dict[str, str] = Field(default_factory=dict, description="tool -> path")
    problems: list[Problem] = Field(default_factory=list)
    variables: dict[str, str] = Field(default_factory=dict)
    not_inherited: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class PackageDim(Model):
    """One dimension of an input: `size` when it is fixed, else its bounds and symbol."""

    size: int | None = None
    low: int | None = None
    high: int | None = None
    symbol: str | None = None
    stride: int | None = None
    stride_symbol: str | None = None


class PackageInput(Model):
    index: int = Field(description="as the runtime counts: tensors only")
    name: str
    dtype: str | None = None
    device: str | None = None
    dims: list[PackageDim] | None = None
    text: str = Field(description="all of it in one line, as a person would write it")


class PackageLaunch(Model):
    number: int
    kernel: str
    kind: str
    ops: list[str] = Field(default_factory=list)
    nodes: list[str] = Field(default_factory=list)
    source: list[SourceLine] = Field(default_factory=list)
    binary: str | None = None


class PackageConstant(Model):
    name: str
    dtype: str | None = None
    shape: list[int] = Field(default_factory=list)
    kind: str | None = None


class PackageModel(Model):
    """One model of a package; long lists are cut, their full lengths are the `*_count`s."""

    name: str
    device: str | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    inputs: list[PackageInput] = Field(default_factory=list)
    inputs_count: int = 0
    outputs_count: int | None = None
    arguments_count: int | None = Field(None, description="arguments of a call, tensors or not")
    symbols: dict[str, str] = Field(default_factory=dict, description="how sizes are derived")
    input_checks: str | None = Field(None, description="when the package checks its inputs")
    launches: list[PackageLaunch] = Field(default_factory=list)
    launches_count: int = 0
    triton_kernels: int = 0
    architectures: list[str] = Field(default_factory=list, description="of its GPU binaries")
    constants: list[PackageConstant] = Field(default_factory=list)
    constants_count: int = 0
    constants_bytes: int = 0
    constants_where: str | None = None
    custom_ops: list[str] = Field(default_factory=list)
    needs: list[str] = Field(default_factory=list, description="shared libraries")
    versions: dict[str, str] = Field(default_factory=dict, description="GLIBC, GLIBCXX, ... needed")
    machine: str | None = None
    compiled_by: str | None = None
    notes: list[str] = Field(default_factory=list)


class PackageAnswer(Model):
    """What a package says without being loaded, and what would go wrong with it here."""

    package: str
    format: str
    bytes: int
    written_by: str | None = Field(None, description="torch releases that write this format")
    models: list[PackageModel] = Field(default_factory=list)
    models_count: int = 0
    problems: list[Problem] = Field(default_factory=list)
    problems_count: int = 0
    loads_here: Literal["yes", "no", "may fail", "unknown"] = "unknown"
    check_inputs: str | None = Field(None, description="file with a check_inputs function")
    notes: list[str] = Field(default_factory=list)


class ExplainAnswer(Model):
    """A kernel: its source, its arguments, its bounds, the model's line; and the cause found."""

    kernel: Kernel
    summary: str
    category: Category | None = None
    confidence: Confidence | None = None
    input: InputFinding | None = None
    source: list[SourceLine] = Field(default_factory=list, description="lines of the model")
    user_kernel: SourceLine | None = Field(None, description="where the user wrote this kernel")
    ops: list[str] = Field(default_factory=list)
    nodes: list[str] = Field(default_factory=list)
    launches: list[int] = Field(default_factory=list)
    launches_count: int = 0
    arguments: dict[str, str] = Field(default_factory=dict)
    sizes: dict[str, str] = Field(default_factory=dict)
    checked: list[str] = Field(default_factory=list)
    unchecked: list[str] = Field(default_factory=list, description="indices from data, no check")
    slice: list[str] = Field(default_factory=list, description="the lines that make the index")
    chain: list[str] = Field(default_factory=list, description="launches that feed the kernel")
    code: str | None = Field(
        None, description="source of the kernel, the line in question marked >"
    )
    values: list[ValueRow] = Field(default_factory=list)
    fixes: list[Fix] = Field(default_factory=list)
    next: list[Next] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    package: str | None = None
    run: str | None = None


class ArtifactPage(Model):
    run: str
    name: str
    offset: int
    limit: int
    total: int = Field(description="lines of a text artifact, bytes of a binary one")
    unit: Literal["lines", "bytes"]
    text: str
    next_offset: int | None = None


class RunSummary(Model):
    run: str
    status: Status
    kind: str
    command: str
    started: str
    wall_s: float | None = None
    exit: str | None = None
    summary: str | None = None


class RunsAnswer(Model):
    runs: list[RunSummary] = Field(default_factory=list)
