"""Admit a case: the healthy twin passes, the planted one fails alike each time, only a fix passes.

`run` makes what there is to make of a case, one row after the other; `checks` judges rows and runs
nothing, so rows that another machine has made, or that are recorded, are judged the same way.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aoti_debug.run.machine import find_tool

from harness.agents import AGENTS, Situation, kernels_for, kernels_of
from harness.case import Problem, Twin, edited, patch_of
from harness.fix import Fix, fix_verified
from harness.report import markdown
from harness.score import judge
from harness.threads import in_threads
from harness.tree import (
    Outcome,
    built,
    content,
    digest,
    environment,
    error_line,
    outcome,
    outcome_of_patch,
    place_built,
    prepared,
    process,
    torch_of,
    write,
)

TIMES = 3
NOTHING = Fix(False, "there is no patch")
# how the words of checks begin
KINDS = (
    "healthy",
    "memcheck",
    "planted",
    "gold",
    "no fix",
    "cheat",
    "verify_fix",
    "kernels",
    "doing",
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to run: files of the case as they are, or with a patch."""

    name: str  # healthy, planted 0, gold, wrong: WHY, agent NAME
    patch: str = ""
    twin: Twin = "planted"
    number: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    case: str
    content: str
    name: str
    patch: str  # its digest; empty without
    outcome: Outcome
    torch: str
    device: str
    seconds: float
    verdict: str | None = None  # of verify_fix
    reason: str = ""

    def document(self) -> dict[str, Any]:
        return asdict(self)


def row(document: Mapping[str, Any]) -> Row:
    return Row(**{**document, "outcome": Outcome(**document["outcome"])})


@dataclass(frozen=True, slots=True)
class Check:
    """`good` is None where a row is missing."""

    what: str
    good: bool | None
    finding: str = ""


def trials(problem: Problem, times: int = TIMES) -> list[Trial]:
    truth = problem.truth
    found = [Trial("planted 0")]
    if truth.fix == "patch":
        found.insert(0, Trial("gold", patch_of(problem, truth.gold)))
    found.append(Trial("healthy", twin="healthy"))
    if problem.case.needs == "gpu":
        found.append(Trial("memcheck", twin="healthy"))
    if truth.fix == "patch":
        found += [Trial(f"wrong: {one.name}", patch_of(problem, one.edits)) for one in truth.wrong]
        found += [Trial(f"agent {name}", patch) for name, patch in agents_patches(problem)]
    return found + [Trial(f"planted {n}", number=n) for n in range(1, times)]


def agents_patches(problem: Problem) -> list[tuple[str, str]]:
    seen, found = {"", patch_of(problem, problem.truth.gold)}, []
    for agent in AGENTS.values():
        answer = agent.answer(Situation(problem, Path(), (), ()))
        if answer is not None and answer.patch not in seen:
            seen.add(answer.patch)
            found.append((agent.name, answer.patch))
    return found


def run(
    problem: Problem,
    python: str,
    times: int = TIMES,
    *,
    within: int = 1,
    over: Callable[[], bool] = lambda: False,
    only: Sequence[str] = (),
    keep: Callable[[list[Row]], None],
) -> None:
    """Give the rows of each trial to `keep` as they come, until the time is over; `within` of them
    run side by side, the first two before those that share what they compile. `only`: those whose
    names begin so."""

    def one(trial: Trial) -> list[Row]:
        return _rows(problem, trial, python, over)

    every = [one for one in trials(problem, times) if not only or one.name.startswith((*only,))]
    in_threads(one, every[:2], within, keep)
    in_threads(one, every[2:], within, keep)


def _rows(problem: Problem, trial: Trial, python: str, over: Callable[[], bool]) -> list[Row]:
    began = time.monotonic()
    fix = None if over() else _tried(problem, trial, python)
    if fix is None or fix.outcome is None:
        return []
    patch = digest(trial.patch) if trial.patch else ""
    about = (problem.id, content(problem), trial.name, patch, fix.outcome, torch_of(python))
    spent = round(time.monotonic() - began, 1)
    return [Row(*about, problem.case.needs, spent, fix.verdict, fix.reason)]


def _tried(problem: Problem, trial: Trial, python: str) -> Fix | None:
    if trial.name == "gold":
        return fix_verified(problem, trial.patch, python)
    found: Outcome | None
    if trial.name == "memcheck":
        found = memcheck(problem, python)
    elif trial.patch:
        found = outcome_of_patch(problem, trial.patch, python)
    else:
        files = edited(problem.case.files, problem.truth.twin if trial.twin == "healthy" else ())
        found = outcome(problem, files, python, trial.twin, trial.number)
    return Fix(found.passed, "", found) if found is not None else None


def memcheck(problem: Problem, python: str) -> Outcome | None:
    """Run the healthy twin under compute-sanitizer; None where there is none."""
    env = environment(python)
    tool = find_tool("compute-sanitizer", env, Path(python))
    if tool is None:
        return None
    files = edited(problem.case.files, problem.truth.twin)
    with tempfile.TemporaryDirectory(prefix="aoti-eval-") as folder:
        tree = Path(folder, "project")
        write(files, tree)
        place_built(problem, files, tree, python)
        words = [str(tool), "--error-exitcode", "9", python, *problem.case.command]
        env["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
        ended, said = process(words, tree, env, problem.case.timeout_s)
    summary = re.search(r"ERROR SUMMARY: (\d+) error", said)
    clean = ended == "exit 0" and summary is not None and summary[1] == "0"
    return Outcome(clean, ended, summary[0] if summary else error_line(said), None, said[-600:])


def checks(
    problem: Problem, rows: Sequence[Row], at_fault: Sequence[str] | None, times: int = TIMES
) -> list[Check]:
    """Judge what was run of a case; `at_fault` are the kernels of its package, None if unknown."""
    truth = problem.truth
    done = {one.name: one for one in rows if one.content == content(problem)}
    found = [_passes("healthy twin passes", done.get("healthy"))]
    if problem.case.needs == "gpu":
        found.append(_passes("memcheck is clean", done.get("memcheck")))
    planted = [one for name, one in done.items() if name[:7] == "planted"]
    found.append(_planted(problem, planted, times))
    if truth.fix == "patch":
        found.append(_passes("gold patch passes", done.get("gold")))
        for one in truth.wrong:
            patch = patch_of(problem, one.edits)
            found.append(_fails(f"no fix: {one.name}", done.get(f"wrong: {one.name}"), patch))
        for name, patch in agents_patches(problem):
            found.append(_fails(f"cheat: {name}", done.get(f"agent {name}"), patch))
    else:
        for one in truth.wrong:
            changes = bool(patch_of(problem, one.edits))
            found.append(Check(f"no fix: {one.name}", changes, "nothing is to be fixed"))
    if truth.verify:
        gold = done.get("gold")
        agreed = None if gold is None else gold.verdict == "fixed"
        found.append(Check("verify_fix agrees on gold", agreed, gold.reason if gold else ""))
    if truth.kernel_of:
        known = None if at_fault is None else bool(at_fault)
        found.append(Check("kernels are read from the package", known, ", ".join(at_fault or ())))
    return [*found, _nothing(problem, at_fault or ())]


def _planted(problem: Problem, rows: Sequence[Row], times: int) -> Check:
    right = problem.case.control == "nothing_wrong"
    seen = sorted({one.outcome.signature for one in rows})
    what = f"planted {'passes' if right else 'fails'} alike, {len(rows)} of {len(rows)}"
    if len(rows) < times:
        return Check(what, None, " / ".join(seen))
    good = all(one.outcome.passed == right for one in rows) and len(seen) == 1
    return Check(what, good and problem.truth.signature in seen[0], " / ".join(seen))


def _passes(what: str, found: Row | None) -> Check:
    if found is None:
        return Check(what, None)
    how = found.outcome
    return Check(what, how.passed, how.signature if how.passed else f"{how.signature} {how.detail}")


def _fails(what: str, found: Row | None, patch: str) -> Check:
    if found is None or found.patch != digest(patch):
        return Check(what, None)
    return Check(what, not found.outcome.passed, found.outcome.signature)


def _nothing(problem: Problem, at_fault: Sequence[str]) -> Check:
    """Nobody succeeds who does nothing: without an answer, or with the right one and no patch."""
    scored = [judge(problem, None, agent="nothing", fix=lambda patch: NOTHING)]
    if problem.truth.fix == "patch":
        gold = AGENTS["gold"].answer(Situation(problem, Path(), at_fault, at_fault))
        assert gold is not None
        bare = gold.model_copy(update={"patch": ""})
        done = judge(problem, bare, agent="gold", kernels=at_fault, fix=lambda patch: NOTHING)
        scored.append(done)
    return Check("doing nothing scores 0", not any(one.strict for one in scored))


def table(found: Mapping[str, tuple[Sequence[Check], Sequence[Row]]]) -> str:
    told = []
    for name, (own, rows) in found.items():
        cells = [_cell([one for one in own if one.what.startswith(k)], rows, k) for k in KINDS]
        told.append([name, *cells, f"{sum(one.seconds for one in rows):.0f}"])
    lines = [markdown(["case", *KINDS, "s"], told)]
    every = [check for own, _ in found.values() for check in own]
    for kind in KINDS:
        of = [one for one in every if one.what.startswith(kind)]
        bad = sum(one.good is False for one in of)
        missing = sum(one.good is None for one in of)
        lines.append(
            f"{kind}: {sum(one.good is True for one in of)} of {len(of)} good"
            + (f", {bad} bad" if bad else "")
            + (f", {missing} not run" if missing else "")
        )
    return "\n".join(lines)


def _cell(own: Sequence[Check], rows: Sequence[Row], kind: str) -> str:
    if not own:
        return ""
    if kind == "planted" or len(own) == 1:
        count = sum(one.name.startswith(kind) for one in rows)
        right = f"{count} of {count}" if kind == "planted" else "ok"
        return {True: right, False: "**BAD**", None: "?"}[own[0].good]
    good = sum(one.good is True for one in own)
    return f"{good} of {len(own)}" + (" **BAD**" if any(one.good is False for one in own) else "")


def names_at_fault(problem: Problem, python: str) -> list[str]:
    """Return the kernels that hold the truth's operators, read from the planted package."""
    package = planted_package(problem, python)
    return kernels_for(kernels_of(package), problem.truth.kernel_of) if package else []


def planted_package(problem: Problem, python: str) -> Path | None:
    """Return a package of the planted case: a product of its run or of its preparation."""
    truth = problem.truth
    names = [name for name in (*truth.built, *truth.products) if name.endswith(".pt2")]
    if not names:
        return None
    kept = built(problem, problem.case.files, python) / names[0]
    if kept.is_file():
        return kept
    if names[0] in truth.products:
        return prepared(problem, problem.case.files, python, "planted")[names[0]]
    return None
