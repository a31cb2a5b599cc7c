"""The commands that start a run and wait for its end."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from aoti_debug.commands import options
from aoti_debug.commands.options import Started, starts, starts_target
from aoti_debug.errors import WrongUse
from aoti_debug.facts.stages import STAGES

_STAGES = ", ".join(STAGES)


@starts_target
def run(
    stage: Annotated[str, typer.Option(help=f"One of: {_STAGES}.")] = "baseline",
    kernels: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            metavar="NAME",
            help="Stage values: print this kernel's tensors only, the name as kernel_names shows "
            "it; repeatable.",
        ),
    ] = None,
) -> Started:
    """Run a script once with the debug flags of one stage; show their findings."""
    from aoti_debug.kinds import stage_kind

    return stage_kind(stage), {"kernels": tuple(kernels or ())}


@starts_target
def triage(
    watch_for: Annotated[
        float | None,
        typer.Option(min=1, help="Stop after so many seconds, then diagnose."),
    ] = None,
    stop_at_first: Annotated[
        bool,
        typer.Option(
            "--stop-at-first", help="Stop the script at its first bad call and diagnose it."
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Time for compiles that search the first wrong value [default: one compile].",
        ),
    ] = None,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Do not verify the patch that the answer proposes.")
    ] = False,
    verbose: options.Verbose = False,
) -> Started:
    """Find out why a script fails: run it, then run only the checks that fit the failure."""
    from aoti_debug.kinds import TRIAGE

    more = {"watch_for_s": watch_for, "stop_at_first": stop_at_first, "search_s": budget}
    return TRIAGE, {**more, "verifies": not no_verify, "verbose": verbose}


@starts
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
    **given: Any,
) -> Started:
    """Reduce a failing model to a small script that needs only torch and fails in the same way."""
    from aoti_debug.kinds import MINIFY
    from aoti_debug.minify.request import minify_request

    given |= {"engine": engine, "budget_s": budget, "candidates": candidates, "compare": compare}
    return MINIFY, minify_request(what, args=tuple(args or ()), **given)


@starts
def verify(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT|PATCH|RUN",
            help="The fixed script, a unified diff, or the run whose script you have changed.",
        ),
    ],
    args: Annotated[
        list[str] | None, typer.Argument(metavar="[-- ARGS]...", help="[default: the run's]")
    ] = None,
    against: Annotated[
        str, typer.Option(help="The run of the failure, r-….", show_default="RUN")
    ] = "",
    seeds: Annotated[int, typer.Option(min=0, help="Sets of fresh inputs.")] = 3,
    compile_anew: options.CompileAnew = False,
    **given: Any,
) -> Started:
    """Check whether a fix works: fixed, moved, masked or not fixed, with the evidence."""
    from aoti_debug.kinds import VERIFY
    from aoti_debug.verify.request import verify_request

    given["env"] |= options.variables(None, compile_anew)
    own = tuple(args) if args else None
    if not against and not what.startswith("r-"):
        raise WrongUse(
            "a fix is held against a run of its failure",
            help="Name it: --against r-…; `aoti-debug runs` lists the runs that are kept.",
        )
    return VERIFY, verify_request(what, against or what, args=own, seeds=seeds, **given)
