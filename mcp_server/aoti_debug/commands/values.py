"""values: what each kernel of a finished package reads and writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from aoti_debug.commands import options


def values(
    what: Annotated[str, typer.Argument(metavar="PACKAGE|RUN", help="A .pt2, or a run (r-…).")],
    inputs: options.Inputs = None,
    kernel: Annotated[
        str | None, typer.Option(help="Show and keep all it reads and writes: name or number.")
    ] = None,
    exported: Annotated[
        Path | None, typer.Option(help="The exported program, run in float64 to compare with.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="PACKAGE2", help="A package to compare with instead.")
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
    """Show what each kernel of a package read and wrote in one call, and which is wrong first."""
    from aoti_debug.commands.output import check_report, finish
    from aoti_debug.commands.running import run_to_end
    from aoti_debug.examine.values import values_request
    from aoti_debug.kinds import VALUES

    check_report(report)
    given = options.wanted(python, env, False, cwd, timeout, imports)
    given |= {"model": model, "trust": trust, "kernel": kernel, "inputs": inputs}
    request = values_request(what, exported=exported, against=against, **given)
    finish(run_to_end(VALUES, request), as_json=json, report=report)
