"""One possible diagnosis, with what ranks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aoti_debug.model import Diagnosis, Evidence

if TYPE_CHECKING:
    from aoti_debug.facts.categories import Tier
    from aoti_debug.read.record import Span
    from aoti_debug.signatures import Signature

# A "note" had no consequence, and "printed" is a text of a process that did not fail: both rank
# below being clean.
Role = Literal["cause", "symptom", "envelope", "aftermath", "clean", "note", "printed"]
ROLES: tuple[Role, ...] = (
    "cause", "symptom", "envelope", "aftermath", "clean", "note", "printed",
)  # fmt: skip
EVENT = 140  # characters quoted of one
CONFIDENCES = ("proved", "likely", "possible")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A diagnosis on trial. `signature` is the one that it rests on or has taken over: a
    candidate made of that signature alone is then not listed a second time."""

    diagnosis: Diagnosis
    role: Role
    tier: Tier
    order: int = 0  # among the findings of its source
    signature: Signature | None = None
    lead: bool = False  # a memory checker's word: it counts where something is wrong of it
    over_bound: bool = False  # all that is wrong is a size above the largest exported
    of: str = ""  # whose own failure it is, when that is not the script: "the minifier"

    @property
    def worth(self) -> tuple[int, int, int]:
        """Return what ranks it before its place in the artifacts does; less is better."""
        return (
            ROLES.index(self.role),
            self.tier.place,
            CONFIDENCES.index(self.diagnosis.confidence),
        )

    @property
    def alone(self) -> bool:
        """Tell whether it is made of a signature and nothing else."""
        return self.signature is not None and not self.richer

    @property
    def richer(self) -> bool:
        """Tell whether it knows more than the line that it rests on."""
        known = self.diagnosis
        return bool(known.kernel or known.input or known.fault) or bool(
            known.source and self.signature
        )


def evidence(span: Span) -> Evidence:
    """Point to the lines of a record. An event is a long line, and says first what it is."""
    quote = span.quote[:EVENT] if span.artifact.endswith("events.jsonl") else span.quote
    return Evidence(artifact=span.artifact, lines=(span.first, span.last), quote=quote)
