"""What an agent hands in: a diagnosis, perhaps of two faults, and a patch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aoti_debug.model import CATEGORIES, PHASES, Category, Phase
from aoti_debug.run.files import read_regular
from pydantic import BaseModel, ConfigDict, Field, ValidationError

LIMIT = 1 << 20  # bytes of an answer or a patch


class BadAnswer(ValueError):
    """An answer cannot be read; the message says what it must be."""


class Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Kernel(Lenient):
    name: str


class Line(Lenient):
    file: str
    line: int


class InputSaid(Lenient):
    name: str | None = None
    index: int | None = None
    property: str | None = None


class Diagnosis(Lenient):
    """The fields of a diagnosis that are scored; others may be there."""

    phase: Phase
    category: Category
    summary: str = ""
    kernel: Kernel | None = None
    ops: tuple[str, ...] = ()
    source: tuple[Line, ...] = ()
    input: InputSaid | None = None


class Answer(Lenient):
    diagnosis: Diagnosis
    also: tuple[Diagnosis, ...] = Field((), description="other faults of the same case")
    patch: str = ""


def parse(document: Mapping[str, Any], patch: str = "") -> Answer:
    """Read a diagnosis, or {"diagnosis": …, "also": […], "patch": …}.

    Raises:
        BadAnswer: a field is missing or has a value that there is not.
    """
    whole = document if "diagnosis" in document else {"diagnosis": document}
    try:
        found = Answer.model_validate(_plain(whole))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:4]
        )
        raise BadAnswer(f"the answer is not one: {wrong}") from error
    return found.model_copy(update={"patch": patch or found.patch})


def _plain(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out nulls; take a kernel's name for the kernel."""
    if not isinstance(whole.get("diagnosis"), Mapping):
        raise BadAnswer("`diagnosis` must be an object")
    also = [_diagnosis(one) for one in whole.get("also") or [] if isinstance(one, Mapping)]
    return {**whole, "diagnosis": _diagnosis(whole["diagnosis"]), "also": also}


def _diagnosis(document: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in document.items() if value not in (None, "", [], {})}
    if isinstance(kept.get("kernel"), str):
        kept["kernel"] = {"name": kept["kernel"]}
    if isinstance(kept.get("kernel"), Mapping) and not kept["kernel"].get("name"):
        del kept["kernel"]
    if isinstance(kept.get("source"), Mapping):
        kept["source"] = [kept["source"]]
    return kept


def read(folder: Path) -> Answer:
    """Read answer.json and fix.patch (which may be missing or empty) of a directory.

    Raises:
        BadAnswer: there is no answer, or it is none.
    """
    try:
        document = json.loads(_left(folder, "answer.json"))
        text = _left(folder, "fix.patch", missing="")
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadAnswer):
            raise
        raise BadAnswer(f"answer.json or fix.patch cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise BadAnswer("answer.json must hold an object")
    return parse(document, text)


def _left(folder: Path, name: str, missing: str | None = None) -> str:
    """Return the text that an agent has left, which may have left anything of that name."""
    try:
        return read_regular(folder / name, LIMIT).decode("utf-8")
    except FileNotFoundError:
        if missing is None:
            raise BadAnswer(f"there is no {name}") from None
        return missing
    except OSError as error:
        raise BadAnswer(f"{name} cannot be read: {error.strerror}") from error


FORM = f"""\
Leave two files in the directory above the project (the one that holds PROMPT.md):

`answer.json`, one JSON object:
```json
{{"phase": "…", "category": "…", "summary": "one sentence",
 "kernel": {{"name": "the generated or user-written kernel at fault"}},
 "ops": ["aten.…"],
 "source": [{{"file": "model.py", "line": 12}}],
 "input": {{"index": 0, "name": "x", "property": "size|rank|dtype|stride|device|value|guard|type|count"}}}}
```
`phase` and `category` are required; leave out what does not apply. If there are two independent faults, use
`{{"diagnosis": {{…}}, "also": [{{…}}]}}` with one such object each. If nothing is wrong, say phase `none` and category
`no_fault`.

phase is one of: {", ".join(PHASES)}.
category is one of: {", ".join(CATEGORIES)}.

`fix.patch`, a unified diff (as `git diff` or `diff -u` writes it; paths relative to the project) that makes the
project right; it is applied to a fresh copy of the project. Leave it out, or empty, where nothing is to be fixed.
"""
