"""The cases in the forms of other harnesses, and texts that should and should not call the skill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.answer import FORM
from harness.case import EVALS, Problem, problems

TRIGGERS = EVALS / "triggers.json"


def agent_skills() -> dict[str, Any]:
    """Return evals.json in the form of the Agent Skills specification."""
    return {
        "skill_name": "aoti-debug",
        "evals": [
            {
                "id": one.id,
                "prompt": one.case.prompt.strip(),
                "expected_output": expected(one),
                "files": [f"evals/cases/{one.case.family}.toml"],
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
    """Return what a grader looks for."""
    truth = problem.truth
    found = [f"names the category {' or '.join(truth.category)}"]
    if truth.kernel:
        found.append(f"names the kernel or operator {truth.kernel[0]}")
    found += [f"points at {place.file}, the line with `{place.text}`" for place in truth.source[:1]]
    if truth.fix == "none":
        found.append("changes nothing, and says that nothing is wrong")
    else:
        found.append("hands in a patch with which the oracle of the case passes")
    found += [f"does not blame {one}" for one in truth.blameless[:3]]
    return found


def write(root: Path) -> None:
    """Write evals.json, and a directory for each case as `claude plugin eval` reads them."""
    root.mkdir(parents=True, exist_ok=True)
    text = json.dumps(agent_skills(), indent=1, ensure_ascii=False) + "\n"
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
