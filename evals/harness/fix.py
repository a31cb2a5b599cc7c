"""Whether a patch is a fix: the hidden oracle, and `verify_fix` where it can judge."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
from aoti_debug.answers import TriageAnswer, VerifyAnswer
from aoti_debug.errors import AotiDebugError
from aoti_debug.kinds import TRIAGE, VERIFY
from aoti_debug.run.target import resolve_target
from aoti_debug.service import Request, Service
from aoti_debug.verify.patch import BadPatch
from aoti_debug.verify.request import verify_request
from filelock import FileLock

from harness.case import Problem
from harness.tree import (
    Outcome,
    cache_root,
    digest,
    environment,
    lay_out,
    outcome_of_patch,
    patched_files,
    prepared,
    torch_of,
    write,
)


@dataclass(frozen=True, slots=True)
class Fix:
    """`verified` is None where nothing could tell (replay of a patch that nobody recorded)."""

    verified: bool | None
    reason: str
    outcome: Outcome | None = None
    verdict: str | None = None  # of verify_fix


@dataclass(frozen=True, slots=True)
class Triaged:
    """The planted case, triaged: what verify_fix holds a fix against."""

    run: str
    home: Path
    answer: TriageAnswer
    wall_s: float

    @property
    def directory(self) -> Path:
        return self.home / "runs" / self.run


def fix_verified(problem: Problem, patch: str, python: str) -> Fix:
    """Run the patched case under the oracle; then ask verify_fix, where the truth says so."""
    if (known := known_at_once(problem, patch)) is not None:
        return known
    found = outcome_of_patch(problem, patch, python)
    if not found.passed or not problem.truth.verify:
        return fix_of(problem, found)
    answer = verify(problem, patch, python)
    return fix_of(problem, found, answer.verdict, str(answer.reason))


def known_at_once(problem: Problem, patch: str) -> Fix | None:
    """Judge a patch where there is nothing to run."""
    if problem.truth.fix == "none":
        return Fix(not patch.strip(), "nothing is to be fixed")
    return None if patch.strip() else Fix(False, "there is no patch")


def fix_of(problem: Problem, found: Outcome, verdict: str | None = None, reason: str = "") -> Fix:
    """Judge a patch by how it ran, and by what verify_fix said where it was asked."""
    if not found.passed:
        return Fix(False, found.signature, found)
    if problem.truth.verify:
        return Fix(verdict == "fixed", reason, found, verdict)
    return Fix(True, "the oracle has passed", found)


def triaged(problem: Problem, python: str) -> Triaged:
    """Triage the planted case, once for the same files and torch; its directory is kept."""
    key = digest(
        json.dumps(dict(problem.case.files), sort_keys=True),
        problem.truth.prepare,
        " ".join(problem.case.command),
        torch_of(python),
    )
    root = cache_root() / "triaged" / f"{problem.id}-{key[:12]}"
    root.mkdir(parents=True, exist_ok=True)
    kept = root / "triaged.json"
    with FileLock(root / ".lock"):
        if not kept.is_file():
            shutil.rmtree(root / "project", ignore_errors=True)
            lay_out(problem, root / "project", python)
            seen = anyio.run(_triage, problem, root, python)
            kept.write_text(seen.model_dump_json(exclude_none=True), "utf-8")
    answer = TriageAnswer.model_validate_json(kept.read_text("utf-8"))
    cost = answer.diagnosis.cost if answer.diagnosis else None
    return Triaged(answer.run, root / "home", answer, cost.wall_s if cost else 0.0)


async def _triage(problem: Problem, root: Path, python: str) -> TriageAnswer:
    target = resolve_target(
        script=str(root / "project" / problem.script),
        args=problem.case.command[1:],
        python=python,
        env=environment_of_case(python),
        cwd=root / "project",
    )
    request = Request(target=target, timeout_s=problem.case.timeout_s, python=python)
    async with Service(root / "home") as service:
        answer = await service.wait(await service.start(TRIAGE, request))
    assert isinstance(answer, TriageAnswer)
    return answer


def environment_of_case(python: str) -> Mapping[str, str]:
    """Return what a target gets beside what it inherits."""
    names = ("TORCHINDUCTOR", "AOT_", "AOTI_EVALS", "CXX", "OMP", "PYTHONDONT")
    return {name: value for name, value in environment(python).items() if name.startswith(names)}


def verify(problem: Problem, patch: str, python: str) -> VerifyAnswer:
    """Ask verify_fix about a patch: compiled anew, run, and held against inputs it never saw."""
    before = triaged(problem, python)
    files = patched_files(problem.case.files, patch)
    with tempfile.TemporaryDirectory(prefix="aoti-eval-") as folder:
        tree = Path(folder, "project")
        write(files, tree)
        if problem.truth.prepare:
            for name, made in prepared(problem, problem.case.files, python, "planted").items():
                shutil.copyfile(made, tree / name)
        return anyio.run(_verify, problem, before, tree, python)


async def _verify(problem: Problem, before: Triaged, tree: Path, python: str) -> VerifyAnswer:
    request = verify_request(
        str(tree / problem.script),
        before.run,
        args=problem.case.command[1:],
        python=python,
        env=environment_of_case(python),
        cwd=tree,
        timeout_s=problem.case.timeout_s,
        seeds=2 + secrets.randbelow(3),
        home=before.home,
    )
    async with Service(before.home) as service:
        try:
            answer = await service.wait(await service.start(VERIFY, request))
        except (AotiDebugError, BadPatch) as error:
            return VerifyAnswer(run=before.run, status="failed", reason=str(error))
    assert isinstance(answer, VerifyAnswer)
    return answer
