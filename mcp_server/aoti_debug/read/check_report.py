"""Read what the probe's checks of a captured call reported: `report.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from aoti_debug.read.checks import NAMES, CheckReports, Name

State = Literal["done", "failed", "impossible", "running", "died"]
_TEXT = 4000
FAR = 0.1  # of the largest value


def _cut(value: object) -> str:
    return str(value)[:_TEXT]


Text = Annotated[str, BeforeValidator(_cut)]


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class Raised(_Report):
    """An exception that a step of the probe met."""

    type: Text = ""
    message: Text = ""

    @property
    def headline(self) -> str:
        return next((line for line in self.message.strip().splitlines() if line), "")


class Node(_Report):
    """A node of the exported program, with the Python stack that it came from."""

    name: Text = ""
    op: Text = ""
    stack: Text = ""


class DeclaredInput(_Report):
    """What the exported program takes; only tensors have a shape."""

    name: Text | None = None
    shape: tuple[int | str, ...] | None = None
    written: bool = False


class Difference(_Report):
    """How an input is not what the exported program declares."""

    index: int | None = None  # of tensors, as the runtime counts
    position: int | None = None  # among all leaves
    name: Text | None = None
    property: Text = "value"
    dim: int | None = None
    expected: Text = ""
    got: Text = ""
    relation: Literal["equal", "min", "max", "derived"] = "equal"
    bound: int | None = None  # for a size
    written: bool = False


class Element(_Report):
    """An element of an input; `computed`: the model computes the index from this input."""

    index: int
    name: Text = ""
    at: tuple[int, ...] = ()
    computed: bool = False


class Size(_Report):
    """A dimension of an input, which was exported as dynamic."""

    index: int
    name: Text = ""
    dim: int
    size: int


class IndexOutside(_Report):
    """An index that an operator would have used outside its bounds: lower <= index < upper."""

    op: Text
    node: Text = ""
    dim: int | None = None
    lower: int = 0
    upper: int
    value: int
    at: tuple[int, ...] = ()
    count: int = 1
    input: Element | None = None
    size: Size | None = None


class Line(NamedTuple):
    file: Text
    line: int


class Functions(_Report):
    """Where an operator's function ends, and its fake kernel's, as far as they are Python."""

    real: Line | None = None
    fake: Line | None = None


class Mismatch(_Report):
    """A result of a custom operator that is not what its fake kernel promises."""

    op: Text
    output: int = 0
    property: Text = ""
    expected: Text = ""
    got: Text = ""
    stack: Text = ""
    smaller: bool = False  # fewer elements than promised
    count: int = 1
    places: Functions = Functions()


class Statistics(_Report):
    nan: int = 0
    inf: int = 0
    min: float | None = None
    max: float | None = None

    @property
    def not_finite(self) -> str:
        counts = ((self.nan, "NaN"), (self.inf, "Inf"))
        return " and ".join(f"{count} {word}" for count, word in counts if count)


class Place(_Report):
    at: tuple[int, ...] = ()
    package: float | str | None = None
    expected: float | str | None = None


class Compared(_Report):
    """One output of the package against the exported program's."""

    index: int = 0
    verdict: Text = "agrees"
    shape: tuple[int, ...] | None = None
    dtype: Text | None = None
    expected: Any = None
    wrong: int | None = None
    elements: int | None = None
    max_abs_apart: float | None = None  # of floating point: package and exported program
    max_rel_apart: float | None = None  # where a value is not tiny beside the largest
    package: Statistics = Statistics()
    eager: Statistics = Statistics()
    first_wrong: Place | None = None


class Step(_Report):
    """What one step reported. `artifact` names the file, `signal` what ended the process in it."""

    state: State = "done"
    why: Text = ""  # it was impossible
    error: Raised | None = None
    artifact: str = ""
    signal: str | None = None
    seconds: float | None = None


class GuardsReport(Step):
    inputs: tuple[DeclaredInput, ...] = ()
    differences: tuple[Difference, ...] = ()
    broken: tuple[Text, ...] = ()
    exception: Raised | None = None
    where: Literal["signature", "guards", "model"] | None = None
    node: Node | None = None
    index: IndexOutside | None = None
    passed: bool | None = None

    @property
    def tensors(self) -> list[DeclaredInput]:
        return [one for one in self.inputs if one.shape is not None]


class RecordedCall(_Report):
    """What a call of which only a description is kept breaks of the exported program."""

    pid: int
    call: int | None = None
    state: Literal["held", "unknown"] = "unknown"
    why: Text = ""
    differences: tuple[Difference, ...] = ()
    broken: tuple[Text, ...] = ()
    node: Node | None = None
    index: IndexOutside | None = None


class CallsReport(Step):
    inputs: tuple[DeclaredInput, ...] = ()
    calls: tuple[RecordedCall, ...] = ()


class FakesReport(Step):
    custom_ops: tuple[Text, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()


class ContractReport(Step):
    pass


class CompareReport(Step):
    verdict: Literal["agrees", "differs", "random"] | None = None
    random: tuple[Text, ...] = ()
    drawn: Text = ""  # the stack of the first operator that draws
    reference: Text = ""  # what both were measured against, where they are apart
    outputs: tuple[Compared, ...] = ()

    @property
    def near(self) -> bool:
        """Tell whether the two are the same but for digits: what rounding can make of a program
        may be as much as all that it computes."""
        return not any(
            one.max_abs_apart is not None
            and one.max_abs_apart > FAR * max(abs(one.eager.min or 0), abs(one.eager.max or 0))
            for one in self.outputs
        )

    @property
    def apart(self) -> str:
        """Say how far the two are apart at most, by dtype; nothing where that is not reported."""
        found: dict[str, tuple[float, float]] = {}
        for one in self.outputs:
            if one.max_abs_apart is not None and one.dtype is not None:
                off, part = found.get(one.dtype, (0.0, 0.0))
                found[one.dtype] = (
                    max(off, one.max_abs_apart),
                    max(part, one.max_rel_apart or 0.0),
                )
        if found and all(off == 0 for off, _ in found.values()):
            return "without any difference"
        said = [
            f"{off:.1g} apart, {part:.1g} of the value ({kind} rounding)"
            for kind, (off, part) in found.items()
            if off
        ]
        return f"at most {', '.join(said)}" if said else ""


class RepeatsReport(Step):
    """Calls with the same inputs and seed: "rounding" is what another order of a sum changes."""

    verdict: Literal["same", "rounding", "differs"] | None = None
    stateful: bool = False  # a model loaded anew gives the same sequence
    calls: int = 0
    output: int | None = None
    at: tuple[int, ...] = ()
    wrong: int | None = None
    elements: int | None = None
    first: float | str | bool | None = None
    then: float | str | bool | None = None

    @property
    def differs(self) -> bool:
        return self.verdict == "differs" and not self.stateful


class PoisonReport(RepeatsReport):
    patterns: tuple[Text, ...] = ()


class Shared(_Report):
    """A tensor that an operator's function uses and does not make."""

    name: Text = ""
    place: Line | None = None


class ThreadsReport(RepeatsReport):
    """Calls of several `threads` at the same time, of which so many `went` wrong; the custom
    operator that goes wrong so by itself."""

    threads: int = 0
    went: int = 0
    raised: Text = ""
    op: Text = ""
    stack: Text = ""
    places: Functions = Functions()
    shared: Shared = Shared()


KINDS: dict[Name, type[Step]] = {
    "calls": CallsReport,
    "guards": GuardsReport,
    "fakes": FakesReport,
    "contract": ContractReport,
    "compare": CompareReport,
    "repeats": RepeatsReport,
    "poison": PoisonReport,
    "threads": ThreadsReport,
}


def read_step(name: Name, document: object, artifact: str) -> Step | None:
    """Read one step's document; None for what is none."""
    if not isinstance(document, dict):
        return None
    try:
        return KINDS[name].model_validate({**document, "artifact": artifact})
    except ValidationError:
        return None


def read_reports(document: object, artifact: str, signal: str | None = None) -> CheckReports:
    """Read a whole report; `signal` ended its process, and so the step that was running."""
    steps = document.get("steps") if isinstance(document, dict) else None
    found: dict[str, Any] = {}
    for name in NAMES:
        step = read_step(name, steps.get(name), artifact) if isinstance(steps, dict) else None
        if step is not None and step.state == "running" and signal is not None:
            step = step.model_copy(update={"state": "died", "signal": signal})
        if step is not None:
            found[name] = step
    return CheckReports(**found)
