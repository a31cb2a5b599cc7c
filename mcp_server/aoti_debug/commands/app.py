"""The command line: its commands, and how it ends."""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Annotated

import typer

from aoti_debug import __version__
from aoti_debug.commands.options import TargetCommand
from aoti_debug.commands.output import NOT_DONE, WRONG_USE, delivering, fail
from aoti_debug.errors import AotiDebugError, refused_by_system

app = typer.Typer(
    name="aoti-debug",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Find the fault in a PyTorch model compiled ahead of time (AOTInductor).",
    epilog="Exit status: 0 no fault, 1 a fault was found, 2 wrong use, 3 could not be done.",
)
# Which module holds a command; in the order in which --help lists them.
_COMMANDS = {
    "environment": "looking",
    "diagnose": "looking",
    "inspect": "looking",
    "explain": "looking",
    "run": "starting",
    "triage": "starting",
    "time": "examining",
    "weights": "examining",
    "memory": "examining",
    "graphs": "examining",
    "minify": "starting",
    "verify": "starting",
    "values": "examining",
    "sweep": "sweep",
    "artifact": "looking",
    "runs": "looking",
    "serve": "looking",
}
_OF_TARGETS = ("run", "triage")
_OF_TOOLS = {  # an agent may know a command by the name of its tool
    "check_environment": "environment",
    "diagnose_log": "diagnose",
    "inspect_package": "inspect",
    "explain_kernel": "explain",
    "run_stage": "run",
    "verify_fix": "verify",
    "read_artifact": "artifact",
}


def run(argv: list[str]) -> int:
    with delivering():
        first = [_OF_TOOLS.get(word, word) for word in argv[:1]]
        return _run_words(_split([*first, *argv[1:]]))


def _run_words(words: list[str]) -> int:
    as_json = "--json" in _ours(words)
    try:
        with_commands(words)(args=words, prog_name="aoti-debug")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else WRONG_USE
    except AotiDebugError as error:
        return fail(error, as_json=as_json)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, OSError) and (refused := refused_by_system(error)):
            return fail(refused, as_json=as_json)
        import traceback

        traceback.print_exc()  # a fault of ours; Python's status for it would mean a fault found
    return NOT_DONE


def with_commands(words: list[str]) -> typer.Typer:
    """Return the app with the called command, or with all of them, which is slow."""
    called = copy(app)
    called.registered_commands = []
    for name in [word for word in words[:1] if word in _COMMANDS] or _COMMANDS:
        module = import_module(f"aoti_debug.commands.{_COMMANDS[name]}")
        cls = TargetCommand if name in _OF_TARGETS else None
        called.command(name, cls=cls)(getattr(module, name))
    return called


def _split(argv: list[str]) -> list[str]:
    """Let everything behind --command belong to the command, options too."""
    if "--command" not in _ours(argv) or argv[:1] not in [[name] for name in _OF_TARGETS]:
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
