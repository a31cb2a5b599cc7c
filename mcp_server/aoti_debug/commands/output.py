"""Print answers and errors: for people, or one JSON document on standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

import typer

from aoti_debug.commands.status import status_of
from aoti_debug.errors import AotiDebugError, WrongUse
from aoti_debug.model import Model
from aoti_debug.plain import clean

REPORTS = (".md", ".html")


def finish(answer: Model, *, as_json: bool, report: Path | None = None) -> NoReturn:
    """Print the answer, write the report if one is wanted, exit with the answer's status."""
    answer = answer.cleaned()
    if report is not None:
        _write_report(answer, report)
    if as_json:
        print_json(answer.document())
    else:
        from rich.console import Console

        from aoti_debug.report.answers import outline
        from aoti_debug.report.text import print_outline

        print_outline(outline(answer), Console())
    raise typer.Exit(status_of(answer))


def print_json(document: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def fail(error: AotiDebugError, *, as_json: bool) -> int:
    """Say what was wrong and what to do instead; return the exit status."""
    message = clean(str(error.args[0]) if error.args else type(error).__name__)
    help = clean(error.command_help or error.help)
    if as_json:
        print_json({"error": message, "help": help})
    sys.stderr.write(f"aoti-debug: {message}\n")
    if help:
        sys.stderr.write(f"{help}\n")
    return error.exit_status


def check_report(report: Path | None) -> None:
    """Refuse a report that could not be written before anything is run.

    Raises:
        WrongUse: not .md or .html, or no such directory.
    """
    if report is None:
        return
    if report.suffix not in REPORTS:
        raise WrongUse(f"no report can be written as {report.name}", help="Name it *.md or *.html.")
    if not report.absolute().parent.is_dir():
        raise WrongUse(f"there is no directory {report.parent}", help="Make it first.")


def _write_report(answer: Model, report: Path) -> None:
    from aoti_debug.report.answers import outline

    if report.suffix == ".html":
        from aoti_debug.report.html import html
        from aoti_debug.report.recorded import of_answer

        write_text(report, html(outline(answer), of_answer(answer)))
    else:
        from aoti_debug.report.markdown import markdown

        write_text(report, markdown(outline(answer)))


def write_text(path: Path, text: str) -> None:
    """Write a file that the user has named, and say so on standard error.

    Raises:
        AotiDebugError: it cannot be written.
    """
    try:
        path.write_text(clean(text), "utf-8")
    except OSError as error:
        raise AotiDebugError(f"cannot write {path}: {error.strerror}") from error
    sys.stderr.write(f"written: {path}\n")
