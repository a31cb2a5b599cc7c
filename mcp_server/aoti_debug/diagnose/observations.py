"""Everything that is known about one failure when it is diagnosed, and one possible diagnosis."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_args

from aoti_debug.facts.categories import MEANINGS, Tier
from aoti_debug.model import (
    Category,
    Confidence,
    Diagnosis,
    Ending,
    Evidence,
    Experiment,
    Fault,
    Fix,
    InputFinding,
    Kernel,
    Next,
    Phase,
    SourceLine,
)
from aoti_debug.read.checks import NO_REPORTS, CheckReports
from aoti_debug.read.record import Record, Span
from aoti_debug.record.run_seen import NO_RECORD, RunSeen
from aoti_debug.signatures import Match, Signature

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from aoti_debug.diagnose.scene import Scene
    from aoti_debug.examine.answers import TimeFindings
    from aoti_debug.experiments import Trial
    from aoti_debug.explain.package import Origin
    from aoti_debug.explain.values import Found
    from aoti_debug.package.documents import Use
    from aoti_debug.package.record import CompiledModel, Package
    from aoti_debug.read import event_records as read
    from aoti_debug.read.check_report import CompareReport
    from aoti_debug.read.examine_reports import WeightsReport
    from aoti_debug.read.torch_trace import Asked
    from aoti_debug.read.trial_report import WithoutTrial

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class OlderPackage:
    """What stood in the place of a package before the script compiled it anew, as an earlier run
    called it, or what it calls in place of a newer one that it made; its results are held against
    the program that the new one was made of."""

    run: str
    path: str
    artifact: str
    compared: CompareReport
    gone: tuple[str, ...] = ()  # kernels that only the older one has
    new: tuple[str, ...] = ()
    loaded: tuple[SourceLine, ...] = ()  # the script's line that loads it
    unused: str = ""  # the package that this run compiled later, and loads nowhere


@dataclass(frozen=True, slots=True)
class PutBack:
    """A line that returns a result indexed by `name`, the argsort that sorted the inputs; or one
    that pairs results with `name`, though they are those of `instead`, which is sorted."""

    name: str
    line: SourceLine
    instead: str = ""


@dataclass(frozen=True, slots=True)
class UpdatePlayed:
    """An update of weights of the run, played: what came of it, and the phase of each step that was
    none of a call."""

    report: WeightsReport
    phases: tuple[read.Phase | None, ...]
    artifact: str
    signal: str | None = None  # that ended it

    @property
    def died(self) -> bool:
        return self.signal is not None and self.report.state == "play"

    @property
    def wrong(self) -> bool:
        """Tell whether a constant that calls use is not as it was given, and an output differs."""
        last = self.report.steps[-1] if self.report.steps else None
        right = last is None or last.agrees or not any(one.proved for one in self.report.findings)
        return self.died or not right


@dataclass(frozen=True, slots=True)
class Observations:
    """Records of all artifacts in the order of artifacts, then of lines; `ending` and `run`
    are None when only a log is known."""

    records: tuple[Record, ...] = ()
    run: RunSeen = NO_RECORD
    ending: Ending | None = None
    torch: str | None = None
    steps: dict[str, Observations] = field(default_factory=dict)  # replays of the failing call
    package: Package | None = None  # of the failing call, read without loading it
    # Where the indices of failed checks come from, by file, line and condition of the check.
    origins: dict[tuple[str, int, str], Origin] = field(default_factory=dict)
    uses: dict[str, Use] = field(default_factory=dict)  # of weights that were given with NaN
    checks: CheckReports = NO_REPORTS  # what the probe found of the call, step by step
    trials: tuple[Trial, ...] = ()  # captured calls that were repeated against the program
    asked: tuple[Asked, ...] = ()  # guards that the compile added, where a size breaks a bound
    impossible: dict[str, str] = field(default_factory=dict)  # replays, and why they cannot be made
    to_compare: Next | None = None  # what would keep the exported program, where that is known
    older: OlderPackage | None = None
    put_back: PutBack | None = None
    stored: SourceLine | None = None  # where the results of a call are kept
    updates: tuple[UpdatePlayed, ...] = ()  # of weights, as the script made them
    handed: Observations | None = None  # of the script, each read given what was handed over
    without_trial: WithoutTrial | None = None  # a compile without Inductor's trials
    scene: Scene | None = None  # of a log: its first and last lines
    walked: Found | None = None  # the cause that a run of the program, node by node, showed
    meant: bool = False  # what is not finite there was written in the model
    expects_nan: bool = False  # in the script, NaN stands for a missing value
    timed: TimeFindings | None = None  # the call, where the script complains of time
    _of: dict[type[Record], list[Any]] = field(default_factory=dict, init=False, compare=False)

    @property
    def failed(self) -> bool:
        return self.ending is not None and not self.ending.clean

    @property
    def agrees(self) -> CompareReport | None:
        """Return the comparison, if the package gives what the exported program gives."""
        compared = self.checks.compare
        return compared if compared is not None and compared.verdict == "agrees" else None

    @property
    def model(self) -> CompiledModel | None:
        """Return the model of the package that the call in question is of."""
        call = self.run.call
        return self.package.model(call.model if call else None) if self.package else None

    @property
    def artifacts(self) -> dict[str, int]:
        """Return the place of each artifact in the order of trust."""
        names = dict.fromkeys(record.span.artifact for record in self.records)
        return {name: place for place, name in enumerate(names)}

    @property
    def caller(self) -> list[SourceLine]:
        """Return the user's line that made the call in question."""
        return self.run.source(self.run.call)

    def of(self, kind: type[R]) -> list[R]:
        """Return the records of a kind; a hostile log has very many, which rules ask for often."""
        if kind not in self._of:
            self._of[kind] = [record for record in self.records if isinstance(record, kind)]
        return self._of[kind]

    def first(self, kind: type[R]) -> R | None:
        return next(iter(self.of(kind)), None)

    def near(self, kind: type[R], span: Span, lines: range) -> list[R]:
        """Return the records of a kind that begin so many lines below a span (negative: above)."""
        found = (one for one in self.of(kind) if one.span.artifact == span.artifact)
        return [one for one in found if one.span.first - span.first in lines]

    def signature_at(self, span: Span, roles: Collection[str] = ("cause",)) -> Signature | None:
        """Return the best signature of these roles that matched within `span`."""
        known = (match.signature for match in self.of(Match) if span.holds(match.span))
        found = (one for one in known if one.role in roles)
        return min(found, key=lambda one: one.tier.place, default=None)


# A "note" had no consequence, and "printed" is a text of a process that did not fail: both rank
# below being clean.
Role = Literal["cause", "symptom", "envelope", "aftermath", "clean", "note", "printed"]
ROLES: tuple[Role, ...] = get_args(Role)
HEADLINE = 120  # characters
EVENT = 140  # characters quoted of one
# Signals that the machine sends; an abort is some library's own decision.
FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")
CRASHES = (*FAULTS, "SIGABRT")
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible diagnosis. `signature` is the one that it rests on or has taken over: a
    candidate made of that signature alone is then not listed a second time."""

    diagnosis: Diagnosis
    role: Role
    tier: Tier
    order: int = 0  # among the findings of its source
    signature: Signature | None = None
    setting: str = ""  # the environment variable whose value is to blame
    advisory: bool = False  # a memory checker's word: it counts where something is wrong of it
    over_bound: bool = False  # all that is wrong is a size above the largest exported
    of: str = ""  # whose own failure it is, when that is not the script: "the minifier"

    def but(self, **update: object) -> Candidate:
        """Return the candidate with other fields of its diagnosis."""
        return replace(self, diagnosis=self.diagnosis.model_copy(update=update))

    @property
    def worth(self) -> tuple[int, int, int]:
        """Return what ranks it before its place in the artifacts does; less is better."""
        confidence = CONFIDENCES.index(self.diagnosis.confidence)
        return ROLES.index(self.role), self.tier.place, confidence

    @property
    def line(self) -> int:
        """Return the first line of its evidence; 0 if it has none."""
        first = self.diagnosis.evidence[:1]
        return first[0].lines[0] if first and first[0].lines else 0

    @property
    def quote(self) -> str:
        return self.diagnosis.evidence[0].quote if self.diagnosis.evidence else ""

    @property
    def alone(self) -> bool:
        """Tell whether it is made of a signature and nothing else."""
        return self.signature is not None and not self.richer

    @property
    def richer(self) -> bool:
        """Tell whether it knows more than the line that it rests on."""
        known, placed = self.diagnosis, self.diagnosis.source and self.signature
        return bool(known.kernel or known.input or known.fault or placed)


def headline(words: str, quote: str = "", after: str = "") -> str:
    """Return a summary whose quote is cut where it is too long; the evidence has it whole."""
    text, room = words + quote, HEADLINE - len(after)
    return (text if len(text) <= room else text[: room - 1].rstrip() + "…") + after


def evidence(of: Span | Evidence | str, said: str = "") -> Evidence:
    """Point to the lines of a record, or to the report that shows what is said. An event is a long
    line, and says first what it is."""
    if isinstance(of, str):
        return Evidence(artifact=of, quote=said)
    if isinstance(of, Evidence):
        return of
    quote = of.quote[:EVENT] if of.artifact.endswith("events.jsonl") else of.quote
    return Evidence(artifact=of.artifact, lines=(of.first, of.last), quote=quote)


def inside(one: Evidence, other: Evidence) -> bool:
    """Tell whether the first line of `one` is among the lines of `other`."""
    return (
        one.artifact == other.artifact
        and one.lines is not None
        and other.lines is not None
        and other.lines[0] <= one.lines[0] <= other.lines[1]
    )


class Known(TypedDict, total=False):
    """What a finding may know besides its words and proofs; the names are those of a diagnosis."""

    means: str | None
    kernel: Kernel | None
    ops: list[str]
    source: list[SourceLine]
    input: InputFinding | None
    constant: str | None
    fault: Fault | None
    because: list[Experiment]
    fixes: list[Fix]
    next: list[Next]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is the same in all findings of one cause."""

    category: Category
    phase: Phase
    tier: Tier
    guide: str | None = None
    role: Role = "cause"
    confidence: Confidence = "likely"

    def found(
        self,
        summary: str,
        *proofs: Evidence | Span | str,
        confidence: Confidence | None = None,
        signature: Signature | None = None,
        order: int = 0,
        setting: str = "",
        advisory: bool = False,
        over_bound: bool = False,
        **known: Unpack[Known],
    ) -> Candidate:
        """Return a candidate with its proofs (a text: the report that shows it); `signature` is
        the one that it takes over."""
        diagnosis = Diagnosis(
            category=self.category,
            phase=self.phase,
            confidence=confidence or self.confidence,
            summary=summary,
            evidence=[evidence(one, summary) for one in proofs],
            guide=self.guide,
            signature=signature.id if signature else None,
            **known,
        )
        ranked = (self.role, self.tier, order, signature, setting, advisory, over_bound)
        return Candidate(diagnosis, *ranked)


def hint(category: Category, phase: Phase, tier: Tier, guide: str | None = None) -> Kind:
    """Return the kind of a finding that is possible at most: by a form, a place, a word."""
    return Kind(category, phase, tier, guide or MEANINGS[category].guide, "symptom", "possible")
