"""time: where the seconds of a call, a load and a compile go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from aoti_debug.commands import options


def time(
    what: Annotated[
        str, typer.Argument(metavar="PACKAGE|RUN|SCRIPT", help="A .pt2, a run (r-…) or a script.")
    ],
    args: Annotated[list[str] | None, typer.Argument(metavar="[-- ARGS]...")] = None,
    inputs: options.Inputs = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="PACKAGE2|eager|compile", help="What to compare the calls with."),
    ] = None,
    exported: Annotated[
        Path | None, typer.Option(help="The exported program, for eager and compile.")
    ] = None,
    model: options.Model = None,
    python: options.Python = None,
    env: options.Env = None,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    trust: options.Trust = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Find out where the time of a call, a load and a compile goes, and why a call is slow."""
    from aoti_debug.commands.output import check_report, finish
    from aoti_debug.commands.running import run_to_end
    from aoti_debug.examine.time import time_request
    from aoti_debug.kinds import stage_kind

    check_report(report)
    given = options.wanted(python, env, False, cwd, timeout, imports)
    given |= {"model": model, "trust": trust}
    given |= {"inputs": inputs, "exported": exported, "against": against}
    request = time_request(what, args=tuple(args or ()), **given)
    finish(run_to_end(stage_kind("time"), request), as_json=json, report=report)
