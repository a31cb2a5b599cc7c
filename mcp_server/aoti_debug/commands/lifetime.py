"""The commands about a package in a server's life: new weights, memory, CUDA graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from aoti_debug.commands import options
from aoti_debug.commands.output import check_report, finish

Package = Annotated[str, typer.Argument(metavar="PACKAGE|RUN", help="A .pt2, or a run's id.")]
Exported = Annotated[
    Path | None, typer.Option(help="The exported program, which says what is right.")
]


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
    inputs: options.Inputs = None,
    exported: Exported = None,
    model: options.Model = None,
    python: options.Python = None,
    env: options.Env = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    trust: options.Trust = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Prove an update of weights: play its steps, read each constant back, compare outputs."""
    from aoti_debug.commands.running import run_to_end
    from aoti_debug.examine.weights import weights_request
    from aoti_debug.kinds import WEIGHTS

    check_report(report)
    given = options.wanted(python, env, False, None, timeout, imports)
    given |= {"inputs": inputs, "exported": exported, "model": model, "trust": trust}
    request = weights_request(package, new, steps=sequence, run=run, threads=threads, **given)
    finish(run_to_end(WEIGHTS, request), as_json=json, report=report)


def memory(
    package: Package,
    inputs: options.Inputs = None,
    exported: Exported = None,
    runners: Annotated[int, typer.Option(min=1, help="Runners, each called by a thread.")] = 1,
    model: options.Model = None,
    python: options.Python = None,
    env: options.Env = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    trust: options.Trust = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Give every byte at the peak of a call an owner; say what grows and how many runners fit."""
    from aoti_debug.commands.running import run_to_end
    from aoti_debug.examine.memory import memory_request
    from aoti_debug.kinds import MEMORY

    check_report(report)
    given = options.wanted(python, env, False, None, timeout, imports)
    given |= {"inputs": inputs, "exported": exported, "model": model, "trust": trust}
    request = memory_request(package, runners=runners, **given)
    finish(run_to_end(MEMORY, request), as_json=json, report=report)


def graphs(
    package: Package,
    inputs: options.Inputs = None,
    exported: Exported = None,
    model: options.Model = None,
    python: options.Python = None,
    env: options.Env = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    trust: options.Trust = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Say whether a CUDA graph can hold a package's calls; capture one where there is a GPU."""
    from aoti_debug.commands.running import run_to_end
    from aoti_debug.examine.graphs import graphs_request
    from aoti_debug.kinds import GRAPHS

    check_report(report)
    given = options.wanted(python, env, False, None, timeout, imports)
    given |= {"inputs": inputs, "exported": exported, "model": model, "trust": trust}
    finish(run_to_end(GRAPHS, graphs_request(package, **given)), as_json=json, report=report)
