"""Try an agent's command line on cases: a sandboxed copy, its answer scored, its cost read.

    python evals/run_agent.py --agent claude --arm skill_mcp --case twelve_of_500
    python evals/run_agent.py --agent codex --arm bare --split dev --epochs 3 --out results.jsonl
    python evals/run_agent.py --agent "my-agent --task {prompt}" --arm skill_cli --case all

The agent is told where to leave answer.json and fix.patch (PROMPT.md of its sandbox). A COMMAND has
{prompt}, {prompt_file}, {project} or {mcp} put in; without any, the prompt is its last argument.
The agent's processes see empty directories in place of this tree's evals, tests and history; where
that is impossible (no user namespaces), --not-isolated is needed, and the results say so.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import run as evals
from harness import report, sandbox
from harness.case import Problem, problems
from harness.sandbox import Sandbox
from harness.score import Result

# How each client is run without questions, and how it is given the server.
CLIENTS = {
    "claude": [
        "claude",
        "-p",
        "{prompt}",
        "--permission-mode",
        "bypassPermissions",
        "--output-format",
        "json",
    ],
    "codex": [
        "codex",
        "exec",
        "--skip-git-repo-check",
        "--sandbox",
        "danger-full-access",
        "{prompt}",
    ],
    "gemini": ["gemini", "--yolo", "--prompt", "{prompt}"],
}


def command(agent: str, box: Sandbox) -> list[str]:
    """Return the command line of an agent in a sandbox.

    Raises:
        SystemExit: it is no command, or the program is not installed.
    """
    try:
        words = list(CLIENTS.get(agent, [])) or shlex.split(agent)
    except ValueError as error:
        raise SystemExit(f"--agent {agent!r} is no command: {error}") from error
    if not words:
        raise SystemExit("--agent names no command")
    if box.arm in ("skill_mcp", "mcp"):
        words += _servers(agent, box)
    if shutil.which(words[0]) is None:
        raise SystemExit(f"{words[0]} is not on the PATH: install it, or name a command")
    prompt = (box.root / "PROMPT.md").read_text("utf-8")
    known = {
        "{prompt}": prompt,
        "{prompt_file}": str(box.root / "PROMPT.md"),
        "{project}": str(box.project),
        "{mcp}": str(box.servers),
    }
    if not any(name in word for word in words for name in known):
        words.append("{prompt}")
    for name, value in known.items():
        words = [word.replace(name, value) for word in words]
    return words


def _servers(agent: str, box: Sandbox) -> list[str]:
    if agent == "claude":
        return ["--mcp-config", str(box.servers), "--strict-mcp-config"]
    if agent == "codex":
        tool = shlex.quote(str(box.command))
        kept = '["AOTI_DEBUG_PYTHON", "AOTI_DEBUG_HOME"]'
        settings = (
            f'command="{tool}"',
            'args=["serve"]',
            "tool_timeout_sec=300",
            f"env_vars={kept}",
        )
        return [word for one in settings for word in ("-c", f"mcp_servers.aoti.{one}")]
    return []


def try_case(problem: Problem, options: argparse.Namespace, epoch: int) -> Result:
    """Let the agent work on one case, and score what it leaves."""
    root = Path(options.keep or tempfile.mkdtemp(prefix="aoti-agent-")).resolve()
    place = root / str(epoch) / options.arm / problem.id
    box = sandbox.make(problem, place, options.arm, options.python, options.guide)
    for skill in (box.project / ".agents", box.project / ".gemini"):  # other clients look there
        if (box.project / ".claude").is_dir():
            skill.symlink_to(".claude", target_is_directory=True)
    ended, said, cost = sandbox.run(
        box, command(options.agent, box), options.timeout, hide=not options.not_isolated
    )
    (place / "transcript.txt").write_text(said, "utf-8")
    found = evals.score_sandbox(place, options.name or options.agent, options.python, epoch)
    error = found.error and f"{found.error} (the agent: {ended})"
    if not options.keep:
        shutil.rmtree(root, ignore_errors=True)
    return replace(found, cost=replace(found.cost, wall_s=cost.wall_s), error=error)


def main() -> int:
    parser = evals.parser_of(__doc__)
    parser.add_argument("--agent", required=True, help="claude, codex, gemini, or a command")
    parser.add_argument("--name", help="what the results call it")
    parser.add_argument("--arm", choices=sandbox.ARMS, default="bare")
    parser.add_argument("--case", action="append", default=[], help="an id, or all")
    parser.add_argument("--split", choices=("dev", "test"))
    parser.add_argument("--needs", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for one case")
    parser.add_argument("--guide", type=Path, help="PyTorch's own guide, for the arm `guide`")
    parser.add_argument("--keep", type=Path, help="keep the sandboxes below this directory")
    parser.add_argument("--not-isolated", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if not options.not_isolated and not sandbox.isolated():
        parser.error(
            "this machine cannot hide the truth from a process (unshare -rm fails); "
            "--not-isolated tries without, and says so"
        )
    if options.not_isolated:
        options.name = f"{options.name or options.agent} (not isolated)"
    names = [name for name in options.case if name != "all"]
    if not names and not options.split and "all" not in options.case:
        parser.error("name cases with --case, or a --split")
    unknown = [name for name in names if name not in problems()]
    if unknown:
        parser.error(f"there is no case {', '.join(unknown)}")
    chosen = [
        one
        for one in problems().values()
        if (one.id in names if names else one.case.needs == options.needs)
        and options.split in (None, one.case.split)
    ]
    results = []
    for epoch in range(1, options.epochs + 1):
        for problem in chosen:
            results.append(try_case(problem, options, epoch))
            found = results[-1]
            print(
                f"{problem.id}: {'strict success' if found.strict else 'no success'}"
                f"{' (' + found.error + ')' if found.error else ''}",
                flush=True,
            )
            if options.out:
                report.write(results, options.out)
    print(report.table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
