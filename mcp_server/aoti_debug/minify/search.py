"""Find a small part of a program that still fails: delta debugging, side by side."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aoti_debug.minify.material import Material
from aoti_debug.minify.original import LOWER_S, Original
from aoti_debug.minify.request import MinifyRequest
from aoti_debug.minify.slice import Reduction, Unbuildable
from aoti_debug.minify.worker_pool import OrderOutcome, WorkerPool, first
from aoti_debug.minify.write import Script, Writer
from aoti_debug.run.device import Device
from aoti_debug.run.executor import Machine
from aoti_debug.triage.fingerprint import kernel_in, placed
from aoti_debug.triage.run_state import RunState
from aoti_debug.triage.spawn import unwell

LEAST_S = 180.0  # for a candidate, which compiles less than the original
TIMES_THE_ORIGINAL = 4.0


class Spent(Exception):
    """The budget is used up: the reason."""


@dataclass(frozen=True, slots=True)
class Best:
    candidate: Reduction
    script: Script
    outcome: OrderOutcome


@dataclass
class Trials:
    """The candidates of one search for the failure of the `original`."""

    work: RunState
    request: MinifyRequest
    material: Material
    workers: WorkerPool
    devices: Sequence[Device]
    writer: Writer
    original: Original
    base: Reduction
    on_better: Callable[[Best], Awaitable[None]]
    tried: int = 0
    looked: int = 0  # how often a GPU was looked at after a crash
    best: Best | None = None
    _latest: Best | None = None
    also: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        took = max(self.original.wall_s, self.material.wall_s)
        self.wanted = placed(self.original.fingerprint, self.material.diagnosis)
        self.timeout_s = min(LOWER_S, max(LEAST_S, TIMES_THE_ORIGINAL * took))
        self.kernel = self.material.kernel or kernel_in(self.original.text)

    async def keeps(self, keep: frozenset[int], *, made_up: bool = False) -> bool:
        """Tell whether a part of the program fails alike, with all else as it is."""
        candidate = replace(self.base, keep=keep)
        if made_up:
            try:
                files = self.writer.write(candidate).files
            except Unbuildable:
                return False
            candidate = replace(candidate, made=frozenset(names_of(files)))
        return await self.fails(candidate)

    async def fails(self, candidate: Reduction) -> bool:
        """Tell whether a candidate fails alike in any of its runs; raise Spent after the budget."""
        self._afford()
        try:
            script = self.writer.write(candidate)
        except Unbuildable:
            return False
        self.tried += 1
        self.work.say(self.progress(len(candidate.keep)))
        order = {"kind": "script", "run_s": self.workers.run_s}
        for number in range(self.original.repeats):
            outcome = await self.workers.do(order, self.timeout_s, script.text, number)
            await self._healthy(outcome)
            if self.wanted.same(outcome.fingerprint):
                self._latest = Best(candidate, script, outcome)
                if self.best is None or _size(self._latest) < _size(self.best):
                    await self.prefer()
                return True
            if outcome.fingerprint.failed:
                self.also[str(outcome.fingerprint)] += 1
        return False

    async def _healthy(self, outcome: OrderOutcome) -> None:
        """Raise Spent where a crash has left a GPU on which no further candidate can be tried."""
        if self.devices and outcome.fingerprint.failed and not outcome.cached:
            self.looked += 1
            env = self.work.request.target.env
            wrong = await unwell(self.devices, env) and await unwell(self.devices, env)
            if wrong:  # once may be a busy driver
                raise Spent("; ".join(wrong))

    async def prove(self, full: Reduction) -> bool:
        """Have the best candidate fail alike through AOTInductor; say whether it does."""
        if self.best is None:
            return False
        found = self.best.candidate
        plain = found.final()
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
        if spent > self.request.budget_s:
            raise Spent(f"{spent:.0f} s of {self.request.budget_s:.0f} s are used up")
        if self.tried >= self.request.candidates:
            raise Spent(f"{self.tried} candidates were tried, no more are wanted")

    async def prefer(self) -> None:
        """Take the last candidate that failed alike as the best: simpler, if no smaller."""
        if self._latest is not None and self.best is not self._latest:
            self.best = self._latest
            await self.on_better(self.best)

    def progress(self, nodes: int) -> str:
        whole, seconds = len(self.writer.graph.calls()), time.monotonic() - self.began
        best = len(self.best.candidate.keep) if self.best else whole
        said = f"candidate {self.tried} has {nodes} nodes; best so far {best} of {whole}"
        return f"{said}; {seconds:.0f} s"

    def why_none(self) -> str:
        odd = [node.name for node in self.writer.graph.nodes if node.unsupported]
        if odd:
            return f"{len(odd)} nodes cannot be written as Python, such as {odd[0]}"
        other = ", ".join(f"{text} ({count})" for text, count in self.also.most_common(3))
        return f"{self.tried} were tried" + (f"; seen instead: {other}" if other else "")


def _size(best: Best) -> tuple[int, int, int]:
    """Order by nodes, then by what else there is to read."""
    return (len(best.candidate.keep), len(best.script.files), len(best.script.text))


SIZES, SMALL = 3, 8  # how many sizes are cut, and which are small enough
ONE_BY_ONE = 6  # tensors whose values are replaced one after the other


async def simplify(trials: Trials) -> None:
    """Try simplifications one after the other and keep each that fails in the same way. Values of
    the offending input come last: they may be the fault."""
    best = trials.best
    if best is None:
        return
    now = best.candidate
    fewer: tuple[dict[str, Any], ...] = (
        {"dynamic": False, "two_sided": False},
        {"dynamic": False},
        {"two_sided": False},
        {"settings": {}},
    )
    for change in fewer:
        if all(getattr(now, key) for key in change):
            now = await _if_alike(trials, now, replace(now, **change))
    loaded = names_of(trials.best.script.files if trials.best is not None else ())
    if loaded:
        everything = await _if_alike(trials, now, replace(now, made=frozenset(loaded)))
        if everything is now:
            for name in loaded[:ONE_BY_ONE]:
                now = await _if_alike(trials, now, replace(now, made=now.made | {name}))
    await _smaller(trials, now)


async def _smaller(trials: Trials, now: Reduction) -> None:
    """Cut the sizes of what is still read from a file, the largest first: to 2, else to 8."""
    best = trials.best
    values = map(trials.writer.value, best.script.files if best else ())
    known = {size for value in values if value is not None for size in value.shape}
    sizes = sorted((size for size in known if size > SMALL), reverse=True)
    for size in sizes[:SIZES]:
        for to in (2, SMALL):
            smaller = replace(now, sizes={**now.sizes, size: to})
            after = await _if_alike(trials, now, smaller)
            if after is smaller:
                now = after
                break


def names_of(files: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(path.partition("/")[2] for path in files))


async def _if_alike(trials: Trials, now: Reduction, simpler: Reduction) -> Reduction:
    if await trials.fails(simpler):
        await trials.prefer()
        return simpler
    return now


Test = Callable[[frozenset[int]], Awaitable[bool]]


async def minimise(items: Sequence[int], test: Test, machine: Machine) -> list[int]:
    """Return a part of `items`, in order, that is interesting (by `test`) and from which no item
    can be left out; all of them are taken to be interesting."""
    return await _without(await _parts(list(items), test, machine), test, machine)


async def _parts(left: list[int], test: Test, machine: Machine) -> list[int]:
    """Go on with an interesting half, or the middle half, or a quarter and a half of it."""
    while len(left) > 1:
        half, quarter = (len(left) + 1) // 2, (len(left) + 3) // 4
        parts = [left[half:], left[:half]]
        if len(left) > 3:
            parts += [left[quarter : quarter + half]]
        if len(left) > 7:
            parts += [left[quarter:], left[:-quarter]]
        found = await first(parts, lambda part: test(frozenset(part)), machine)
        if found is None:
            break
        left = parts[found]
    return left


async def _without(left: list[int], test: Test, machine: Machine) -> list[int]:
    """Leave out chunks, ever smaller ones; at the end item by item until none can be spared."""
    size = max(1, len(left) // 4)
    while len(left) > 1:
        rests = [left[:at] + left[at + size :] for at in range(0, len(left), size)]
        found = await first(rests, lambda rest: test(frozenset(rest)), machine)
        if found is not None:
            left = rests[found]
            size = max(1, min(size, len(left) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return left
