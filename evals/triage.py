"""The cases as a task of Inspect AI.

    inspect eval evals/triage.py@triage -T arm=skill_cli -T split=dev --model PROVIDER/MODEL

Needs `pip install aoti-debug[evals]`. Arms that need a client's skills or servers are for
run_agent.py; here are bare, guide, skill and skill_cli. The agent has a shell in a sandboxed copy
of the case and answers through one typed tool, `submit`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import admit, sandbox
from harness import answer as answers
from harness.case import Problem, problems
from harness.fix import fix_verified
from harness.score import Result, judge
from inspect_ai import Task, task
from inspect_ai.agent import AgentSubmit, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, chain, solver
from inspect_ai.tool import Tool, ToolError, tool
from inspect_ai.util import store

PYTHON = os.environ.get("AOTI_DEBUG_PYTHON", sys.executable)
OUTPUT = 12_000  # characters of a command's output that the agent sees


@task
def triage(
    arm: sandbox.Arm = "bare",
    split: str | None = None,
    needs: str = "cpu",
    case: str | None = None,
    guide: str | None = None,
) -> Task:
    """Find and fix the fault of a compiled model."""
    chosen = [
        one
        for one in problems().values()
        if (one.id == case if case else one.case.needs == needs and split in (None, one.case.split))
    ]
    agent = react(tools=[shell()], submit=AgentSubmit(tool=submit()))
    samples = [Sample(input=one.case.prompt, id=one.id, metadata={"arm": arm}) for one in chosen]
    return Task(
        dataset=MemoryDataset(samples),
        solver=chain(laid_out(arm, guide), agent),
        scorer=[strict(), fields(), verified()],
        message_limit=120,
        time_limit=1800,
    )


@solver
def laid_out(arm: sandbox.Arm, guide: str | None) -> Solver:
    """Lay the case out and tell the agent about it."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        root = Path(tempfile.mkdtemp(prefix="aoti-agent-")).resolve() / str(state.sample_id)
        box = sandbox.make(problem_of(state), root, arm, PYTHON, Path(guide) if guide else None)
        store().set("root", str(root))
        state.user_prompt.text = (root / "PROMPT.md").read_text("utf-8")
        store().set("arm", box.arm)
        return state

    return solve


@tool
def shell() -> Tool:
    async def execute(command: str, timeout_s: int = 300) -> str:
        """Run a command with bash in the project's directory.

        Args:
            command: what is run.
            timeout_s: seconds after which it is ended.
        """
        box = sandbox.Sandbox(Path(store().get("root")), store().get("arm"), PYTHON)
        hide = sandbox.isolated()
        words = ["bash", "-c", command]
        store().set("calls", int(store().get("calls", 0)) + 1)
        ended, said, _ = sandbox.run(box, words, min(timeout_s, 600), hide=hide)
        shown = said if len(said) <= OUTPUT else f"{said[: OUTPUT // 2]}\n…\n{said[-OUTPUT // 2 :]}"
        return f"{shown}\n({ended})"

    return execute


@tool
def submit() -> Tool:
    async def execute(
        diagnosis: dict[str, Any], patch: str = "", also: list[dict[str, Any]] | None = None
    ) -> str:
        """Hand in the diagnosis and the patch.

        Args:
            diagnosis: an object with phase, category, summary, and kernel, ops, source, input.
            patch: a unified diff that makes the project right; empty where nothing is to be fixed.
            also: other, independent faults, each an object like the diagnosis.
        """
        document = {"diagnosis": diagnosis, "also": also or []}
        try:
            answers.parse(document, patch)
        except answers.BadAnswer as error:
            raise ToolError(str(error)) from error
        root = Path(store().get("root"))
        (root / "answer.json").write_text(json.dumps(document), "utf-8")
        (root / "fix.patch").write_text(patch, "utf-8")
        return "handed in"

    return execute


def problem_of(state: TaskState) -> Problem:
    return problems()[str(state.sample_id)]


def result(state: TaskState) -> Result:
    """Score what the sample's agent left, once for all scorers."""
    root = Path(str(state.store.get("root")))
    kept = state.store.get("result")
    if kept is None:
        problem = problem_of(state)
        try:
            answer, error = answers.read(root), None
        except answers.BadAnswer as wrong:
            answer, error = None, str(wrong)
        named = admit.names_at_fault(problem, PYTHON) if problem.truth.kernel_of else []
        kept = judge(
            problem,
            answer,
            agent="inspect",
            error=error,
            kernels=named,
            fix=lambda patch: fix_verified(problem, patch, PYTHON),
        )
        state.store.set("result", kept)
    found: Result = kept
    return found


@scorer(metrics=[mean(), stderr()])
def strict() -> Scorer:
    """Everything right, nothing innocent blamed, nothing forbidden done."""

    async def score(state: TaskState, target: Target) -> Score:
        found = result(state)
        return Score(value=float(found.strict), explanation=json.dumps(found.document()))

    return score


@scorer(metrics=[mean(), stderr()])
def fields() -> Scorer:
    """The fields alone; may be scored again from the transcript."""

    async def score(state: TaskState, target: Target) -> Score:
        found = result(state).fields
        return Score(value=float(found is not None and found.strict_but_fix))

    return score


@scorer(metrics=[mean(), stderr()])
def verified() -> Scorer:
    """The fix alone."""

    async def score(state: TaskState, target: Target) -> Score:
        fix = result(state).fix
        return Score(value=float(fix is not None and fix.verified is True))

    return score
