"""Decide by experiments which of the candidates are the cause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose import from_cost
from aoti_debug.diagnose.from_operator import harmless, said_of
from aoti_debug.hypotheses import contract, undeclared_write
from aoti_debug.hypotheses.contract import Weighed

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Candidate, Observations
    from aoti_debug.model import Experiment, InputFinding

SHOWN = 3


def _of_operators(observations: Observations) -> list[str]:
    right = "not the cause: the results are right"
    return [f"{said_of(one)}; {right}" for one in harmless(observations)]


# Each returns sentences that are true and not the cause.
NOTES = undeclared_write.also_true, from_cost.also_true, _of_operators


@dataclass(frozen=True, slots=True)
class Decided:
    """The candidates; what is true without being the cause, and the experiments that show it."""

    candidates: tuple[Candidate, ...]
    also_true: tuple[str, ...] = ()
    against: tuple[Experiment, ...] = ()


def decide(candidates: Iterable[Candidate], observations: Observations) -> Decided:
    """Keep the causes that experiments leave; a broken contract that they clear is a note."""
    kept: list[Candidate] = []
    cleared: list[tuple[InputFinding, Weighed]] = []
    for candidate in candidates:
        finding = candidate.diagnosis.input
        if finding is None or not candidate.diagnosis.category.startswith("contract_"):
            kept.append(candidate)
            continue
        weighed = contract.weigh(finding, observations)
        if weighed.role == "also_true":
            cleared.append((finding, weighed))
            candidate = replace(candidate, role="note")
        elif weighed.role == "cause":
            candidate = candidate.but(because=list(weighed.because[:SHOWN]), confidence="proved")
        kept.append(candidate)
    against = dict.fromkeys(one for _, weighed in cleared for one in weighed.because)
    true = contract.also_true(cleared, observations)
    true += [text for note in NOTES for text in note(observations)]
    return Decided(tuple(kept), tuple(true), tuple(against)[:SHOWN])
