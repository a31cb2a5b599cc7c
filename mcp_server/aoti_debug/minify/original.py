"""The failure that is looked for: its signature from two runs of the original, or from more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from aoti_debug.minify.material import Material
from aoti_debug.minify.request import NothingToMinify
from aoti_debug.minify.slice import Reduction, Unbuildable, Until
from aoti_debug.minify.worker_pool import OrderOutcome, WorkerPool, together
from aoti_debug.minify.write import Writer
from aoti_debug.model import Step
from aoti_debug.run.executor import Machine
from aoti_debug.triage.run_state import RunState
from aoti_debug.vocabulary import Fingerprint

RUNS = 2
MORE = 6  # runs of an original that did not fail both times, or may be flaky and costs little
CHEAP_S = 2.0
LOWER_S = 600.0
Run = Callable[[int], Awaitable[OrderOutcome]]


@dataclass(frozen=True, slots=True)
class Original:
    fingerprint: Fingerprint
    until: Until
    failed: int
    runs: int
    wall_s: float
    text: str
    what: str

    @property
    def repeats(self) -> int:
        return 1 if self.failed == self.runs else repeats(self.failed, self.runs)

    @property
    def notes(self) -> list[str]:
        if self.repeats == 1:
            return []
        rate = f"the original failed in {self.failed} of {self.runs} runs"
        return [f"{rate}: a candidate counts as good after {self.repeats} runs without the failure"]

    def step(self) -> Step:
        return Step(
            name="original",
            status="done",
            why=f"{self.what}, {self.runs} times: what both runs show is the fingerprint",
            finding=str(self.fingerprint),
            wall_s=round(self.wall_s, 2),
        )


@dataclass(frozen=True, slots=True)
class Way:
    """One way to repeat the original; `until` is what its candidates then need."""

    what: str
    until: Until
    run: Run
    compiles: bool = True


async def original(
    work: RunState,
    pool: WorkerPool,
    material: Material,
    writer: Writer,
    base: Reduction,
    *,
    compare: bool,
) -> Original:
    """Repeat the original in the cheapest way that fails; raise NothingToMinify where none does."""
    tried: list[str] = []
    for way in ways(pool, material, writer, base, compare=compare):
        work.say(f"repeating the failure: {way.what}")
        outcomes = await _runs(way, range(RUNS), pool.machine)
        failed = [o for o in outcomes if material.is_failure(o.fingerprint)]
        # One that ended well twice is worth more runs where these cost no compile.
        flaky = way.until == "run" and material.observations is not None
        unsure = 0 < len(failed) < len(outcomes)
        unsure = unsure or (not failed and flaky and not material.wrong_values)
        if unsure or (not way.compiles and max(o.wall_s for o in outcomes) < CHEAP_S):
            outcomes += await _runs(way, range(RUNS, RUNS + MORE), pool.machine)
            failed = [o for o in outcomes if material.is_failure(o.fingerprint)]
        if not failed:
            tried.append(f"{way.what}: {outcomes[0].fingerprint}")
            continue
        return _original(way, outcomes, failed)
    expected = " or ".join(dict.fromkeys(map(str, material.expected))) or "any"
    raise NothingToMinify(
        f"the failure ({expected}) could not be repeated outside the script: {'; '.join(tried)}",
        help="The rest of the script may matter: threads, streams, other models, a changed global "
        "setting. guides/minifier.md says how to narrow that down.",
    )


def _original(
    way: Way, outcomes: Sequence[OrderOutcome], failed: Sequence[OrderOutcome]
) -> Original:
    alike = [o for o in failed if failed[0].fingerprint.same(o.fingerprint)]
    fingerprint = reduce(Fingerprint.common, [o.fingerprint for o in alike])
    until: Until = way.until
    if fingerprint.phase == "lower" and until not in ("codegen", "lower"):
        until = "lower"
    elif fingerprint.phase in ("run", "load") and until in ("compare", "finite"):
        until = "run"
    return Original(
        fingerprint=fingerprint,
        until=until,
        failed=len(alike),
        runs=len(outcomes),
        wall_s=max(o.wall_s for o in outcomes),
        text=failed[0].stderr,
        what=way.what,
    )


async def _runs(way: Way, numbers: Sequence[int], machine: Machine) -> list[OrderOutcome]:
    if way.compiles and way.until != "codegen":  # two of one model would write the same files
        return [await way.run(number) for number in numbers]
    return await together([partial(way.run, number) for number in numbers], machine)


def ways(
    pool: WorkerPool, material: Material, writer: Writer, base: Reduction, *, compare: bool
) -> list[Way]:
    """Return the ways to repeat a failure, the cheapest first."""
    words = list(material.words)
    program = {
        "kind": "program",
        "exported": str(material.exported),
        "arguments": words,
        "settings": dict(material.settings or {}),
    }
    found: list[Way] = []
    known = material.observations is not None
    if known and material.package is None:
        generated = {**program, "until": "codegen"}
        found.append(Way("generating its code", "codegen", _order(pool, generated)))
        found.append(Way("compiling it", "lower", _order(pool, program)))
    values = material.wrong_values or compare
    if material.package is not None and material.inputs is not None and not values:
        call = {
            "kind": "package",
            "package": str(material.package),
            "model": material.model,
            "inputs": str(material.inputs),
            "arguments": words,
            "run_s": pool.run_s,
        }
        found.append(Way("calling its package again", "run", _order(pool, call), False))
    checks: tuple[Until, ...] = ("compare", "finite") if values or not known else ("run",)
    if values and material.not_finite:  # what was seen costs no other compile
        checks = ("finite", "compare")
    for until in checks:
        whole = replace(base, until=until)
        try:
            script = writer.write(whole)
        except Unbuildable:
            continue
        order = {"kind": "script", "run_s": pool.run_s}
        said = {"compare": "comparing it with eager", "finite": "looking for NaN"}
        what = said.get(until, "compiling and calling it")
        found.append(Way(what, until, _order(pool, order, script.text)))
    return found


def _order(pool: WorkerPool, order: Mapping[str, Any], script: str = "") -> Run:
    async def run(number: int) -> OrderOutcome:
        own = {}
        if number and order.get("until") == "codegen":  # beside the others
            cache = str(pool.cache / "second" / str(number))
            own = {"environment": {"TORCHINDUCTOR_CACHE_DIR": cache}}
        return await pool.do({**order, **own}, LOWER_S, script, number)

    return run


def repeats(failed: int, runs: int) -> int:
    """Return how many runs tell a flaky candidate from a good one, at 19 in 20, where the original
    failed `failed` times of `runs`."""
    left, count = 1.0, 0
    rate = failed / runs if runs else 1.0
    while left > 0.05 and count < 12 and rate > 0:
        left *= 1 - rate
        count += 1
    return max(1, count)
