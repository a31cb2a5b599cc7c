"""The commands that look into a package that exists: values, time, weights, memory, graphs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from aoti_debug.commands import options
from aoti_debug.commands.options import Started

Package = Annotated[str, typer.Argument(metavar="PACKAGE|RUN", help="A .pt2, or a run (r-…).")]


@options.with_options
def _of_package(
    resolve: options.Resolve,
    inputs: Annotated[
        Path | None, typer.Option(help="Inputs of a call: torch.save((args, kwargs), FILE).")
    ] = None,
    exported: Annotated[
        Path | None, typer.Option(help="The exported program, to compare with.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Which of the package's models.")] = None,
    **own: Any,
) -> Started:
    return resolve(**own, inputs=inputs, exported=exported, model=model)


def examines(resolve: options.Resolve) -> Callable[..., NoReturn]:
    """Make a command of what resolves the request of an examination."""
    return options.starts(_of_package(resolve))


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
) -> Started:
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
) -> Started:
    """Time a call, a load and a compile, part by part; say why a call is slow."""
    from aoti_debug.examine.time import time_request
    from aoti_debug.kinds import stage_kind

    return stage_kind("time"), time_request(what, args=tuple(args or ()), against=against, **given)


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
) -> Started:
    """Check an update of weights: run its steps, read each constant back, compare outputs."""
    from aoti_debug.examine.weights import weights_request
    from aoti_debug.kinds import WEIGHTS

    return WEIGHTS, weights_request(package, new, steps=sequence, run=run, threads=threads, **given)


@examines
def memory(
    package: Package,
    runners: Annotated[int, typer.Option(min=1, help="Runners, each called by a thread.")] = 1,
    **given: Any,
) -> Started:
    """Show what owns the memory at a call's peak, what grows and how many runners fit."""
    from aoti_debug.examine.memory import memory_request
    from aoti_debug.kinds import MEMORY

    return MEMORY, memory_request(package, runners=runners, **given)


@examines
def graphs(package: Package, **given: Any) -> Started:
    """Check whether CUDA graphs can capture a package's calls; capture one if there is a GPU."""
    from aoti_debug.examine.process import examine_request
    from aoti_debug.kinds import GRAPHS

    return GRAPHS, examine_request(package, **given)
