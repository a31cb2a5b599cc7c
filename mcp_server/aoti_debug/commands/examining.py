"""The commands that look into a package that exists: values, time, weights, memory, graphs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from aoti_debug.commands import options
from aoti_debug.commands.output import check_report, finish

Examination = tuple[Any, Any]  # a kind of run, and the request of one
Package = Annotated[str, typer.Argument(metavar="PACKAGE|RUN", help="A .pt2, or a run (r-…).")]


def examines(command: Callable[..., Examination]) -> Callable[..., NoReturn]:
    """Make a command of what resolves its request; it takes what they all take, too."""

    def taken(
        inputs: options.Inputs = None,
        exported: Annotated[
            Path | None, typer.Option(help="The exported program, to compare with.")
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
        **own: Any,
    ) -> NoReturn:
        from aoti_debug.commands.running import run_to_end

        check_report(report)
        own |= options.wanted(python, env, False, cwd, timeout, imports)
        own |= {"inputs": inputs, "exported": exported, "model": model, "trust": trust}
        finish(run_to_end(*command(**own)), as_json=json, report=report)

    names = [inspect.signature(one, eval_str=True).parameters for one in (command, taken)]
    both = [one for each in names for one in each.values() if one.kind is not one.VAR_KEYWORD]
    run = wraps(command)(taken)
    run.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in both}
    return run


@examines
def values(
    what: Package,
    kernel: Annotated[
        str | None, typer.Option(help="Show and keep all it reads and writes: name or number.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="PACKAGE2", help="A package to compare with instead.")
    ] = None,
    **given: Any,
) -> Examination:
    """Show what each kernel of a package read and wrote in one call, and which is wrong first."""
    from aoti_debug.examine.values import values_request
    from aoti_debug.kinds import VALUES

    return VALUES, values_request(what, kernel=kernel, against=against, **given)


@examines
def time(
    what: Annotated[
        str, typer.Argument(metavar="PACKAGE|RUN|SCRIPT", help="A .pt2, a run (r-…) or a script.")
    ],
    args: Annotated[list[str] | None, typer.Argument(metavar="[-- ARGS]...")] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="PACKAGE2|eager|compile", help="What to compare the calls with."),
    ] = None,
    **given: Any,
) -> Examination:
    """Find out where the time of a call, a load and a compile goes, and why a call is slow."""
    from aoti_debug.examine.time import time_request
    from aoti_debug.kinds import stage_kind

    request = time_request(what, args=tuple(args or ()), against=against, **given)
    return stage_kind("time"), request


@examines
def weights(
    package: Package,
    new: Annotated[
        Path | None, typer.Argument(help="The new weights: a state dict of torch.save.")
    ] = None,
    sequence: Annotated[
        str | None,
        typer.Option(
            help="full, partial, inactive, user-managed, or steps: 'load-inactive:fc.weight, swap, "
            "call' [default: full, or what the run did]."
        ),
    ] = None,
    run: Annotated[str | None, typer.Option(help="A run whose steps are played.")] = None,
    threads: Annotated[int, typer.Option(min=0, help="That call while weights change.")] = 0,
    **given: Any,
) -> Examination:
    """Prove an update of weights: play its steps, read each constant back, compare outputs."""
    from aoti_debug.examine.weights import weights_request
    from aoti_debug.kinds import WEIGHTS

    request = weights_request(package, new, steps=sequence, run=run, threads=threads, **given)
    return WEIGHTS, request


@examines
def memory(
    package: Package,
    runners: Annotated[int, typer.Option(min=1, help="Runners, each called by a thread.")] = 1,
    **given: Any,
) -> Examination:
    """Give every byte at the peak of a call an owner; say what grows and how many runners fit."""
    from aoti_debug.examine.memory import memory_request
    from aoti_debug.kinds import MEMORY

    return MEMORY, memory_request(package, runners=runners, **given)


@examines
def graphs(package: Package, **given: Any) -> Examination:
    """Say whether a CUDA graph can hold a package's calls; capture one where there is a GPU."""
    from aoti_debug.examine.process import examine_request
    from aoti_debug.kinds import GRAPHS

    return GRAPHS, examine_request(package, **given)
