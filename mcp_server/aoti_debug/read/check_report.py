"""Read what the probe's checks of a captured call reported: `report.json`."""

from __future__ import annotations

import sys
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from aoti_debug.read.checks import CheckReports
from aoti_debug.vocabulary import CHECKS, Break, Check, OutOfBounds, Reason, ValueSummary

State = Literal["done", "failed", "impossible", "running", "died"]
Forked = Literal["hangs", "returns", "failed"]
_TEXT = 4000
FAR = 0.1  # of the largest value
SHARE = 0.1
NEAR = 1e-3  # likewise; kernels on other threads may add in another order


def _cut(value: Any) -> Any:
    """Return a JSON value with its texts cut to a length that any real one has."""
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_cut, value))
    return value[:_TEXT] if isinstance(value, str) else value


R = TypeVar("R", bound="ProbeReport")


class ProbeReport(BaseModel):
    model_config = ConfigDict(
        extra="ignore", frozen=True, defer_build=True, coerce_numbers_to_str=True
    )

    @classmethod
    def read(cls: type[R], document: object) -> R | None:
        """Read a report, its texts cut; None for what is none."""
        try:
            return cls.model_validate(_cut(document))
        except ValidationError:
            return None


class Raised(ProbeReport):
    """An exception that a step of the probe met."""

    type: str = ""
    message: str = ""

    @property
    def headline(self) -> str:
        return next((line for line in self.message.strip().splitlines() if line), "")


class Node(ProbeReport):
    """A node of the exported program, with the Python stack that it came from."""

    name: str = ""
    op: str = ""
    stack: str = ""


class DeclaredInput(ProbeReport):
    """What the exported program takes; only tensors have a shape."""

    name: str | None = None
    shape: tuple[int | str, ...] | None = None
    written: bool = False


class Line(NamedTuple):
    file: str
    line: int


class Functions(ProbeReport):
    """Where an operator's function ends, and its fake kernel's, as far as they are Python."""

    real: Line | None = None
    fake: Line | None = None


class Mismatch(ProbeReport):
    """A result of a custom operator that is not what its fake kernel promises."""

    op: str
    property: str = ""
    expected: str = ""
    got: str = ""
    stack: str = ""
    smaller: bool = False  # fewer elements than promised
    count: int = 1
    places: Functions = Functions()


class Place(ProbeReport):
    at: tuple[int, ...] = ()
    package: float | str | None = None
    expected: float | str | None = None


class Result(ProbeReport):
    """A result of a call, an output or an input that the model writes to, held against another."""

    index: int | None = None
    input: str | None = None
    wrong: int | None = None
    elements: int | None = None
    max_abs_apart: float | None = None  # of floating point: package and exported program
    first_wrong: Place | None = None

    @property
    def named(self) -> str:
        """Return "output 2", or "input cache after the call"."""
        return _named(self.index, self.input)


def _named(output: int | None, input: str | None) -> str:
    return f"output {output}" if input is None else f"input {input} after the call"


class Compared(Result):
    """One result of the package against the exported program's."""

    verdict: str = "agrees"
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    expected: Any = None
    max_rel_apart: float | None = None  # where a value is not tiny beside the largest
    package: ValueSummary = ValueSummary()
    eager: ValueSummary = ValueSummary()

    @property
    def lost(self) -> bool:
        """Tell whether the program alone gives NaN or Inf, and float64 agrees with the package."""
        return self.verdict == "agrees" and bool(
            self.eager.not_finite and not self.package.not_finite
        )


class Step(ProbeReport):
    """What one step reported. `artifact` names the file, `signal` what ended the process in it."""

    state: State = "done"
    why: str = ""  # it was impossible
    error: Raised | None = None
    artifact: str = ""
    signal: str | None = None
    seconds: float | None = None


class GuardsReport(Step):
    inputs: tuple[DeclaredInput, ...] = ()
    ranges: dict[str, tuple[int | None, int | None]] = {}  # of each symbol, as exported
    differences: tuple[Break, ...] = ()
    broken: tuple[str, ...] = ()
    exception: Raised | None = None
    where: Literal["signature", "guards", "model"] | None = None
    node: Node | None = None
    index: OutOfBounds | None = None
    passed: bool | None = None

    @property
    def tensors(self) -> list[DeclaredInput]:
        return [one for one in self.inputs if one.shape is not None]


class RecordedCall(ProbeReport):
    """What a call of which only a description is kept breaks of the exported program."""

    pid: int
    call: int | None = None
    state: Literal["held", "unknown"] = "unknown"
    why: str = ""
    differences: tuple[Break, ...] = ()
    broken: tuple[str, ...] = ()
    node: Node | None = None
    index: OutOfBounds | None = None


class CallsReport(Step):
    inputs: tuple[DeclaredInput, ...] = ()
    calls: tuple[RecordedCall, ...] = ()


class FakesReport(Step):
    custom_ops: tuple[str, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()


class ContractReport(Step):
    pass


class Overrun(ProbeReport):
    """A kernel's write into the red zones of a buffer: bytes behind its end, or ahead of it."""

    kernel: str
    launch: int = 0
    argument: str = ""
    shape: tuple[int, ...] = ()
    bytes: int = 0
    behind: int = 0
    ahead: int = 0


class RedzonesReport(Step):
    overrun: Overrun | None = None
    buffers: int = 0


class CompareReport(Step):
    verdict: Literal["agrees", "differs", "random"] | None = None
    random: tuple[str, ...] = ()
    drawn: str = ""  # the stack of an operator that draws: of a dropout before others
    layer: str = ""  # the innermost layer that it is of, a type
    reference: str = ""  # what both were measured against, where they are apart
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
                part = max(part, one.max_rel_apart or 0.0)
                found[one.dtype] = max(off, one.max_abs_apart), part
        if found and all(off == 0 for off, _ in found.values()):
            return "without any difference"
        said = [
            f"{off:.1g} apart, {part:.1g} of the value ({kind} rounding)"
            for kind, (off, part) in found.items()
            if off
        ]
        return f"at most {', '.join(said)}" if said else ""


class Outcome(Result):
    """A package's results held against the exported program's, on the same inputs: "refused" is
    the program's word, "failed" the package's. The result named is the one furthest off."""

    verdict: Literal["agrees", "differs", "random", "refused", "failed"]
    why: str = ""
    largest: float | None = None  # absolute value of the program's

    @property
    def wrong_values(self) -> bool:
        return self.verdict == "differs"


class LeftWrong(Result):
    """A buffer that a call of the package leaves with other values than the program's call does."""

    name: str = ""
    call: int = 0


class RepeatsReport(Step):
    """Calls with the same inputs and seed: "rounding" is what another order of a sum changes."""

    verdict: Literal["same", "rounding", "differs"] | None = None
    stateful: bool = False  # a model loaded anew gives the same sequence
    calls: int = 0
    sequence: tuple[Outcome, ...] = ()  # calls in a row against the program's, each with its state
    buffers: tuple[str, ...] = ()  # that the program writes to
    lost: tuple[str, ...] = ()  # of these, what the package does not keep from call to call
    left: LeftWrong | None = None  # of these, the first that a call leaves wrong
    written: str = ""  # stack of what writes to one
    output: int | None = None
    input: str | None = None  # that the model writes to, in the place of an output
    at: tuple[int, ...] = ()
    wrong: int | None = None
    elements: int | None = None
    first: float | str | bool | None = None
    then: float | str | bool | None = None

    @property
    def named(self) -> str:
        return _named(self.output, self.input)

    @property
    def differs(self) -> bool:
        return self.verdict == "differs" and not self.stateful

    @property
    def drifts(self) -> int | None:
        """Return the first call in a row that is wrong, where the one before it is right."""
        wrong = [n for n, one in enumerate(self.sequence, 1) if one.wrong_values]
        return wrong[0] if wrong and wrong[0] > 1 else None


class PoisonReport(RepeatsReport):
    patterns: tuple[str, ...] = ()


class Shared(ProbeReport):
    """A tensor that an operator's function uses and does not make."""

    name: str = ""
    place: Line | None = None


class ThreadsReport(RepeatsReport):
    """Calls of `threads` at once, so many `went` wrong; the custom operator that does so alone."""

    threads: int = 0
    went: int = 0
    raised: str = ""
    op: str = ""
    stack: str = ""
    places: Functions = Functions()
    shared: Shared = Shared()


class Repeated(ProbeReport):
    """What the call gave in the script, held against what it gives alone: a few elements."""

    apart: float = 0.0
    largest: float = 0.0
    unlike: int = 0  # elements that are NaN or infinite on one side alone
    wrong: int = 0  # elements that are off by more than a thousandth, of so many:
    of: int = 0

    @property
    def far(self) -> bool:
        """Tell whether more is off than elements in which rounding is made large."""
        off = self.apart > NEAR * self.largest and self.wrong > SHARE * self.of
        return bool(self.unlike) or off

    @property
    def agrees(self) -> bool:
        return bool(self.of) and not self.unlike and not self.wrong


class Leaves(ProbeReport):
    """The module in which a reference of another class gives what the program does not: after
    which one, of which class in the reference and in the program, and lines of both."""

    after: str = ""
    module: str = ""
    of: str = ""
    own: tuple[Line, ...] = ()
    exported: str = ""
    line: tuple[Line, ...] = ()


class Pair(ProbeReport):
    """What a package loaded anew gives for a call that the script compares, held against what the
    reference gave in the script; likewise with the reference's weights (`given`), and the program
    with its `own` weights and with those of the reference (`program`)."""

    call: int
    anew: Repeated | None = None
    weights: int = 0
    left: tuple[str, ...] = ()  # weights of the reference that the package has no constant for
    given: Repeated | None = None
    own: Repeated | None = None
    program: Repeated | None = None
    leaves: Leaves | None = None

    @property
    def explained(self) -> bool:
        """Tell whether the weights alone keep the package from giving what the reference gave. A
        program that gives it with any weights shows nothing of them."""
        if self.anew is None or not self.anew.far:
            return False
        if self.given is not None and self.given.agrees:
            return True
        moved = self.own is None or not self.own.agrees
        return moved and self.program is not None and self.program.agrees


class TrialReport(ProbeReport):
    """What became of one captured call: as it was given, with what it breaks taken away, and the
    package's results for the call as given held against the program's for the call as meant."""

    pid: int
    call: int | None = None
    given: Outcome
    without: Outcome | None = None
    meant: Outcome | None = None
    recorded: Repeated | None = None


class Draw(ProbeReport):
    """How far the program's results move when one random operator draws other numbers."""

    op: str
    stack: str = ""
    apart: float = 0.0


class Mixing(ProbeReport):
    """The first operator that gives a row another value beside other rows, and how far apart."""

    op: str
    row: int
    apart: float = 0.0
    stack: str = ""


class TrialsReport(Step):
    trials: tuple[TrialReport, ...] = ()
    draws: tuple[Draw, ...] = ()
    mixing: Mixing | None = None
    rounding: tuple[float, ...] = ()  # of the program and the package, from float64
    pair: Pair | None = None
    in_order: bool = False  # the calls were repeated from the first on, each with the state before
    last: int = 0  # call of the script; in order, those after the last trial were not all kept
    forked: Forked | None = None  # in a child of a process that ran it
    forked_alone: Forked | None = None  # with one thread

    @property
    def wrong(self) -> list[TrialReport]:
        """Return the calls that, as they were given, differ from the program."""
        return [one for one in self.trials if one.given.wrong_values]

    def of(self, pid: int, call: int | None) -> TrialReport | None:
        return next((one for one in self.trials if (one.pid, one.call) == (pid, call)), None)


class Wrote(ProbeReport):
    """An argument that a custom operator writes to, or returns (`aliased`), undeclared; `again`: it
    returns the memory of its earlier result."""

    op: str
    argument: str = ""
    aliased: bool = False
    again: bool = False
    constant: str = ""  # of the program, that the argument is
    stack: str = ""
    places: Functions = Functions()


class Again(ProbeReport):
    call: int
    recorded: Repeated | None = None

    @property
    def far(self) -> bool:
        """Tell whether one element or more is another."""
        one = self.recorded
        return one is not None and (bool(one.unlike) or one.apart > FAR * one.largest)


class WritesReport(Step):
    """`copied`: package against program, where such operators are given, and return, copies;
    `calls`: with copies, against what they gave in the script, where a constant is written."""

    wrote: tuple[Wrote, ...] = ()
    copied: Outcome | None = None
    calls: tuple[Again, ...] = ()

    @property
    def left_over(self) -> list[Again]:
        """Return the calls that give something else where nothing is left of earlier calls."""
        far = sorted((one for one in self.calls if one.far), key=lambda one: one.call)
        return far if len(far) < len(self.calls) else []


P = TypeVar("P", OutOfBounds, Reason)


def read_part(kind: type[P], document: object) -> P | None:
    """Read a part of another report of the probe; None for what is none."""
    try:
        return TypeAdapter(kind).validate_python(_cut(document))
    except ValidationError:
        return None


# By the fields of `CheckReports`.
_HINTS = get_type_hints(CheckReports, {"reports": sys.modules[__name__]})
KINDS: dict[str, type[Step]] = {name: get_args(hint)[0] for name, hint in _HINTS.items()}


def read_step(name: Check, document: object, artifact: str) -> Step | None:
    """Read one step's document; None for what is none."""
    if not isinstance(document, dict):
        return None
    return KINDS[name].read({**document, "artifact": artifact})


def read_reports(document: object, artifact: str, signal: str | None = None) -> CheckReports:
    """Read a whole report; `signal` ended its process, and so the step that was running."""
    steps = document.get("steps") if isinstance(document, dict) else None
    if not isinstance(steps, dict):
        return CheckReports()
    found: dict[str, Any] = {}
    for name in CHECKS:
        step = read_step(name, steps.get(name), artifact)
        if step is not None and step.state == "running" and signal is not None:
            step = step.model_copy(update={"state": "died", "signal": signal})
        found[name] = step
    return CheckReports(**found)
