"""What an agent hands in: a diagnosis, perhaps of two faults, and a patch. The cases in the
forms of other harnesses, and texts that should and should not call the skill."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aoti_debug.model import CATEGORIES, PHASES, Category, Phase
from aoti_debug.run.files import read_regular
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.case import EVALS, Problem, case_file, problems

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


TRIGGERS = EVALS / "triggers.json"


def agent_skills() -> dict[str, Any]:
    return {
        "skill_name": "aoti-debug",
        "evals": [
            {
                "id": one.id,
                "prompt": one.case.prompt.strip(),
                "expected_output": expected(one),
                "files": [case_file(one.case.family).relative_to(EVALS.parent).as_posix()],
                "expectations": expectations(one),
            }
            for one in problems().values()
        ],
    }


def expected(problem: Problem) -> str:
    return f"{problem.truth.category[0]} in the phase {problem.truth.phase[0]}: " + str(
        problem.truth.answer.get("summary", "")
    )


def expectations(problem: Problem) -> list[str]:
    truth = problem.truth
    found = [f"names the category {' or '.join(truth.category)}"]
    if truth.kernel:
        found.append(f"names the kernel or operator {truth.kernel[0]}")
    found += [f"points at {place.file}, the line with `{place.text}`" for place in truth.source[:1]]
    if truth.fix == "none":
        found.append("changes nothing, and says that nothing is wrong")
    else:
        found.append("hands in a patch that passes the oracle of the case")
    if truth.blameless:
        found.append(f"does not blame {' or '.join(truth.blameless[:3])}")
    return found


def write(root: Path) -> None:
    """Write evals.json, and a directory for each case as `claude plugin eval` reads them."""
    root.mkdir(parents=True, exist_ok=True)
    text = json.dumps(agent_skills(), indent=0, ensure_ascii=False) + "\n"
    (root / "evals.json").write_text(text, "utf-8")
    for number, one in enumerate(problems().values(), 1):
        _plugin_case(root / "plugin" / f"{number:02}-{one.id.replace('_', '-')}", one)
    wanted = json.loads(TRIGGERS.read_text("utf-8"))
    for kind, texts in (("should", wanted["should"]), ("should-not", wanted["should_not"])):
        for number, said in enumerate(texts, 1):
            folder = root / "plugin" / f"{kind}-{number:02}"
            _grader(
                folder,
                said,
                "skill",
                f"type: tool_used\ntool: Skill\n"
                f"match: {'contains' if kind == 'should' else 'not_contains'}",
                "aoti-debug",
            )


def _plugin_case(folder: Path, problem: Problem) -> None:
    files = "".join(
        f"\n`{name}`:\n```\n{text.strip()}\n```\n" for name, text in problem.case.files.items()
    )
    prompt = f"{problem.case.prompt.strip()}\n\nThe project:\n{files}\n{FORM}"
    category = "|".join(problem.truth.category)
    _grader(
        folder, prompt, "category", "type: regex\ntarget: last_message\nmatch: contains", category
    )


def _grader(folder: Path, prompt: str, name: str, head: str, body: str) -> None:
    (folder / "graders").mkdir(parents=True, exist_ok=True)
    (folder / "prompt.md").write_text(f"---\nmax_turns: 40\nruns: 3\n---\n{prompt}\n", "utf-8")
    (folder / "graders" / f"{name}.md").write_text(f"---\n{head}\n---\n{body}\n", "utf-8")
