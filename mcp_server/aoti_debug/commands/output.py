"""Print answers and errors, for people or as one JSON document, and choose the exit status."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeVar

import typer

from aoti_debug.errors import AotiDebugError, WrongUse
from aoti_debug.model import DiagnoseAnswer, Model
from aoti_debug.plain import clean

if TYPE_CHECKING:
    from aoti_debug.report.text import Outline

NO_FAULT, FAULT, WRONG_USE, NOT_DONE = range(4)
T = TypeVar("T")


class NotDelivered(AotiDebugError):
    """Who waits for the answer has not got it."""


# What a CI runner takes for its own command where a line begins with it; a log may hold it.
_COMMAND = re.compile(r"^[^\S\n]*(?=::)|##(?=\[|vso\[|teamcity\[)", re.MULTILINE)


class _Delivered:
    def __init__(self, stream: Any, nowhere: TextIO) -> None:
        self._stream = stream
        self._nowhere = nowhere

    def write(self, text: str) -> int:
        quoted = _COMMAND.sub("\\g<0>\u200b", text) if "CI" in os.environ else text
        return self._do(lambda: int(self._stream.write(quoted)))

    def flush(self) -> None:
        self._do(self._stream.flush)

    def _do(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except OSError as error:
            failed, self._stream = self._stream, self._nowhere
            # What waits to be written at the end of the process finds no error either.
            os.dup2(self._nowhere.fileno(), failed.fileno())
            why = error.strerror or "it is closed"
            raise NotDelivered(f"standard output takes no answer: {why}") from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def delivering() -> Iterator[None]:
    """Have standard output raise NotDelivered, also where the process began without one."""
    out, err = sys.stdout, sys.stderr
    with Path(os.devnull).open() as closed, Path(os.devnull).open("w") as nowhere:
        for stream in filter(None, (out, err)):
            stream.reconfigure(errors="backslashreplace")
        sys.stdout, sys.stderr = _Delivered(out or closed, nowhere), err or nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err


WIDE = 1_000  # columns of what is no terminal: a path or a command is never broken


def finish(
    answer: Model, *, as_json: bool, report: Path | None = None, verbose: bool = True
) -> NoReturn:
    """Print the answer, write the report if one is wanted, exit with the answer's status."""
    answer = answer.cleaned()
    if report is not None:
        _write_report(answer, report)
    if as_json and verbose:
        print_json(answer.document())
    elif as_json:
        from aoti_debug.report.short import compact, short_document

        sys.stdout.write(compact(short_document(answer)) + "\n")
        sys.stdout.flush()
    else:
        _print(answer, verbose)
    raise typer.Exit({True: FAULT, False: NO_FAULT, None: NOT_DONE}[answer.found_fault])


def _print(answer: Model, verbose: bool) -> None:
    from rich.console import Console

    from aoti_debug.report.short import shortened
    from aoti_debug.report.terminal import print_outline
    from aoti_debug.report.text import on_one_screen

    outline = _outline(answer) if verbose else on_one_screen(_outline(shortened(answer)))
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        print_outline(outline, Console())
        return
    text = io.StringIO()
    print_outline(outline, Console(file=text, width=WIDE))
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def print_json(document: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def fail(error: AotiDebugError, *, as_json: bool) -> int:
    """Say what was wrong and what to do instead; return the exit status."""
    message = clean(str(error.args[0]))
    help = clean(error.command_help or error.help)
    if as_json:
        print_json({"error": message, "help": help})
    sys.stderr.write(f"aoti-debug: {message}\n")
    if help:
        sys.stderr.write(f"{help}\n")
    return error.exit_status


def check_report(report: Path | None) -> None:
    """Raise WrongUse for a report that is not .md or .html or has no directory, before any run."""
    if report is None:
        return
    if report.suffix not in (".md", ".html"):
        raise WrongUse(f"no report can be written as {report.name}", help="Name it *.md or *.html.")
    if not report.absolute().parent.is_dir():
        raise WrongUse(f"there is no directory {report.parent}", help="Make it first.")


def _outline(answer: Model) -> Outline:
    if isinstance(answer, DiagnoseAnswer):  # a log is read without the types of other answers
        from aoti_debug.report.diagnosis import outline_log

        return outline_log(answer)
    from aoti_debug.report.answers import outline

    return outline(answer)


def _write_report(answer: Model, report: Path) -> None:
    if report.suffix == ".html":
        from aoti_debug.report.examined import memory_plots
        from aoti_debug.report.html import diagnosis_plots, html
        from aoti_debug.report.recorded import of_answer
        from aoti_debug.report.time import time_plots

        plots = diagnosis_plots(getattr(answer, "diagnosis", None))
        plots += time_plots(getattr(answer, "time", None)) + memory_plots(answer)
        write_text(report, html(_outline(answer), of_answer(answer), plots))
    else:
        from aoti_debug.report.text import markdown

        write_text(report, markdown(_outline(answer)))


def write_text(path: Path, text: str) -> None:
    """Write a file that the user named and say so on stderr; raise AotiDebugError."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise AotiDebugError(f"cannot write {path}: not a regular file")
        path.write_text(clean(text), "utf-8")
    except OSError as error:
        raise AotiDebugError(f"cannot write {path}: {error.strerror}") from error
    sys.stderr.write(f"written: {path}\n")
