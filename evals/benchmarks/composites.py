"""Triage the composite projects and hold each headline against its truth.

    python evals/benchmarks/composites.py OUT [--only NAME ...] [--jobs 1] [--python PYTHON]

`composites.tar.xz` holds projects with one cause or none and, below `truth/`, what is wrong in
each: category, file and line, the oddities. Those named report-N are release checks around public
reports of wrong code, with words for the `part` of the compiler at fault. Rows stand in
OUT/rows.jsonl as they come. A person reads whether the sentence names the cause; counted here are
category, line, and what is proved in a category that cannot be defended.
"""

from __future__ import annotations

import json
import shlex
import tarfile
from pathlib import Path

from command import (
    PYTHON,
    Row,
    begins,
    environment,
    folder_at,
    options_of,
    picked,
    put,
    side_by_side,
    triaged,
)

PROJECTS = Path(__file__).resolve().parents[1] / "composites.tar.xz"


def triage(project: Path, python: str) -> tuple[Row, float]:
    script, *words = shlex.split((project / "RUN").read_text("utf-8"))
    env = environment(project.parent / "homes" / project.name, python)
    return triaged(script, words, env, project)


def judged(answer: Row, truth: Row) -> Row:
    said = answer.get("diagnosis") or {"summary": answer.get("error")}
    lines = {(Path(p["file"]).name, p["line"]) for p in said.get("source") or ()}
    true = [truth, *truth.get("also_acceptable_lines", ())] if truth.get("file") else []
    right = said.get("category") in {truth["category"], *truth.get("defensible", ())}
    on_line = any((Path(one["file"]).name, one["line"]) in lines for one in true)
    return {
        **picked(said, "category confidence summary also_true"),
        "right_category": right,
        "right_line": on_line if true else None,
        "right_part": truth["part"] in str(said.get("summary")) if "part" in truth else None,
        "wrong_but_proved": not right and said.get("confidence") == "proved",
    }


def main() -> None:
    options = options_of(__doc__, only=[], jobs=1, python=PYTHON).parse_args()
    out = folder_at(options.out)
    with tarfile.open(PROJECTS) as archive:
        archive.extractall(out, filter="data")
    found = [path.parent for path in sorted(out.glob("*/RUN"))]
    tasks = [(one, options.python) for one in found if begins(one.name, options.only)]
    for (project, _), (answer, took) in side_by_side(triage, tasks, options.jobs):
        truth = json.loads((out / "truth" / f"{project.name}.json").read_text("utf-8"))
        row = {"project": project.name, **judged(answer, truth), "seconds": took}
        put(row, out / "rows.jsonl")


if __name__ == "__main__":
    main()
