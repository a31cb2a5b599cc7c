"""Triage the composite projects and hold each headline against its truth.

    python evals/benchmarks/composites.py OUT [--only NAME ...] [--jobs 1] [--python PYTHON]

A project has two to five files, one cause or none, and a few innocent oddities. `composites.tar.xz`
holds them and, below `truth/`, what is wrong in each: category, file and line, the oddities. Rows
stand in OUT/rows.jsonl as they come. A person reads whether the sentence names the cause; counted
here are category, line, and what is proved in another category than those that can be defended.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import shlex
import sys
import tarfile
from pathlib import Path

from command import Row, environment, options_of, put, triaged

PROJECTS = Path(__file__).resolve().parents[1] / "composites.tar.xz"


def triage(project: Path, python: str) -> tuple[Row, float]:
    """Return what a triage of the project's command answers, and its seconds."""
    script, *words = shlex.split((project / "RUN").read_text("utf-8"))
    env = environment(project.parent / "homes" / project.name, python)
    return triaged(script, words, env, project)


def judged(name: str, answer: Row, truth: Row) -> Row:
    """Return a row: what was said, and whether category and line are those of the truth."""
    said = answer.get("diagnosis") or {}
    defensible = {truth["category"], *truth.get("defensible", ())}
    lines = {(Path(p["file"]).name, p["line"]) for p in said.get("source") or ()}
    true = [truth, *truth.get("also_acceptable_lines", ())] if truth.get("file") else []
    right = said.get("category") in defensible
    return {
        "project": name,
        "category": said.get("category"),
        "confidence": said.get("confidence"),
        "summary": said.get("summary", answer.get("error")),
        "also_true": said.get("also_true"),
        "right_category": right,
        "right_line": any((Path(one["file"]).name, one["line"]) in lines for one in true)
        if true
        else None,
        "wrong_but_proved": not right and said.get("confidence") == "proved",
    }


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--python", default=os.environ.get("AOTI_DEBUG_PYTHON") or sys.executable)
    options = parser.parse_args()
    out: Path = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tarfile.open(PROJECTS) as archive:
        archive.extractall(out, filter="data")
    names = [path.parent.name for path in sorted(out.glob("*/RUN"))]
    names = [n for n in names if not options.only or n.startswith(tuple(options.only))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        todo = {pool.submit(triage, out / name, options.python): name for name in names}
        for done in concurrent.futures.as_completed(todo):
            name = todo[done]
            answer, took = done.result()
            truth = json.loads((out / "truth" / f"{name}.json").read_text("utf-8"))
            put({**judged(name, answer, truth), "seconds": took}, out / "rows.jsonl")


if __name__ == "__main__":
    main()
