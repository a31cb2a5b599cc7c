"""What `values` answers: what each kernel of a package read and wrote in one call."""

from __future__ import annotations

from pydantic import Field

from aoti_debug.model import Model, Next, RunModel, SourceLine, Step


class TensorValues(Model):
    """One argument of a launch: what was read before, or written after it."""

    name: str
    written: bool = False
    shape: list[int] = Field(default_factory=list)
    dtype: str | None = None
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    nan: int = 0
    inf: int = 0
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
    source: list[SourceLine] = Field(default_factory=list)
    then: list[int] = Field(default_factory=list, description="launches that may be it instead")


class ValuesAnswer(RunModel):
    """What the kernels of a finished package read and wrote, and the first that is wrong."""

    summary: str | None = None
    compared: str | None = Field(None, description="agrees, differs or random")
    reference: str | None = None
    first: FirstWrong | None = None
    nan: int | None = Field(None, description="launch that first writes NaN and reads none")
    launches: list[KernelValues] = Field(default_factory=list)
    launches_count: int = 0
    kernel_scripts: list[str] = Field(default_factory=list, description="scripts of a kernel alone")
    steps: list[Step] = Field(default_factory=list)
    artifacts: list[str] = Field(default_factory=list)
    next: list[Next] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @property
    def found_fault(self) -> bool | None:
        if self.first is not None or self.nan is not None or self.compared == "differs":
            return True
        return False if self.status == "done" else None
