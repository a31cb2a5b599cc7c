"""Score how error texts are routed: `python evals/scorers/log_routing.py [FILE.jsonl.xz]`.

A row is {"thread", "category", "also", "phase", "text"}: what was wrong, other categories that can
be defended, the phase, and the text, quoted from a public thread and trimmed (where a text ended
before its message, the last line is the thread's title). `composed/...` marks a text without a
thread. Rows whose thread gave a signature a sample are left out. A thread is
OWNER/REPO#NUMBER of GitHub, or the address of a page.
`known.jsonl.xz` is what the rules were written against; its last 52 rows were labelled before any
run and scored once, when the rules were done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aoti_debug.model import DiagnoseAnswer, Diagnosis
from aoti_debug.signatures.signature import signatures

KNOWN = Path(__file__).parents[1] / "logs" / "known.jsonl.xz"
QUIET = ("unknown", "no_fault")  # right when nothing is claimed above `possible`
FALLBACK = ("user_code", "unknown", "no_fault")  # defends nothing: it is said when nothing is known

Diagnose = Callable[[str], Awaitable[DiagnoseAnswer]]


@dataclass(frozen=True, slots=True)
class Case:
    thread: str
    text: str
    category: str
    phase: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    case: Case
    best: Diagnosis | None

    @property
    def right(self) -> bool:
        if self.case.category in QUIET:
            best = self.best
            return best is None or best.category in QUIET or best.confidence == "possible"
        return self.best is not None and self.best.category == self.case.category

    @property
    def defensible(self) -> bool:
        return self.right or (
            self.best is not None
            and self.best.category in self.case.also
            and self.best.category not in FALLBACK
        )

    @property
    def right_phase(self) -> bool:
        if self.case.category in QUIET:
            return self.right
        return self.best is not None and self.best.phase == self.case.phase

    @property
    def wrong_but_proved(self) -> bool:
        return self.best is not None and self.best.confidence == "proved" and not self.defensible

    @property
    def called_healthy(self) -> bool:
        healthy = self.best is not None and self.best.category == "no_fault"
        return healthy and self.case.category not in QUIET


@dataclass(frozen=True, slots=True)
class Score:
    cases: int
    first: float  # share with the right category
    defensible: float
    phase: float
    wrong_but_proved: tuple[str, ...]
    called_healthy: tuple[str, ...]  # though the text is of a failure
    missed: tuple[Result, ...] = field(repr=False)


def load(path: Path = KNOWN) -> list[Case]:
    """Read the rows of a JSON lines file, compressed or not."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return [Case(**{**row, "also": tuple(row["also"])}) for row in rows]


async def route(cases: Iterable[Case], diagnose: Diagnose) -> list[Result]:
    """Diagnose each text."""
    answers = [(case, (await diagnose(case.text)).diagnoses) for case in cases]
    return [Result(case, found[0] if found else None) for case, found in answers]


def score(results: Sequence[Result]) -> Score:
    count = max(len(results), 1)
    return Score(
        cases=len(results),
        first=sum(r.right for r in results) / count,
        defensible=sum(r.defensible for r in results) / count,
        phase=sum(r.right_phase for r in results) / count,
        wrong_but_proved=tuple(r.case.thread for r in results if r.wrong_but_proved),
        called_healthy=tuple(r.case.thread for r in results if r.called_healthy),
        missed=tuple(r for r in results if not (r.right and r.right_phase)),
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
        f"{found.cases} texts: right category first {found.first:.1%}, defensible "
        f"{found.defensible:.1%}; right phase {found.phase:.1%}; wrong but proved "
        f"{len(found.wrong_but_proved)}; failing but called healthy {len(found.called_healthy)}"
    ]
    for result in found.missed:
        best = result.best
        got = f"{best.category}/{best.phase} ({best.signature})" if best else "nothing"
        want = f"{result.case.category}/{result.case.phase}"
        lines.append(f"  {result.case.thread}: expected {want}, got {got}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path, default=KNOWN)
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
    good = found.first >= 0.85 and found.defensible >= 0.95 and found.phase >= 0.85
    return 0 if good and not found.wrong_but_proved and not found.called_healthy else 1


if __name__ == "__main__":
    sys.exit(main())
