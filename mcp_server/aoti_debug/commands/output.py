"""Print answers and errors, for people or as one JSON document, and choose the exit status."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import singledispatch
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar

import typer

from aoti_debug.errors import AotiDebugError, WrongUse
from aoti_debug.model import (
    DiagnoseAnswer,
    Diagnosis,
    ExplainAnswer,
    MinifyAnswer,
    Model,
    StageAnswer,
    TriageAnswer,
    VerifyAnswer,
)
from aoti_debug.plain import clean
from aoti_debug.report.diagnosis import NOT_FAULTS
from aoti_debug.sweep.answer import BisectAnswer, SweepAnswer

NO_FAULT, FAULT, WRONG_USE, NOT_DONE = range(4)


@singledispatch
def status_of(answer: Model) -> int:
    """Return 1 if the answer says that something is broken, 3 if it is not known, else 0."""
    problems = getattr(answer, "problems", [])
    return FAULT if any(problem.severity == "breaks" for problem in problems) else NO_FAULT


@status_of.register
def _(answer: Diagnosis) -> int:
    return NO_FAULT if answer.category in NOT_FAULTS else FAULT


@status_of.register
def _(answer: ExplainAnswer) -> int:
    return FAULT if answer.category is not None else NO_FAULT


@status_of.register
def _(answer: DiagnoseAnswer) -> int:
    return status_of(answer.diagnoses[0]) if answer.diagnoses else NO_FAULT


@status_of.register(StageAnswer)
@status_of.register(TriageAnswer)
def _(answer: StageAnswer | TriageAnswer) -> int:
    if answer.diagnosis is not None:
        if answer.diagnosis.category == "user_code" and "exit 0" in ended(answer):
            return NO_FAULT  # a script that ended well and has nothing to do with AOTInductor
        return status_of(answer.diagnosis)
    return NO_FAULT if answer.status == "done" else NOT_DONE


def ended(answer: StageAnswer | TriageAnswer) -> list[str | None]:
    """Return how the script itself ended, as the answer tells it."""
    if isinstance(answer, StageAnswer):
        return [answer.exit]
    return [step.exit for step in answer.steps[:1]]


@status_of.register
def _(answer: MinifyAnswer) -> int:
    return NO_FAULT if answer.reproduced else NOT_DONE


@status_of.register
def _(answer: VerifyAnswer) -> int:
    if answer.verdict in (None, "undecided"):
        return NOT_DONE
    return NO_FAULT if answer.verdict == "fixed" else FAULT


@status_of.register
def _(answer: BisectAnswer) -> int:
    return FAULT if answer.first_bad else NO_FAULT


@status_of.register
def _(answer: SweepAnswer) -> int:
    if answer.status == "done" and answer.result is None:
        return NO_FAULT  # of a dry run
    return {"good": NO_FAULT, "bad": FAULT}.get(answer.result or "", NOT_DONE)


T = TypeVar("T")


class NotDelivered(AotiDebugError):
    """Who waits for the answer has not got it."""


class _Delivered:
    def __init__(self, stream: Any, nowhere: TextIO) -> None:
        self._stream = stream
        self._nowhere = nowhere

    def write(self, text: str) -> int:
        return self._do(lambda: int(self._stream.write(text)))

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
        from aoti_debug.report.terminal import print_outline

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
        from aoti_debug.report.html import diagnosis_plots, html
        from aoti_debug.report.recorded import of_answer

        plots = diagnosis_plots(getattr(answer, "diagnosis", None))
        write_text(report, html(outline(answer), of_answer(answer), plots))
    else:
        from aoti_debug.report.text import markdown

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
