"""What tools and commands answer; that of a log alone stands beside the diagnosis, in `model`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from pydantic import Field

from aoti_debug.examine.answers import TimeFindings
from aoti_debug.model import (
    Category,
    Confidence,
    Diagnosis,
    Fix,
    InputFinding,
    Kernel,
    Model,
    Next,
    RunModel,
    SourceLine,
    Status,
    Step,
    ValueRow,
    Verdict,
)


def _of_run(answer: RunModel, ended_well: bool | None) -> bool | None:
    """Say whether a run found something broken; `ended_well` is how its target ended."""
    if answer.diagnosis is None:
        return False if answer.status == "done" else None
    if answer.diagnosis.category == "user_code" and ended_well:
        return False  # it has nothing to do with AOTInductor
    return answer.diagnosis.found_fault


class StageAnswer(RunModel):
    """One stage: what it did, and whether it could act at all."""

    stage: str
    acted: bool | None = None
    why: str | None = Field(None, description="why it could or could not act")
    exit: str | None = None
    ended_well: bool | None = None
    wall_s: float | None = None
    environment: dict[str, str] = Field(default_factory=dict)
    observed: list[str] = Field(default_factory=list)
    time: TimeFindings | None = None
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        return _of_run(self, self.ended_well)


class TriageAnswer(RunModel):
    """The whole road: the diagnosis, what else is possible, every step and its reason."""

    also: list[Diagnosis] = Field(default_factory=list)
    steps: list[Step] = Field(default_factory=list)
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        return _of_run(self, self.steps[0].ended_well if self.steps else None)


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

    @property
    def found_fault(self) -> bool | None:
        return False if self.reproduced else None


class Check(Model):
    """One thing that a verification looked at."""

    what: str
    result: Literal["good", "bad", "unknown"]
    finding: str


class VerifyAnswer(RunModel):
    """Whether a fix works, with the evidence."""

    verdict: Verdict | None = None
    reason: str | None = None
    against: str | None = Field(None, description="the run of the failure")
    checks: list[Check] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list, description="files of a patched copy")
    cost: list[str] = Field(default_factory=list, description="time and memory, before and now")
    steps: list[Step] = Field(default_factory=list)
    artifacts: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        return None if self.verdict in (None, "undecided") else self.verdict != "fixed"


Severity = Literal["breaks", "may_break", "changes", "limits"]  # worst first


class Problem(Model):
    """Something on this machine that would break or change a run."""

    what: str
    severity: Severity
    category: Category | None = None
    message: str | None = Field(None, description="the words the user would otherwise see")
    confidence: Confidence = "likely"
    fix: str | None = None


def problem(
    what: str,
    message: str | None,
    fix: str | None = None,
    *,
    category: Category | None = "toolchain",
    severity: Severity = "breaks",
    confidence: Confidence = "proved",
) -> Problem:
    """Return a problem that is proved to break a toolchain, unless said otherwise."""
    more = {"category": category, "severity": severity, "confidence": confidence}
    return Problem(what=what, message=message, fix=fix, **more)


def worst_first(problems: Iterable[Problem]) -> list[Problem]:
    """Sort problems by severity, and what is proved before what is likely."""
    order = get_args(Severity)
    return sorted(problems, key=lambda p: (order.index(p.severity), p.confidence != "proved"))


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

    @property
    def found_fault(self) -> bool | None:
        return any(problem.severity == "breaks" for problem in self.problems)


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

    @property
    def found_fault(self) -> bool | None:
        return any(problem.severity == "breaks" for problem in self.problems)


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

    @property
    def found_fault(self) -> bool | None:
        return self.category is not None


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


class UploadAnswer(Model):
    """Where the files are that a client has sent."""

    folder: str
    files: int
    bytes: int
