"""The commands and their arguments."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Awaitable, Callable
from copy import copy
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from typer.models import CommandInfo

from aoti_debug import __version__
from aoti_debug.commands import options
from aoti_debug.commands.options import TargetCommand, TargetWords
from aoti_debug.commands.output import (
    NOT_DONE,
    WRONG_USE,
    check_report,
    delivering,
    fail,
    finish,
    write_text,
)
from aoti_debug.commands.sweep import sweep
from aoti_debug.errors import AotiDebugError, refused_by_system
from aoti_debug.facts.stages import STAGES
from aoti_debug.kinds import TRIAGE, A, Kind, R, stage_kind

app = typer.Typer(
    name="aoti-debug",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Find the fault in a PyTorch model compiled ahead of time (AOTInductor).",
    epilog="Exit status: 0 no fault, 1 a fault was found, 2 wrong use, 3 could not be done.",
)
_STAGES = ", ".join(STAGES)
T = TypeVar("T")


def run(argv: list[str]) -> int:
    """Run a command; return its exit status."""
    with delivering():
        return _run_words(_split(argv))


def _run_words(words: list[str]) -> int:
    as_json = "--json" in _ours(words)
    try:
        _with_called(words)(args=words, prog_name="aoti-debug")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else WRONG_USE
    except AotiDebugError as error:
        return fail(error, as_json=as_json)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, OSError) and (refused := refused_by_system(error)):
            return fail(refused, as_json=as_json)
        traceback.print_exc()  # a fault of ours; Python's status for it would mean a fault found
    return NOT_DONE


def _with_called(words: list[str]) -> typer.Typer:
    """Return the app with the one command that is called: reading the arguments of all is slow."""
    called = [c for c in app.registered_commands if _name(c) in words[:1]]
    only = copy(app)
    only.registered_commands = called or app.registered_commands
    return only


def _name(command: CommandInfo) -> str | None:
    return command.name or (command.callback.__name__ if command.callback else None)


def _split(argv: list[str]) -> list[str]:
    """Let everything behind --command belong to the command, options too."""
    if "--command" not in _ours(argv) or argv[:1] not in (["run"], ["triage"]):
        return argv
    at = argv.index("--command") + 1
    return argv if argv[at : at + 1] == ["--"] else [*argv[:at], "--", *argv[at:]]


def _ours(argv: list[str]) -> list[str]:
    return argv[: argv.index("--")] if "--" in argv else argv


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aoti-debug {__version__}")
        raise typer.Exit()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    pass


@app.command()
def environment(
    python: options.Python = None, env: options.Env = None, json: options.Json = False
) -> NoReturn:
    """Say what would break a run here: torch, triton, GPU, driver, compiler, tools."""
    from aoti_debug import api

    given = options.variables(env)
    finish(_await(lambda: api.environment(python, given)), as_json=json)


@app.command()
def diagnose(
    log: Annotated[str, typer.Argument(help="A log file; - is standard input.")],
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Diagnose an error text or a log; runs nothing."""
    from aoti_debug import api

    check_report(report)
    if log == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        answer = api.diagnose_log(text=text)
    else:
        answer = api.diagnose_log(path=log)
    finish(answer, as_json=json, report=report)


@app.command()
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
    """Say what a package holds and whether it will load here, without loading it."""
    from aoti_debug import api

    check_report(report)
    answer = _await(lambda: api.inspect(str(package), python, model=model))
    if check_inputs is not None:
        source = _await(lambda: api.check_inputs(str(package), model))
        write_text(check_inputs, source)
    finish(answer, as_json=json, report=report)


@app.command()
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
    """Say what a kernel is: source, arguments, bounds, the model's line; and why it failed."""
    from aoti_debug import api

    check_report(report)
    finish(_await(lambda: api.explain(target, kernel, model)), as_json=json, report=report)


@app.command("run", cls=TargetCommand)
def run_stage(
    words: options.Words = None,
    stage: Annotated[str, typer.Option(help=f"One of: {_STAGES}.")] = "baseline",
    module: options.Module = None,
    command: options.IsCommand = False,
    python: options.Python = None,
    env: options.Env = None,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    no_capture: options.NoCapture = False,
    imports: options.Imports = None,
    kernels: options.Kernels = None,
    show_output: options.ShowOutput = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Run a script once with the debug flags of one stage; say what they showed."""
    kind = stage_kind(stage)
    target = TargetWords(
        tuple(words or ()),
        module,
        command,
        python,
        tuple(env or ()),
        str(cwd) if cwd else None,
        timeout,
        not no_capture,
        tuple(imports or ()),
        tuple(kernels or ()),
    )
    _run(target, kind, show_output, report, json)


@app.command(cls=TargetCommand)
def triage(
    words: options.Words = None,
    module: options.Module = None,
    command: options.IsCommand = False,
    python: options.Python = None,
    env: options.Env = None,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    watch_for: options.WatchFor = None,
    no_capture: options.NoCapture = False,
    imports: options.Imports = None,
    budget: options.Budget = None,
    show_output: options.ShowOutput = False,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Find out why a script fails: run it, then what its failure calls for."""
    target = TargetWords(
        tuple(words or ()),
        module,
        command,
        python,
        tuple(env or ()),
        str(cwd) if cwd else None,
        timeout,
        not no_capture,
        tuple(imports or ()),
        watch_for_s=watch_for,
        search_s=budget,
    )
    _run(target, TRIAGE, show_output, report, json)


@app.command()
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
    budget: Annotated[float, typer.Option(min=1, help="Seconds that the search may take.")] = 1800,
    candidates: Annotated[int, typer.Option(min=1, help="How many it may try.")] = 400,
    compare: Annotated[
        bool, typer.Option("--compare", help="Where nothing fails, look for wrong values.")
    ] = False,
    python: options.Python = None,
    env: options.Env = None,
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Reduce a failing model to a small script that needs torch alone and fails alike."""
    from aoti_debug.kinds import MINIFY
    from aoti_debug.minify.request import minify_request

    request = minify_request(
        what,
        args=tuple(args or ()),
        python=python,
        env=options.variables(env),
        cwd=cwd,
        timeout_s=timeout,
        imports=tuple(imports or ()),
        engine=engine,
        budget_s=budget,
        candidates=candidates,
        compare=compare,
    )
    _start(MINIFY, request, report, json)


@app.command()
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
    cwd: options.Cwd = None,
    timeout: options.Timeout = 900,
    imports: options.Imports = None,
    report: options.Report = None,
    json: options.Json = False,
) -> NoReturn:
    """Tell whether a fix is one: fixed, moved, masked or not fixed, and what shows it."""
    from aoti_debug.kinds import VERIFY
    from aoti_debug.verify.request import verify_request

    request = verify_request(
        what,
        against,
        args=tuple(args) if args else None,
        python=python,
        env=options.variables(env),
        cwd=cwd,
        timeout_s=timeout,
        imports=tuple(imports or ()),
        seeds=seeds,
    )
    _start(VERIFY, request, report, json)


app.command()(sweep)


@app.command()
def artifact(
    run: Annotated[str, typer.Argument(help="The run's id, r-….")],
    name: Annotated[str, typer.Argument(help="A file of it, such as stderr.log.")],
    offset: Annotated[int, typer.Option(help="Lines to skip; negative: from the end.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Lines to show.")] = None,
    json: options.Json = False,
) -> None:
    """Page through a file that a run left."""
    from aoti_debug import api

    page = _await(lambda: api.artifact(run, name, offset, limit)).cleaned()
    if json:
        finish(page, as_json=True)
    typer.echo(page.text)
    if page.next_offset is not None:
        typer.echo(f"… --offset {page.next_offset} goes on, of {page.total} {page.unit}", err=True)


@app.command()
def runs(json: options.Json = False) -> NoReturn:
    """List the runs that are kept."""
    from aoti_debug import api

    finish(api.runs(), as_json=json)


@app.command()
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
        typer.Option(help="What clients call this machine, as in its URL; repeatable."),
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


def _start(
    kind: Kind[R, A], request: R, report: Path | None, json: bool, *, show_output: bool = False
) -> NoReturn:
    from aoti_debug.commands.running import Ended, run_to_end

    check_report(report)
    try:
        answer = run_to_end(kind, request, show_output=show_output)
    except Ended as ended:
        raise typer.Exit(ended.exit_status) from None
    finish(answer, as_json=json, report=report)


def _run(
    target: TargetWords, kind: Kind[Any, Any], show_output: bool, report: Path | None, json: bool
) -> NoReturn:
    check_report(report)
    _start(kind, target.request(), report, json, show_output=show_output)
