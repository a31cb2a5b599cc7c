"""What is to be swept, and what is told of it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Literal, get_args

from aoti_debug.errors import WrongUse
from aoti_debug.run.directory import RUN_ID, RunDirectory
from aoti_debug.run.files import expanded, read_source
from aoti_debug.run.kept import Kept, home, own_name, within
from aoti_debug.run.machine import ask
from aoti_debug.run.target import Target
from aoti_debug.sweep.answer import SweepAnswer
from aoti_debug.sweep.manifest import read_manifest
from aoti_debug.sweep.plan import Plan, Planned, check
from aoti_debug.sweep.row import LEDGER, Row, UnreadableSweep, read_head, rows_of, short
from aoti_debug.triage.run_state import Request, RunState

FailOn = Literal["new", "any", "proved"]
HISTORY = "sweeps"  # below the home: a file for each sweep that ended
KEEP = 30  # sweeps of one name
LINES = 200  # targets that a dry run shows


@dataclass(frozen=True)
class SweepRequest(Request):
    """`watch` is told of every row, for a live table."""

    _: KW_ONLY
    plan: Plan
    out: Path | None = None
    resume: Path | None = None
    baseline: Path | None = None
    jobs: int | None = None
    ray: str | None = None
    fail_on: FailOn = "any"
    dry: bool = False
    said: tuple[str, ...] = ()
    revision: str | None = None
    watch: Callable[[Row], None] = lambda _: None


def sweep_request(
    manifest: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    resume: str | None = None,
    baseline: str | None = None,
    jobs: int | None = None,
    on: str = "local",
    fail_on: str = "any",
    dry: bool = False,
    python: str | None = None,
    under: str | None = None,
    owner: str | None = None,
    stop: threading.Event | None = None,
    watch: Callable[[Row], None] = lambda _: None,
) -> SweepRequest:
    """Read and check a manifest before anything starts. Blocks. Raise WrongUse, UnreadableSweep."""
    if python and os.sep in python:
        python = str(expanded(python).absolute())
    read = read_manifest(manifest)
    if under is not None:  # a history of its own
        read = read.model_copy(update={"name": f"{read.name} under {under}"})
    plan = Plan(read, python)
    plan.count  # noqa: B018 - of a matrix that is too large, an error
    if fail_on not in get_args(FailOn):
        raise WrongUse(f"--fail-on {fail_on[:40]!r}", help="Use new, any or proved.")
    place, colon, address = on.partition(":")
    if place not in ("local", "ray") or (place == "local" and colon):
        raise WrongUse(f"a sweep cannot run on {on[:60]!r}", help="Use local, ray or ray:ADDRESS.")
    said = check(plan, stop or threading.Event(), owner)
    old = find_sweep(baseline, owner) if baseline else None
    ledger = find_sweep(resume, owner) if resume else None
    uses = [kept for path in (old, ledger) if path is not None and (kept := within(path, owner))]
    for kept in uses:
        kept.hold()
    if ledger is not None and (head := read_head(ledger)).plan != plan.digest:
        raise WrongUse(
            f"the manifest is not the one that sweep {head.sweep} ran",
            help="Start a new sweep; --baseline compares it with the old one.",
        )
    if fail_on == "new" and old is None:
        said = [*said, "without a baseline every failure is new"]
    root = plan.manifest.root
    words = ("aoti-debug", "sweep", str(manifest))
    return SweepRequest(
        Target(words, root, dict(os.environ), f"sweep {plan.manifest.name}", None),
        plan=plan,
        out=expanded(out).absolute() if out else None,
        resume=ledger,
        baseline=old,
        jobs=jobs,
        ray=address if place == "ray" else None,
        fail_on=fail_on,  # type: ignore[arg-type]
        dry=dry,
        said=tuple(said),
        revision=revision_of(root, os.environ),
        watch=watch,
        uses=tuple(uses),
    )


def find_sweep(named: str, owner: str | None = None) -> Path:
    """Return the file of a sweep, by run, directory or file; raise UnreadableSweep, UnknownRun."""
    if owner is not None and RUN_ID.fullmatch(named):
        RunDirectory.open(named, owner=owner)
    path = expanded(named)
    places = [path, path / LEDGER]
    if RUN_ID.fullmatch(named):
        of_runs = home() / "runs" / named
        places = [*_linked(of_runs), of_runs / LEDGER, *_kept(named, owner)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise UnreadableSweep(f"there is no sweep {named[:200]!r}")
    within(found, owner)
    read_head(found)
    return found.absolute()


def _linked(run: Path) -> list[Path]:
    """Return where a sweep wrote, if that was elsewhere."""
    try:
        return [Path(read_source(run / "out.txt", 8192).strip()) / LEDGER]
    except (OSError, ValueError):
        return []


def _kept(run: str, owner: str | None) -> list[Path]:
    found = sorted((home() / HISTORY).glob(f"*/{run}.jsonl"))
    return [path for path in found if Kept(path.parent).belongs_to(owner)]


def history(name: str, owner: str | None) -> list[Path]:
    """Return the files of this owner's earlier sweeps of this name, oldest first."""
    folder = home() / HISTORY / own_name(slug(name), owner)
    return sorted(folder.glob("r-*.jsonl"), key=lambda path: path.stat().st_mtime)


def slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip(".-")[:80] or "sweep"


def earlier(name: str, count: int, owner: str | None) -> tuple[dict[str, Row], Path | None]:
    """Return what this owner's last finished sweep of this name measured, by target."""
    for path in reversed(history(name, owner)):
        rows = {row.target: row for row in rows_of(path)} if count <= 20_000 else {}
        if rows:
            return rows, path
    return {}, None


def dry_run(work: RunState, request: SweepRequest) -> SweepAnswer:
    """Say what would be run, and what it took before."""
    plan = request.plan
    measured, last = earlier(plan.manifest.name, plan.count, work.client)
    lines: list[str] = []
    seconds, known = 0.0, 0
    for planned in plan.targets():
        row = measured.get(planned.name)
        if row is not None:
            seconds, known = seconds + row.wall_s, known + 1
        if len(lines) < LINES:
            lines.append(_line(planned, row))
    more = [f"… and {plan.count - len(lines):,} more"] if plan.count > len(lines) else []
    cost = (
        f"{seconds / 60:.1f} min of one worker for {known:,} targets, by {last.stem}"
        if last is not None and known
        else "nothing is known of the cost: no sweep of this name has ended yet"
    )
    if last is not None and 0 < known < plan.count:
        cost += f"; about {seconds / known * plan.count / 60:.1f} min for all {plan.count:,}"
    return SweepAnswer(
        run=work.directory.id,
        status="done",
        name=plan.manifest.name,
        targets=plan.count,
        plan=[*lines, *more],
        notes=[f"cost: {cost}", *work.notes],
    )


def _line(planned: Planned, row: Row | None) -> str:
    what = planned.script or planned.command or f"-m {planned.module} {planned.args[0]}"
    words = what if isinstance(what, str) else " ".join(what)
    python = f", {planned.python}" if planned.python else ""
    took = f", {row.wall_s:.1f} s before" if row is not None else ""
    return short(f"{planned.name}: {words}{python}{took}")


def revision_of(folder: Path, env: Mapping[str, str]) -> str | None:
    """Return the commit that is swept, where there is one."""
    if sha := env.get("GITHUB_SHA"):
        return sha[:12]
    answer = ask(
        ["git", "-C", str(folder.absolute()), "rev-parse", "--short=12", "HEAD"], timeout_s=5.0
    )
    return answer.stdout.strip() or None if answer and answer.code == 0 else None
