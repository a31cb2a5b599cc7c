"""The commands that start a run and wait for its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from aoti_debug.commands import options
from aoti_debug.commands.output import check_report, finish
from aoti_debug.facts.stages import STAGES

if TYPE_CHECKING:
    from aoti_debug.kinds import A, Kind, R

_STAGES = ", ".join(STAGES)


def run(
    words: options.Words = None,
    stage: Annotated[str, typer.Option(help=f"One of: {_STAGES}.")] = "baseline",
    module: options.Module = None,
    command: options.IsCommand = False,
    python: options.Python = None,
    env: options.Env = None,
    compile_anew: options.CompileAnew = False,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    no_capture: options.NoCapture = False,
    imports: options.Imports = None,
    kernels: options.Kernels = None,
    show_output: options.ShowOutput = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Run a script once with the debug flags of one stage; show their findings."""
    from aoti_debug.kinds import stage_kind

    kind = stage_kind(stage)
    check_report(report)
    given = options.wanted(python, env, compile_anew, cwd, timeout, imports)
    given["kernels"] = tuple(kernels or ())
    request = options.request(words, module, command, no_capture, **given)
    _start(kind, request, report, json, show_output=show_output)


def triage(
    words: options.Words = None,
    module: options.Module = None,
    command: options.IsCommand = False,
    python: options.Python = None,
    env: options.Env = None,
    compile_anew: options.CompileAnew = False,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    watch_for: options.WatchFor = None,
    stop_at_first: options.StopAtFirst = False,
    no_capture: options.NoCapture = False,
    imports: options.Imports = None,
    budget: options.Budget = None,
    no_verify: options.NoVerify = False,
    show_output: options.ShowOutput = False,
    report: options.Report = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> NoReturn:
    """Find out why a script fails: run it, then only the checks that fit the failure."""
    from aoti_debug.kinds import TRIAGE

    check_report(report)
    given = options.wanted(python, env, compile_anew, cwd, timeout, imports)
    given |= {"watch_for_s": watch_for, "stop_at_first": stop_at_first, "search_s": budget}
    given["verifies"] = not no_verify
    request = options.request(words, module, command, no_capture, **given)
    _start(TRIAGE, request, report, json, show_output=show_output, verbose=verbose)


def minify(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN|SCRIPT|PROGRAM",
            help="A run (r-…), a script, a minifier_launcher.py or an exported program (.pt2).",
        ),
    ],
    args: Annotated[list[str] | None, typer.Argument(metavar="[-- ARGS]...")] = None,
    engine: Annotated[str, typer.Option(help="own, or torch: PyTorch's own minifier.")] = "own",
    budget: Annotated[float, typer.Option(min=1, help="Seconds for the search.")] = 1800,
    candidates: Annotated[int, typer.Option(min=1, help="Maximum number of candidates.")] = 400,
    compare: Annotated[
        bool, typer.Option("--compare", help="If nothing fails, look for wrong values.")
    ] = False,
    python: options.Python = None,
    env: options.Env = None,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    trust: options.Trust = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Reduce a failing model to a small script that needs only torch and fails in the same way."""
    from aoti_debug.kinds import MINIFY
    from aoti_debug.minify.request import minify_request

    given = options.wanted(python, env, False, cwd, timeout, imports)
    given |= {"engine": engine, "budget_s": budget, "candidates": candidates, "compare": compare}
    request = minify_request(what, args=tuple(args or ()), trust=trust, **given)
    _start(MINIFY, request, report, json)


def verify(
    what: Annotated[
        str, typer.Argument(metavar="SCRIPT|PATCH", help="The fixed script, or a unified diff.")
    ],
    against: Annotated[str, typer.Option(help="The run of the failure, r-….")],
    args: Annotated[
        list[str] | None, typer.Argument(metavar="[-- ARGS]...", help="[default: the run's]")
    ] = None,
    seeds: Annotated[int, typer.Option(min=0, help="Sets of fresh inputs.")] = 3,
    python: options.Python = None,
    env: options.Env = None,
    compile_anew: options.CompileAnew = False,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    trust: options.Trust = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Check whether a fix works: fixed, moved, masked or not fixed, with the evidence."""
    from aoti_debug.kinds import VERIFY
    from aoti_debug.verify.request import verify_request

    given = options.wanted(python, env, compile_anew, cwd, timeout, imports)
    own = tuple(args) if args else None
    request = verify_request(what, against, args=own, seeds=seeds, trust=trust, **given)
    _start(VERIFY, request, report, json)


def _start(
    kind: Kind[R, A],
    request: R,
    report: Path | None,
    json: bool,
    *,
    show_output: bool = False,
    verbose: bool = True,
) -> NoReturn:
    from aoti_debug.commands.running import run_to_end

    check_report(report)
    answer = run_to_end(kind, request, show_output=show_output)
    finish(answer, as_json=json, report=report, verbose=verbose)
