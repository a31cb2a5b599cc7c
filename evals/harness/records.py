"""Replay: what a real machine showed of each case, kept, so that answers are scored without it.

recorded.tar.xz holds for each case CASE/case.json (kernels of its package, a row for each trial of
its admission) and the texts of the run directory that its triage left. A GPU case may name a
recording of tests/recorded/gpu for the latter, of the same fault in a script of its own.
"""

from __future__ import annotations

import atexit
import io
import json
import lzma
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aoti_debug.diagnose import diagnose

from harness import admit
from harness.admit import Row
from harness.agents import Agent, Situation, kernels_of
from harness.answer import parse
from harness.case import EVALS, Problem, problems
from harness.fix import Fix, fix_of, known_at_once, triaged
from harness.score import Result, judge
from harness.tree import content, digest

ARCHIVE = EVALS / "recorded.tar.xz"
GPU = EVALS.parent / "tests" / "recorded" / "gpu" / "runs.tar.xz"
TEXTS = "run.json events.jsonl stdout.log stderr.log gdb.log stacks.log report.json".split()
LIMIT = 16_000  # characters of one text; the middle is left out
DETAIL = 200  # the last characters of what a trial wrote


@dataclass(frozen=True, slots=True)
class Recorded:
    """`at_fault` is None where no package was seen."""

    kernels: Sequence[str] = ()
    at_fault: Sequence[str] | None = None
    rows: Sequence[Row] = ()
    directory: Path | None = None

    @property
    def triaged(self) -> bool:
        return self.directory is not None and (self.directory / "run.json").is_file()


def load() -> dict[str, Recorded]:
    root = _unpacked()
    found: dict[str, Recorded] = {}
    for one in problems().values():
        directory = root / "cases" / one.id
        kept: dict[str, Any] = {"rows": []}
        if (directory / "case.json").is_file():
            kept = json.loads((directory / "case.json").read_text("utf-8"))
        if one.truth.recording is not None:
            directory = root / "gpu" / one.truth.recording
        rows = [admit.row(document) for document in kept.pop("rows")]
        found[one.id] = Recorded(**kept, rows=rows, directory=directory)
    return found


@cache
def _unpacked() -> Path:
    root = Path(tempfile.mkdtemp(prefix="aoti-eval-recorded-"))
    atexit.register(shutil.rmtree, root, True)
    for archive, to in ((ARCHIVE, root / "cases"), (GPU, root / "gpu")):
        if archive.is_file():
            with tarfile.open(archive) as packed:
                # `extractall(filter=…)` is not in every Python that this runs on.
                packed.extraction_filter = getattr(tarfile, "data_filter", None)
                packed.extractall(to)
    return root


def replay(problem: Problem, agent: Agent, recorded: Recorded) -> Result:
    at_fault = recorded.at_fault or ()
    situation = Situation(problem, Path(), recorded.kernels, at_fault)
    return judge(
        problem,
        agent.answer(situation),
        agent=agent.name,
        arm="replay",
        kernels=at_fault,
        fix=lambda patch: known(problem, patch, recorded),
    )


def known(problem: Problem, patch: str, recorded: Recorded) -> Fix:
    if (settled := known_at_once(problem, patch)) is not None:
        return settled
    for one in recorded.rows:
        if one.patch == digest(patch) and one.content == content(problem):
            return fix_of(problem, one.outcome, one.verdict, one.reason)
    return Fix(None, "nobody has recorded this patch")


def tool(problem: Problem, recorded: Recorded) -> Result:
    """Score what today's rules say of the recorded run: the tool without any agent."""
    assert recorded.directory is not None
    found = diagnose(_recall(recorded.directory))
    answer = parse(found[0].document()) if found else None
    return judge(
        problem,
        answer,
        agent="triage alone",
        arm="replay",
        kernels=recorded.at_fault or (),
        fix=lambda patch: Fix(None, "it proposes no patch"),
    )


def _recall(directory: Path) -> Any:
    tests = str(EVALS.parent / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    from recordings import recall

    return recall(directory)


def made(
    problem: Problem,
    python: str,
    times: int,
    keep: Callable[[dict[str, Any]], None],
    *,
    within: int = 1,
    triage: bool = False,
    over: Callable[[], bool] = lambda: False,
    only: Sequence[str] = (),
) -> tuple[list[Row], Sequence[str] | None]:
    """Run the trials of a case and give each line of its ledger to `keep` as it comes; return the
    rows, and the kernels at fault."""
    rows: list[Row] = []
    at_fault = None

    def keep_rows(found: list[Row]) -> None:
        rows.extend(found)
        for row in found:
            keep(row.document())

    try:
        admit.run(problem, python, times, within=within, over=over, only=only, keep=keep_rows)
        kernels = seen(problem, python)
        at_fault = kernels["at_fault"]
        keep(kernels)
        if triage and not over():
            keep(texts(problem, python))
    except Exception as error:
        print(f"{problem.id}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    return rows, at_fault


def seen(problem: Problem, python: str) -> dict[str, Any]:
    """Return the kernels of the planted package, as a line of a ledger."""
    package = admit.planted_package(problem, python)
    kernels = [name for name, _ in kernels_of(package)] if package else []
    at_fault = admit.names_at_fault(problem, python)
    return {"case": problem.id, "kernels": kernels, "at_fault": at_fault if package else None}


def texts(problem: Problem, python: str) -> dict[str, Any]:
    """Triage the planted case and return what it left, as a line of a ledger."""
    done = triaged(problem, python)
    found = {
        path.relative_to(done.directory).as_posix(): _plain(path)
        for path in sorted(done.directory.rglob("*"))
        if path.is_file() and path.name in TEXTS
    }
    return {"case": problem.id, "texts": found}


def pack(ledgers: Sequence[Path]) -> None:
    """Put what ledgers hold (of `admit --out`) in place of what the archive holds of the same."""
    members = _members()
    kept = {name: json.loads(data) for name, data in members.items() if name.endswith("/case.json")}
    for line in (line for path in ledgers for line in path.read_text("utf-8").splitlines()):
        said = json.loads(line)
        case = kept.setdefault(f"{said['case']}/case.json", {"rows": []})
        if "texts" in said:
            place = f"{said['case']}/"
            members = {name: data for name, data in members.items() if not name.startswith(place)}
            members |= {place + name: text.encode() for name, text in said["texts"].items()}
        elif "kernels" in said:
            case.update(kernels=said["kernels"], at_fault=said["at_fault"])
        else:
            case["rows"] = [one for one in case["rows"] if one["name"] != said["name"]] + [said]
    for problem in problems().values():  # what another content has shown says nothing
        if (case := kept.get(f"{problem.id}/case.json")) is not None:
            wanted = {trial.name for trial in admit.trials(problem)}
            same = [one for one in case["rows"] if one["content"] == content(problem)]
            case["rows"] = [one for one in same if one["name"] in wanted]
            for one in case["rows"]:
                one["outcome"]["detail"] = one["outcome"]["detail"][-DETAIL:]
    members |= {name: json.dumps(case, indent=0).encode() for name, case in kept.items()}
    with (
        lzma.open(ARCHIVE, "w", preset=9 | lzma.PRESET_EXTREME) as small,
        tarfile.open(fileobj=small, mode="w") as archive,
    ):
        for name in sorted(members):
            info = tarfile.TarInfo(name)
            info.size = len(members[name])
            archive.addfile(info, io.BytesIO(members[name]))
    print(f"{len(kept)} cases recorded, {ARCHIVE.stat().st_size} bytes")


def _members() -> dict[str, bytes]:
    if not ARCHIVE.is_file():
        return {}
    found = {}
    with tarfile.open(ARCHIVE) as packed:
        for member in packed.getmembers():
            stream = packed.extractfile(member)
            if stream is not None and member.name.partition("/")[0] in problems():
                found[member.name] = stream.read()
    return found


def _plain(path: Path) -> str:
    """Return a text without its middle, and without the places of the machine it was made on."""
    text = path.read_text("utf-8", "replace")
    text = text.replace(str(path.parents[0]), ".").replace(str(Path.home()), "/home/user")
    if path.suffix == ".json" or len(text) <= LIMIT:
        return text
    return text[: LIMIT // 2].rpartition("\n")[0] + "\n" + text[-LIMIT // 2 :].partition("\n")[2]
