"""Options that several commands take, and what the command line says about the target."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from aoti_debug.commands.output import check_report, finish
from aoti_debug.errors import WrongUse

_HINT = "The target's own options go after --, as in: SCRIPT -- ARGS, or: -m MODULE -- ARGS."


class TargetCommand(TyperCommand):
    """Say of an unknown option where the target's options go."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # typer brings its own copy of click, or takes the installed one, by its version
            if type(error).__name__ == "NoSuchOption":
                error.message = f"{error.message}. {_HINT}"  # type: ignore[attr-defined]
            raise


Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also show node values, index code, steps and files."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON; --verbose prints the full answer.")]
Report = Annotated[
    Path | None, typer.Option("--report", help="Also write a report: *.md or *.html.")
]
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        help="Interpreter that has your torch [default: $AOTI_DEBUG_PYTHON, else the first "
        "that has torch: active environment, project, python3].",
    ),
]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="K=V", help="Environment variable; repeatable."),
]
CompileAnew = Annotated[
    bool,
    typer.Option("--compile-anew", help="Do not reuse packages that earlier runs compiled."),
]
Cwd = Annotated[Path | None, typer.Option("--cwd", help="Working directory of the script.")]
Timeout = Annotated[
    float, typer.Option("--timeout", min=1, help="Stop the script after this many seconds.")
]
Imports = Annotated[
    list[str] | None,
    typer.Option("--import", metavar="MODULE", help="Module with your custom ops; repeatable."),
]

Started = tuple[Any, Any]  # a kind of run, and the request of one
Resolve = Callable[..., Started]


def with_options(shared: Callable[..., Any]) -> Callable[[Resolve], Callable[..., Any]]:
    """Return a decorator that adds the options of `shared`, which calls the function."""

    def made(resolve: Resolve) -> Callable[..., Any]:
        def run(**given: Any) -> Any:
            return shared(resolve, **given)

        (_, *more) = inspect.signature(shared, eval_str=True).parameters.values()
        own = inspect.signature(resolve, eval_str=True).parameters.values()
        both = [one for one in (*own, *more) if one.kind is not one.VAR_KEYWORD]
        run = wraps(resolve)(run)
        run.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in both}
        return run

    return made


@with_options
def starts(
    resolve: Resolve,
    python: Python = None,
    env: Env = None,
    cwd: Cwd = None,
    timeout: Timeout = 900,
    imports: Imports = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Load programs whose weights are pickles: these can run code."
        ),
    ] = False,
    report: Report = None,
    json: Json = False,
    **own: Any,
) -> NoReturn:
    from aoti_debug.commands.running import run_to_end

    check_report(report)
    own |= wanted(python, env, False, cwd, timeout, imports)
    finish(run_to_end(*resolve(**own, trust=trust)), as_json=json, report=report)


@with_options
def starts_target(
    resolve: Resolve,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCRIPT [-- ARGS]...", help="The script and its arguments."),
    ] = None,
    module: Annotated[
        str | None, typer.Option("-m", "--module", help="Run a module, as python -m does.")
    ] = None,
    command: Annotated[
        bool,
        typer.Option("--command", help="Run the rest of the line as a program."),
    ] = False,
    python: Python = None,
    env: Env = None,
    compile_anew: CompileAnew = False,
    cwd: Cwd = None,
    timeout: Timeout = 900,
    no_capture: Annotated[
        bool,
        typer.Option("--no-capture", help="Keep no packages or inputs: calls cannot be replayed."),
    ] = False,
    imports: Imports = None,
    show_output: Annotated[
        bool, typer.Option("--show-output", help="Show the script's output on standard error.")
    ] = False,
    report: Report = None,
    json: Json = False,
    **own: Any,
) -> NoReturn:
    """Resolve a target and its run, start it, and show the answer. Raise WrongUse, TargetNotFound
    or NoInterpreter."""
    from aoti_debug import api
    from aoti_debug.commands.running import run_to_end

    check_report(report)
    if module and command:
        raise WrongUse("--module and --command exclude each other")
    words = words or []
    named = not (module or command)
    kind, more = resolve(**own)
    verbose = more.pop("verbose", True)  # the answer of a triage has a short form
    request = api.request(
        script=words[0] if words and named else None,
        module=module,
        command=words if command else None,
        args=() if command else words[named:],
        capture=not no_capture,
        **wanted(python, env, compile_anew, cwd, timeout, imports),
        **more,
    )
    answer = run_to_end(kind, request, show_output=show_output)
    finish(answer, as_json=json, report=report, verbose=verbose)


def variables(env: list[str] | None, compile_anew: bool = False) -> dict[str, str]:
    """Return K=V words as a mapping, with the variable against reuse; raise WrongUse for others."""
    pairs = [word.partition("=") for word in env or ()]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise WrongUse(f"--env {name!r} is not K=V")
    anew = {"AOTI_DEBUG_COMPILE_ANEW": "1"} if compile_anew else {}
    return {**{name: value for name, _, value in pairs}, **anew}


def wanted(
    python: str | None,
    env: list[str] | None,
    compile_anew: bool,
    cwd: Path | None,
    timeout: float,
    imports: list[str] | None,
) -> dict[str, Any]:
    """Return the options of every run as the requests name them; raise WrongUse."""
    return {
        "python": python,
        "env": variables(env, compile_anew),
        "cwd": cwd,
        "timeout_s": timeout,
        "imports": tuple(imports or ()),
    }
