"""sweep: many targets, their failures in buckets, as a live table while it goes on."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from aoti_debug.commands import options
from aoti_debug.commands.output import check_report, finish
from aoti_debug.errors import WrongUse
from aoti_debug.sweep.answer import BisectAnswer, SweepAnswer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aoti_debug.commands.running import Report, Shown
    from aoti_debug.sweep.request import SweepRequest
    from aoti_debug.sweep.row import Row

Sweep = Annotated[
    str | None, typer.Option(metavar="SWEEP", help="Run r-…, directory, sweep.jsonl.")
]
Bisect = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="torch 2.9..2.13|python A,B,…",
        help="Find the first bad torch (uv makes the environments), or interpreter.",
    ),
]
LAST, BUCKETS = 4, 8


def sweep(
    what: Annotated[
        str, typer.Argument(metavar="MANIFEST|FOLDER|SWEEP", help="TOML, scripts, or a run r-….")
    ],
    on: Annotated[str, typer.Option(help="local, ray or ray:ADDRESS.")] = "local",
    jobs: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Targets at a time [default: by cores].")
    ] = None,
    baseline: Sweep = None,
    resume: Sweep = None,
    out: Annotated[Path | None, typer.Option(help="Directory of the results.")] = None,
    fail_on: Annotated[str, typer.Option(help="Exit 1 on: any, new or proved.")] = "any",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the targets and their cost, run nothing.")
    ] = False,
    minify: Annotated[
        str | None, typer.Option(metavar="BUCKET", help="Reduce this bucket (b-…) afterwards.")
    ] = None,
    bisect: Bisect = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PACKAGE", help="Into bisect's environments; repeatable."),
    ] = None,
    python: options.Python = None,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Run many targets and group the failures; with a baseline, show the new ones."""
    from aoti_debug.sweep.request import sweep_request

    check_report(report)
    if bisect is not None:
        finish(first_bad(what, bisect, also or [], fail_on, jobs), as_json=json, report=report)
    if what.startswith("r-") and not Path(what).exists():
        answer = kept(what)
    else:
        board = Board() if sys.stderr.isatty() and not dry_run else None
        request = sweep_request(
            what,
            out=out,
            resume=resume,
            baseline=baseline,
            jobs=jobs,
            on=on,
            fail_on=fail_on,
            dry=dry_run,
            python=python,
            watch=board.add if board else lambda _: None,
        )
        answer = run(request, board.shown if board else None)
    if minify:
        reduce(answer, minify, report, json)
    finish(answer, as_json=json, report=report)


def first_bad(
    what: str, bisect: tuple[str, str], also: list[str], fail_on: str, jobs: int | None
) -> BisectAnswer:
    """Sweep under one version after another, as few as find the first bad one."""
    from aoti_debug.sweep.bisect import candidates, search
    from aoti_debug.sweep.request import sweep_request

    def sweep_under(label: str, python: str) -> SweepAnswer:
        sys.stderr.write(f"under {label}: {python}\n")
        return run(sweep_request(what, python=python, under=label, fail_on=fail_on, jobs=jobs))

    return search(candidates(*bisect, also), sweep_under)


def run(request: SweepRequest, shown: Shown | None = None) -> SweepAnswer:
    """Run a sweep to its end; where it is ended, say how to go on."""
    from aoti_debug.commands.running import run_to_end
    from aoti_debug.kinds import SWEEP

    how = "finished targets are kept: continue with --resume and that run\n"
    return run_to_end(SWEEP, request, shown=shown, ended=how)


def kept(run: str) -> SweepAnswer:
    """Return the answer of an earlier sweep; raise WrongUse or UnknownRun."""
    import anyio  # not needed by other commands, which start faster

    from aoti_debug import api

    async def main() -> object:
        async with api.service() as service:
            return await service.wait(run)

    answer = anyio.run(main)
    if not isinstance(answer, SweepAnswer):
        raise WrongUse(f"run {run} is no sweep")
    return answer


def reduce(answer: SweepAnswer, bucket: str, report: Path | None, json: bool) -> NoReturn:
    """Minify the smallest example of a bucket; raise WrongUse without the bucket or a kept run."""
    from aoti_debug.commands.running import run_to_end
    from aoti_debug.kinds import MINIFY
    from aoti_debug.minify.request import minify_request

    found = next((one for one in answer.buckets if one.id == bucket), None)
    if found is None:
        known = ", ".join(one.id for one in answer.buckets[:8]) or "none"
        raise WrongUse(f"sweep {answer.run} has no bucket {bucket[:40]!r}", help=f"It has: {known}")
    example = found.smallest_run or found.run
    if example is None:
        raise WrongUse(f"no run of {bucket} is kept", help=f"Triage {found.first} by itself.")
    finish(run_to_end(MINIFY, minify_request(example)), as_json=json, report=report)


class Board:
    """What a terminal shows of a sweep that goes on."""

    def __init__(self) -> None:
        from aoti_debug.sweep.buckets import Groups

        self._groups = Groups()
        self._last: deque[Row] = deque(maxlen=LAST)
        self._doing = "starting"
        self._show: Callable[[], None] = lambda: None

    def add(self, row: Row) -> None:
        self._groups.add(row)
        self._last.append(row)
        self._show()

    @contextmanager
    def shown(self) -> Iterator[Report]:
        """Yield a function that takes what is going on now."""
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

            def show() -> None:
                live.update(self._table(), refresh=True)

            def report(text: str) -> None:
                self._doing = text
                show()

            self._show = show
            yield report

    def _table(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        from aoti_debug.plain import plain

        buckets = Table("bucket", "targets", "category", "what", box=None, padding=(0, 2, 0, 0))
        for group in list(self._groups)[:BUCKETS]:
            first = group.first
            cells = (group.id, str(group.targets), first.category or "not run", first.summary)
            buckets.add_row(*(Text(plain(cell, 90)) for cell in cells))
        marks = {"ok": ("✓ ", "green"), "failed": ("✗ ", "red"), "error": ("? ", "yellow")}
        last = [
            Text.assemble(marks[row.outcome], plain(f"{row.target}, {row.wall_s:.0f} s", 110))
            for row in self._last
        ]
        shown = [buckets] if len(self._groups) else []
        return Group(Text(plain(self._doing), "bold"), *last, *shown)
