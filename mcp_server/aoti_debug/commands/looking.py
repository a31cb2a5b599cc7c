"""The commands that answer at once, and the one that serves."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer

from aoti_debug import api
from aoti_debug.commands import options
from aoti_debug.commands.output import check_report, finish, write_text

T = TypeVar("T")


def environment(
    python: options.Python = None, env: options.Env = None, json: options.Json = False
) -> NoReturn:
    """Show what would break a run here: torch, triton, GPU, driver, compiler, tools."""
    finish(_await(lambda: api.environment(python, options.variables(env))), as_json=json)


def diagnose(
    log: Annotated[str, typer.Argument(help="A log file; - is standard input.")],
    report: options.Report = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> NoReturn:
    """Diagnose an error text or a log; runs nothing."""
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # to look for some takes long
    check_report(report)
    if log == "-":
        answer = api.diagnose_log(text=sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    else:
        answer = api.diagnose_log(path=log)
    finish(answer, as_json=json, report=report, verbose=verbose)


def inspect(
    package: Annotated[Path, typer.Argument(help="A .pt2, its directory, or a bare .so.")],
    python: options.Python = None,
    model: Annotated[str | None, typer.Option(help="Which of its models.")] = None,
    check_inputs: Annotated[
        Path | None,
        typer.Option(metavar="FILE.py", help="Write a check_inputs function in plain torch."),
    ] = None,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Show the content of a package and whether it will load here, without loading it."""
    check_report(report)
    answer = _await(lambda: api.inspect(str(package), python, model=model))
    if check_inputs is not None:
        write_text(check_inputs, _await(lambda: api.check_inputs(str(package), model)))
    finish(answer, as_json=json, report=report)


def explain(
    target: Annotated[str, typer.Argument(metavar="RUN|PACKAGE", help="A run's id, or a .pt2.")],
    kernel: Annotated[
        str | None,
        typer.Argument(help="Its name, the number of its launch, or a failed assertion's text."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Which of the package's models.")] = None,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Explain a kernel: source, arguments, bounds, the model's line, and why it failed."""
    check_report(report)
    finish(_await(lambda: api.explain(target, kernel, model)), as_json=json, report=report)


def artifact(
    run: Annotated[str, typer.Argument(help="The run's id, r-….")],
    name: Annotated[str, typer.Argument(help="A file of it, such as stderr.log.")],
    offset: Annotated[int, typer.Option(help="Lines to skip; negative: from the end.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Lines to show.")] = None,
    json: options.Json = False,
) -> None:
    """Page through a file of a run."""
    page = _await(lambda: api.artifact(run, name, offset, limit)).cleaned()
    if json:
        finish(page, as_json=True)
    typer.echo(page.text)
    if page.next_offset is not None:
        typer.echo(
            f"… continue with --offset {page.next_offset} of {page.total} {page.unit}", err=True
        )


def runs(json: options.Json = False) -> NoReturn:
    """List the runs that are kept."""
    finish(api.runs(), as_json=json)


def serve(
    http: Annotated[str, typer.Option(metavar="HOST:PORT", help="HTTP instead of stdio.")] = "",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines run programs here.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Bearer tokens over HTTP, one a line [default: $AOTI_DEBUG_TOKEN]."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A host name by which clients reach this machine; repeatable."),
    ] = None,
) -> None:
    """Serve the tools over MCP: over stdio, or over HTTP."""
    from aoti_debug.server import for_process
    from aoti_debug.server import serve as serve_stdio

    if not http:
        serve_stdio(for_process())
        return
    from aoti_debug.web import serve_http

    serve_http(
        for_process(), http, allow_remote=allow_remote, token_file=token_file, names=name or ()
    )


def _await(work: Callable[[], Awaitable[T]]) -> T:
    import anyio  # not needed by what only reads a text, which starts faster

    return anyio.run(work)
