"""Score how log excerpts are routed: `python evals/scorers/log_routing.py [FILE.jsonl]`.

A case is {"id", "thread", "text", "category", "phase"}. The letter before the first dash of `id`
is the family (`x`: no AOTInductor failure at all). Cases are sampled by thread: one whose thread
gave a signature a sample is left out of the score. The texts retell how such a failure looks in its
thread; `composed/...` marks one without a public thread behind it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aoti_debug.model import DiagnoseAnswer, Diagnosis
from aoti_debug.signatures.signature import signatures

HELD_OUT = Path(__file__).parents[1] / "logs" / "held_out.jsonl"
QUIET = ("unknown", "no_fault")  # right when nothing is claimed above `possible`

Diagnose = Callable[[str], Awaitable[DiagnoseAnswer]]


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    thread: str
    text: str
    category: str
    phase: str

    @property
    def family(self) -> str:
        return self.id.split("-", 1)[0].upper()


@dataclass(frozen=True, slots=True)
class Result:
    case: Case
    answers: tuple[Diagnosis, ...]

    def right(self, among: int) -> bool:
        """Tell whether one of the first `among` answers has the expected category."""
        if self.case.category in QUIET:
            first = self.answers[:1]
            return all(d.category == "no_fault" or d.confidence == "possible" for d in first)
        return any(d.category == self.case.category for d in self.answers[:among])

    @property
    def wrong_but_proved(self) -> bool:
        return bool(
            self.answers and self.answers[0].confidence == "proved" and not self.right(among=1)
        )

    @property
    def right_phase(self) -> bool:
        if self.case.category in QUIET:
            return self.right(among=1)
        return bool(self.answers and self.answers[0].phase == self.case.phase)


@dataclass(frozen=True, slots=True)
class Score:
    cases: int
    first: float  # share with the right category at rank 1
    third: float  # share with the right category among the first three
    phase: float  # share with the right phase at rank 1
    wrong_but_proved: tuple[str, ...]
    families: dict[str, tuple[int, int]]  # family -> (right at rank 1, cases)
    missed: tuple[Result, ...] = field(repr=False)


def load(path: Path = HELD_OUT) -> list[Case]:
    """Read the cases of a JSON lines file."""
    with path.open(encoding="utf-8") as lines:
        return [Case(**json.loads(line)) for line in lines if line.strip()]


async def route(cases: Iterable[Case], diagnose: Diagnose) -> list[Result]:
    """Diagnose each case's text."""
    return [Result(case, tuple((await diagnose(case.text)).diagnoses)) for case in cases]


def score(results: Sequence[Result]) -> Score:
    """Count how often the right category comes first, or among the first three."""
    families: dict[str, tuple[int, int]] = {}
    for result in results:
        right, cases = families.get(result.case.family, (0, 0))
        families[result.case.family] = (right + result.right(among=1), cases + 1)
    count = max(len(results), 1)
    return Score(
        cases=len(results),
        first=sum(r.right(among=1) for r in results) / count,
        third=sum(r.right(among=3) for r in results) / count,
        phase=sum(r.right_phase for r in results) / count,
        wrong_but_proved=tuple(r.case.id for r in results if r.wrong_but_proved),
        families=dict(sorted(families.items())),
        missed=tuple(r for r in results if not r.right(among=1)),
    )


def shared_threads(cases: Iterable[Case]) -> dict[str, list[str]]:
    """Return thread -> signatures for threads that are in the set and behind a sample."""
    shared: dict[str, list[str]] = {}
    for case in cases:
        for signature in signatures():
            samples = signature.matches + signature.neighbours
            if any(sample.note.split(" ")[0].rstrip(",:;") == case.thread for sample in samples):
                shared.setdefault(case.thread, []).append(signature.id)
    return shared


def render(found: Score) -> str:
    lines = [
        f"{found.cases} excerpts: right category first {found.first:.1%}, "
        f"among three {found.third:.1%}; right phase {found.phase:.1%}; "
        f"wrong but proved {len(found.wrong_but_proved)}",
        "  ".join(f"{family} {right}/{cases}" for family, (right, cases) in found.families.items()),
    ]
    for result in found.missed:
        got = ", ".join(f"{d.category} ({d.confidence}, {d.signature})" for d in result.answers[:3])
        lines.append(f"  {result.case.id}: expected {result.case.category}, got {got or 'nothing'}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path, default=HELD_OUT)
    cases = load(parser.parse_args().file)
    shared = shared_threads(cases)
    for thread, names in shared.items():
        print(f"left out: {thread} is behind a sample of {', '.join(names)}")
    cases = [case for case in cases if case.thread not in shared]

    from aoti_debug import api

    async def diagnose(text: str) -> DiagnoseAnswer:
        return await api.diagnose(text=text)

    found = score(asyncio.run(route(cases, diagnose)))
    print(render(found))
    return 0 if found.first >= 0.90 and found.third >= 0.97 and not found.wrong_but_proved else 1


if __name__ == "__main__":
    sys.exit(main())
