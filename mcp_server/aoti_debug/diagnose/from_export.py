"""Candidates from dynamic dimensions that a model cannot keep; the place where lowering failed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import is_users, users_frame
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, evidence
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Diagnosis, Fix, Next, SourceLine, source_of
from aoti_debug.read.input_check import ConstraintsViolated, in_words, named
from aoti_debug.read.record import PythonException
from aoti_debug.signatures import Match
from aoti_debug.vocabulary import Place, places_in

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Guard, Phase

GUIDE = "guides/dynamic-shapes.md#constraint-violations"
CONSTANT_GUIDE = "guides/dynamic-shapes.md#specialised-to-a-constant"
COMPILING = ("lower", "autotune", "triton_compile", "cpp_compile", "package")
DIMS, LINES, FIXES = 3, 3, 5
TRIAGE = Next(tool="triage", why="it names the model's line that made each guard")
SUGGESTED = "torch's own suggestion"
WORDS = re.compile(r"('?\b[A-Za-z_]\w{0,100}\b'?)")
RAISED_BY = "raised this error:"


@dataclass(frozen=True, slots=True)
class Broken:
    """One dimension, and what the model needs of it that its Dim does not promise."""

    dim: str
    where: str  # in words: dimension 1 of x
    guard: str
    known: Guard | None  # as the probe saw it

    @property
    def told(self) -> str:
        place = f" ({self.where})" if self.where and self.where != self.dim else ""
        what = f"{self.dim}{place} cannot be dynamic as declared: the model needs {self.guard}"
        if self.known is None:
            return what
        low, high = self.known.ranges[0] if self.known.ranges else (0, None)
        promised = f"{low} to {high}" if high is not None else f"{low} or more"
        if not self.known.breaks:
            return f"{what}, which torch cannot prove; no size of {promised} breaks it"
        sizes = ", ".join("×".join(map(str, sizes)) for sizes in self.known.breaks[:5])
        return f"{what}, of {promised} broken by {sizes}…"


def candidates(observations: Observations) -> Iterator[Candidate]:
    blocks = observations.of(ConstraintsViolated)
    if not blocks:
        return
    block = blocks[-1]
    failed = failed_phase(observations, "export")
    guards = failed.error.guards if failed is not None and failed.error is not None else ()
    broken = list(broken_dims(block, guards))
    constants = {r.dim for r in block.reasons if r.constant is not None}
    source = lines_of([b.known.places for b in broken if b.known is not None])
    matches = [m for m in observations.of(Match) if m.signature.id == "export_constraints_violated"]
    yield Kind(
        "lowering_error", "export", Tier.ASSERTION, CONSTANT_GUIDE if constants else GUIDE
    ).found(
        "; ".join(b.told for b in broken[:DIMS]),
        blocks[0].span,
        *([failed.span] if failed is not None and guards else []),
        confidence="proved" if any(b.known and b.known.breaks for b in broken) else "likely",
        signature=matches[0].signature if matches else None,
        source=source or exporting_line(observations, block),
        fixes=list(fixes(block, broken, constants))[:FIXES],
        next=[] if observations.run.probed else [TRIAGE],
    )


def exporting_line(observations: Observations, block: ConstraintsViolated) -> list[SourceLine]:
    """Return the user's line that called torch.export, of the traceback that ends in the block."""
    for exception in observations.of(PythonException):
        if exception.span.holds(block.span):
            return source_of(users_frame(exception.frames))
    return []


def broken_dims(block: ConstraintsViolated, guards: Sequence[Guard]) -> Iterator[Broken]:
    """Yield each dimension once, with the guard that most of its sizes break."""
    told: set[str] = set()
    for reason in block.reasons:
        if reason.dim in told:
            continue
        told.add(reason.dim)
        text = named(reason.guard, block.names)
        about = [g for g in guards if reason.dim in g.dims and (g.breaks or same(g.text, text))]
        best = min(about, key=lambda g: len(g.dims), default=None)
        where = in_words(reason.size or "")
        yield Broken(reason.dim, where, best.text if best else text, best)


def same(one: str, other: str) -> bool:
    return one.strip("() ").replace(" ", "") == other.strip("() ").replace(" ", "")


def fixes(
    block: ConstraintsViolated, broken: Iterable[Broken], constants: Collection[str]
) -> Iterator[Fix]:
    """Yield Dims to paste: torch's suggestions, with the Dim that one is made of put into it."""
    parts = {name: as_dim(value) for name, value in block.fixes if name.startswith("_")}
    for name, value in block.fixes:
        if name in parts:
            continue
        if name in constants:
            yield Fix(
                what=f"leave {name} out of dynamic_shapes: it is always {value}; or change the "
                "line that uses the size as a number",
                why=SUGGESTED,
            )
            continue
        ready = as_dim(value)
        for part, dim in parts.items():
            ready = "".join(dim if word == part else word for word in WORDS.split(ready))
        yield Fix(what=f"{name} = {ready}", why=SUGGESTED)
    for one in broken:
        if one.known is not None and not one.known.breaks:
            yield Fix(
                what=f"{one.dim} = torch.export.Dim.AUTO",
                why="then the guard is kept and checked, not proved",
            )


def as_dim(value: str) -> str:
    return re.sub(r"(?<![\w.])Dim\(", "torch.export.Dim(", value)


def failed_phase(observations: Observations, phase: str) -> Phase | None:
    """Return the last call of a phase that ended in an exception."""
    found = [p for p in observations.run.of(phase) if p.ok is False]
    return max(found, key=lambda p: p.span.last, default=None)


def lines_of(stacks: Iterable[Sequence[Place]]) -> list[SourceLine]:
    """Return of each stack the innermost line, and the innermost of the user's own files."""
    found: dict[tuple[str, int], SourceLine] = {}
    for places in stacks:
        written = [p for p in places if not p.file.startswith("<")]
        own = [p for p in written if is_users(p.file)]
        model = [p for p in written if p.owner != "torch"]
        for place in [*(own or model)[-1:], *model[-1:]]:
            found.setdefault((place.file, place.line), *source_of(place))
    return list(found.values())[:LINES]


def with_node(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Add what was worked on when lowering failed: operator, operands and the model's line."""
    exports = diagnosis.phase == "export"
    if not exports and diagnosis.phase not in COMPILING:
        return diagnosis
    failed = failed_phase(observations, "export" if exports else "lower")
    node = failed.error.node if failed is not None and failed.error is not None else None
    if failed is None or node is None:
        return with_named_line(diagnosis, failed)
    output = f" -> {node.output}" if node.output else ""
    at = f"{node.name} = {node.op}({', '.join(node.inputs)}){output}"
    places = [*lines_of([node.places]), *diagnosis.source]
    lines = list({(line.file, line.line): line for line in reversed(places)}.values())[::-1]
    return diagnosis.model_copy(
        update={
            "summary": f"{diagnosis.summary}. Inductor was {node.during}: {at}",
            "ops": diagnosis.ops or [node.op, *node.fused],
            "source": lines[:LINES],
            "evidence": [*diagnosis.evidence, evidence(failed.span)],
        }
    )


def with_named_line(diagnosis: Diagnosis, failed: Phase | None) -> Diagnosis:
    """Add the model's line that torch.export names in the exception's own text."""
    message = failed.error.message if failed is not None and failed.error is not None else ""
    if not (places := places_in(message.partition(RAISED_BY)[2])):
        return diagnosis
    line = SourceLine(file=places[0].file, line=places[0].line)
    return diagnosis.model_copy(update={"source": [line, *diagnosis.source][:LINES]})
