"""Replay: what a real machine showed of each case, kept, so that answers are scored without it.

recorded.tar.xz holds for each case CASE/case.json (kernels of its package, how each known patch did,
what triage answered, on what machine) and the texts of its run directory. GPU cases name a recording
of tests/recorded/gpu instead, of the same fault in a script of its own.
"""

from __future__ import annotations

import concurrent.futures
import io
import json
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from aoti_debug.diagnose import diagnose

from harness import admit
from harness.agents import AGENTS, Agent, Situation, kernels_of
from harness.answer import parse
from harness.case import EVALS, Problem, patch_of, problems
from harness.fix import Fix, fix_verified, triaged
from harness.score import Result, judge
from harness.tree import Outcome, digest, torch_of

ARCHIVE = EVALS / "recorded.tar.xz"
GPU = EVALS.parent / "tests" / "recorded" / "gpu" / "runs.tar.xz"
TEXTS = (
    "run.json",
    "events.jsonl",
    "stdout.log",
    "stderr.log",
    "gdb.log",
    "stacks.log",
    "report.json",
)
LIMIT = 24_000  # bytes of one text; the middle is left out


@dataclass(frozen=True, slots=True)
class Recorded:
    kernels: Sequence[str] = ()
    at_fault: Sequence[str] = ()
    fixes: Mapping[str, Fix] = field(default_factory=dict)  # by the digest of the patch
    directory: Path | None = None
    torch: str = ""
    device: str = "cpu"

    @property
    def triaged(self) -> bool:
        """Tell whether a run directory is among what is recorded."""
        return self.directory is not None and (self.directory / "run.json").is_file()


def load() -> dict[str, Recorded]:
    """Return what is recorded, by case."""
    root = _unpacked()
    found: dict[str, Recorded] = {}
    for path in sorted(root.glob("cases/*/case.json")):
        kept = json.loads(path.read_text("utf-8"))
        fixes = {key: _fix(one) for key, one in kept.pop("fixes").items()}
        found[path.parent.name] = Recorded(**kept, fixes=fixes, directory=path.parent)
    for one in problems().values():
        recording = one.truth.recording
        if recording is not None and one.id not in found:
            found[one.id] = Recorded(device="cuda", directory=root / "gpu" / recording)
    return {name: one for name, one in found.items() if name in problems()}


@cache
def _unpacked() -> Path:
    root = Path(tempfile.mkdtemp(prefix="aoti-eval-recorded-"))
    import atexit
    import shutil

    atexit.register(shutil.rmtree, root, True)
    for archive, to in ((ARCHIVE, root / "cases"), (GPU, root / "gpu")):
        if archive.is_file():
            with tarfile.open(archive) as packed:
                packed.extractall(to, filter="data")
    return root


def _fix(document: Mapping[str, Any]) -> Fix:
    outcome = document.get("outcome")
    return Fix(**{**document, "outcome": Outcome(**outcome) if outcome else None})


def replay(problem: Problem, agent: Agent, recorded: Recorded) -> Result:
    """Let a scripted agent answer from what is recorded."""
    situation = Situation(problem, Path(), recorded.kernels, recorded.at_fault)
    return judge(problem, agent.answer(situation), agent=agent.name, arm="replay",
                 kernels=recorded.at_fault, fix=lambda patch: known(problem, patch, recorded))  # fmt: skip


def known(problem: Problem, patch: str, recorded: Recorded) -> Fix:
    """Return how a patch did when it was recorded."""
    if problem.truth.fix == "none":
        return Fix(not patch.strip(), "nothing is to be fixed")
    if not patch.strip():
        return Fix(False, "there is no patch")
    return recorded.fixes.get(digest(patch), Fix(None, "nobody has recorded this patch"))


def tool(problem: Problem, recorded: Recorded) -> Result:
    """Score what today's rules say of the recorded run: the tool without any agent."""
    assert recorded.directory is not None
    found = diagnose(_recall(recorded.directory))
    answer = parse(found[0].document()) if found else None
    return judge(problem, answer, agent="triage alone", arm="replay", kernels=recorded.at_fault,
                 fix=lambda patch: Fix(None, "it proposes no patch"))  # fmt: skip


def _recall(directory: Path) -> Any:
    tests = str(EVALS.parent / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    from recall import recall

    return recall(directory)


def record(cases: Sequence[Problem], python: str, jobs: int, *, triage: bool = True) -> None:
    """Run the patches that scripted agents make, triage the cases, and pack what was seen."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        made = list(pool.map(lambda one: _record(one, python, triage), cases))
    new = {one.id for one in cases}
    kept = _old_members(new)
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for name, data in sorted([*kept, *(pair for pairs in made for pair in pairs)]):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    print(f"{len(new)} cases recorded, {ARCHIVE.stat().st_size} bytes")


def _old_members(new: Iterable[str]) -> list[tuple[str, bytes]]:
    if not ARCHIVE.is_file():
        return []
    found = []
    with tarfile.open(ARCHIVE) as packed:
        for member in packed.getmembers():
            stream = packed.extractfile(member)
            if stream is not None and member.name.partition("/")[0] not in set(new):
                found.append((member.name, stream.read()))
    return found


def _record(problem: Problem, python: str, triage: bool) -> list[tuple[str, bytes]]:
    package = admit.planted_package(problem, python)
    kernels = [name for name, _ in kernels_of(package)] if package else []
    at_fault = admit.names_at_fault(problem, python) if problem.truth.kernel_of else []
    situation = Situation(problem, Path(), kernels, at_fault)
    patches = {patch_of(problem, problem.truth.gold)}
    for agent in AGENTS.values():
        answer = agent.answer(situation)
        patches.add(answer.patch if answer else "")
    fixes = {digest(one): asdict(fix_verified(problem, one, python)) for one in patches if one}
    document = {
        "kernels": kernels,
        "at_fault": at_fault,
        "fixes": fixes,
        "torch": torch_of(python),
        "device": problem.case.needs,
    }
    found = [(f"{problem.id}/case.json", json.dumps(document, indent=0).encode())]
    if not triage:
        return found
    seen = triaged(problem, python)
    for path in sorted(seen.directory.rglob("*")):
        if path.is_file() and path.name in TEXTS:
            name = path.relative_to(seen.directory).as_posix()
            found.append((f"{problem.id}/{name}", _plain(path, problem)))
    return found


def _plain(path: Path, problem: Problem) -> bytes:
    """Return a text without its middle, and without the places of the machine it was made on."""
    text = path.read_text("utf-8", "replace")
    text = text.replace(str(path.parents[0]), ".").replace(str(Path.home()), "/home/user")
    data = text.encode()
    if path.suffix == ".json" or len(data) <= LIMIT:
        return data
    head, tail = data[: LIMIT // 2].rpartition(b"\n")[0], data[-LIMIT // 2 :].partition(b"\n")[2]
    return head + b"\n" + tail
