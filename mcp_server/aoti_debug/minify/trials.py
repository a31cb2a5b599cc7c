"""Try candidates: build, run, compare; keep count, the best so far and what else was seen."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from aoti_debug.minify.candidate import Candidate, Unbuildable, Until
from aoti_debug.minify.signature import Signature
from aoti_debug.minify.workers import Outcome, Workers
from aoti_debug.minify.write import Script, Writer

RUN_S = 30.0  # for a call, whatever its compile took; a hang costs as much


class Spent(Exception):
    """The budget is used up: the reason."""


@dataclass(frozen=True, slots=True)
class Best:
    candidate: Candidate
    script: Script
    outcome: Outcome


OnBetter = Callable[[Best], Awaitable[None]]


@dataclass
class Trials:
    """The candidates of one search. `wanted` is the failure looked for."""

    workers: Workers
    writer: Writer
    wanted: Signature
    base: Candidate
    load: str  # Python that defines `load(name)` for candidates
    timeout_s: float
    repeats: int
    budget_s: float
    most: int
    on_better: OnBetter
    say: Callable[[str], None]
    environment: Mapping[str, str] = field(default_factory=dict)
    tried: int = 0
    unbuildable: int = 0
    best: Best | None = None
    _latest: Best | None = None
    also: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    async def keeps(self, keep: frozenset[int]) -> bool:
        """Tell whether a part of the program fails alike, with all else as it is."""
        return await self.fails(replace(self.base, keep=keep))

    async def fails(self, candidate: Candidate) -> bool:
        """Tell whether a candidate fails alike; the first run that does is enough.

        Raises:
            Spent: the budget is used up.
        """
        self._afford()
        try:
            script = self.writer.write(candidate, self.load)
        except Unbuildable:
            self.unbuildable += 1
            return False
        self.tried += 1
        self.say(self.progress(len(candidate.keep)))
        for number in range(self.repeats):
            outcome = await self.run(script, number)
            if self.wanted.same(outcome.signature):
                self._latest = Best(candidate, script, outcome)
                await self._keep(self._latest)
                return True
            if outcome.signature.failed:
                self.also[str(outcome.signature)] += 1
        return False

    async def run(self, script: Script, number: int = 0) -> Outcome:
        order = {"kind": "script", "environment": dict(self.environment), "run_s": RUN_S}
        return await self.workers.do(order, self.timeout_s, script.text, number)

    async def prove(self, full: Candidate) -> bool:
        """Have the best candidate fail alike through AOTInductor; say whether it does."""
        if self.best is None:
            return False
        found = self.best.candidate
        until: Until = "lower" if found.until == "codegen" else found.until
        plain = replace(found, fidelity="aoti", until=until)
        if plain == found:
            return True
        free = replace(plain, dynamic=full.dynamic, two_sided=full.two_sided)
        for candidate in (plain, free) if free != plain else (plain,):
            if await self.fails(candidate):
                await self.prefer()
                return True
        return False

    def _afford(self) -> None:
        spent = time.monotonic() - self.began
        if spent > self.budget_s:
            raise Spent(f"{spent:.0f} s of {self.budget_s:.0f} s are used up")
        if self.tried >= self.most:
            raise Spent(f"{self.tried} candidates were tried, no more are wanted")

    async def prefer(self) -> None:
        """Take the last candidate that failed alike as the best: simpler, if no smaller."""
        if self._latest is not None and self.best is not self._latest:
            self.best = self._latest
            await self.on_better(self.best)

    async def _keep(self, found: Best) -> None:
        if self.best is None or _size(found) < _size(self.best):
            self.best = found
            await self.on_better(found)

    def progress(self, nodes: int) -> str:
        best = len(self.best.candidate.keep) if self.best else len(self.writer.graph.calls())
        seconds = time.monotonic() - self.began
        return (
            f"candidate {self.tried} has {nodes} nodes; best so far {best} of "
            f"{len(self.writer.graph.calls())}; {seconds:.0f} s"
        )


def _size(best: Best) -> tuple[int, int, int]:
    """Order by nodes, then by what else there is to read."""
    return (len(best.candidate.keep), len(best.script.files), len(best.script.text))
