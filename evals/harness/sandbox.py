"""Where an agent works: a copy of the case's input, and what its arm allows; nothing of the truth.

    ROOT/PROMPT.md        what the agent is told
    ROOT/project/         the case; the agent may change it
    ROOT/answer.json, ROOT/fix.patch   what it leaves
    ROOT/bin/             python and python3: the interpreter with torch
    ROOT/home/            runs of aoti-debug; ROOT/tool/, ROOT/project/.claude/: what its arm has

The processes of the agent see empty directories in place of this tree's evals/, tests/ and .git/.
That needs user namespaces (Linux); without them a run must say that it is not isolated.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from aoti_debug import model
from aoti_debug.run.files import read_regular

from harness.answer import FORM
from harness.case import EVALS, Problem
from harness.score import Cost
from harness.tree import environment, lay_out, process

Arm = Literal["bare", "guide", "skill", "skill_cli", "skill_mcp", "mcp"]
ARMS: tuple[Arm, ...] = get_args(Arm)
TREE = EVALS.parent
HIDDEN = ("evals", "tests", ".git", "build")
LEFT_OUT = [*HIDDEN, *".venv .github .ci assets __pycache__ *.egg-info".split()]
LEFT_OUT += [".mypy_cache", ".ruff_cache", ".pytest_cache"]
WITH_COMMAND = ("skill_cli", "skill_mcp")
WITH_TOOL = (*WITH_COMMAND, "mcp")
# A client's own settings and keys; they reach its process alone, and no file.
CLIENTS = ("ANTHROPIC_", "CLAUDE_", "CODEX_", "ENABLE_TOOL_SEARCH", "GEMINI_", "OPENAI_")
# Nothing of the working directory is imported; Python 3.10 has no -P.
MAIN = 'import sys; sys.path.remove(""); from aoti_debug.cli import main; main()'
LAUNCH = """\
#!/bin/sh
PYTHONPATH={tool}/mcp_server exec {python} -c {main} "$@"
"""
SKILL = "the skill in .claude/skills/aoti-debug/SKILL.md"
SERVER = "and the tools of the MCP server `aoti`."
TOLD: Mapping[Arm, str] = {
    "bare": "You have a shell.",
    "guide": "You have a shell. PyTorch's own debugging guide is at {guide}.",
    "skill": f"You have a shell, and {SKILL}: read it first.",
    "skill_cli": f"You have a shell, {SKILL} (read it first), and its command line: `{{command}}`.",
    "skill_mcp": f"You have a shell, {SKILL}, {SERVER}",
    "mcp": f"You have a shell, {SERVER}",
}


@dataclass(frozen=True, slots=True)
class Sandbox:
    root: Path
    arm: Arm
    python: str

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def command(self) -> Path:
        return self.root / "tool" / "bin" / "aoti-debug"

    @property
    def servers(self) -> Path:
        return self.root / "mcp.json"

    def env(self) -> dict[str, str]:
        """Return the environment of the agent: of ours only what any shell has."""
        env = environment(self.python, self.home)
        for name in ("CXX", "AOTI_EVALS_OBJECTS", "AOTI_EVALS_CXX"):
            del env[name]
        env["TORCHINDUCTOR_CACHE_DIR"] = str(self.root / "inductor")
        env["PATH"] = f"{self.root / 'bin'}{os.pathsep}{env['PATH']}"
        if self.arm in WITH_COMMAND:
            env["PATH"] = f"{self.command.parent}{os.pathsep}{env['PATH']}"
        return env


def make(problem: Problem, root: Path, arm: Arm, python: str, guide: Path | None = None) -> Sandbox:
    """Lay a sandbox out in a new directory.

    Raises:
        ValueError: the arm needs a guide and none is given.
    """
    if arm == "guide" and guide is None:
        raise ValueError("the arm `guide` needs the path of PyTorch's guide: --guide PATH")
    root.mkdir(parents=True)
    box = Sandbox(root, arm, python)
    lay_out(problem, box.project, python)
    if arm in ("skill", *WITH_COMMAND):
        install_skill(box.project / ".claude" / "skills" / "aoti-debug")
    if arm in WITH_TOOL:
        _install_tool(box)
    _place_python(box)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in box.env().items()]
    (root / "env.sh").write_text("\n".join(exports) + "\n", "utf-8")
    (root / "PROMPT.md").write_text(prompt(problem, box, guide), "utf-8")
    return box


def _place_python(box: Sandbox) -> None:
    """Make `python` the interpreter with torch, whatever its own name; a link would lose its
    virtual environment."""
    found = shutil.which(box.python) or box.python
    (box.root / "bin").mkdir()
    for name in ("python", "python3"):
        path = box.root / "bin" / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(found)} "$@"\n', "utf-8")
        path.chmod(0o755)


def install_skill(to: Path) -> None:
    """Copy the tree as the skill's installer does, without what holds the truth."""
    shutil.copytree(TREE, to, ignore=shutil.ignore_patterns(*LEFT_OUT))


def _install_tool(box: Sandbox) -> None:
    tool = box.root / "tool"
    shutil.copytree(
        TREE / "mcp_server",
        tool / "mcp_server",
        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
    )
    shutil.copytree(TREE / "guides", tool / "guides")
    shutil.copyfile(TREE / "SKILL.md", tool / "SKILL.md")
    box.command.parent.mkdir()
    words = {"tool": str(tool), "python": sys.executable, "main": MAIN}
    launch = LAUNCH.format(**{name: shlex.quote(word) for name, word in words.items()})
    box.command.write_text(launch, "utf-8")
    box.command.chmod(0o755)
    env = {name: value for name, value in box.env().items() if name != "PATH"}
    server = {"command": str(box.command), "args": ["serve"], "env": env}
    box.servers.write_text(json.dumps({"mcpServers": {"aoti": server}}, indent=1), "utf-8")


def prompt(problem: Problem, box: Sandbox, guide: Path | None = None) -> str:
    """Return what the agent is told: the same in all arms but for what it has."""
    has = TOLD[box.arm].format(command=box.command, guide=guide)
    return f"""\
{problem.case.prompt.strip()}

The project is in `{box.project}`; work there. The interpreter with torch is `{box.python}`;
`. {box.root}/env.sh` prepares a shell. {has}

{FORM}"""


@cache
def isolated() -> bool:
    """Tell whether this machine lets us hide directories from a process."""
    unshare = shutil.which("unshare")
    words = [str(unshare), "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(unshare) and subprocess.run(words, capture_output=True).returncode == 0


def hidden(argv: Sequence[str], root: Path) -> list[str]:
    """Return the command that runs `argv` without this tree's evals, tests and history."""
    places = [str(TREE / name) for name in HIDDEN if (TREE / name).is_dir()]
    git = TREE / ".git"
    if git.is_file():  # a worktree: its history lies elsewhere
        common = subprocess.run(
            ["git", "rev-parse", "--git-common-dir"], cwd=TREE, capture_output=True, text=True
        )
        places.append(common.stdout.strip())
        places += [str(Path(common.stdout.strip()).parent / name) for name in ("evals", "tests")]
    masks = [
        f"mount -t tmpfs none {shlex.quote(place)}" for place in places if Path(place).is_dir()
    ]
    if any(root.is_relative_to(place) for place in places):
        raise ValueError(f"the sandbox {root} lies in what is hidden from the agent")
    script = " && ".join([*masks, 'exec "$@"'])
    return ["unshare", "-rm", "sh", "-c", script, "sh", *argv]


def run(
    box: Sandbox, argv: Sequence[str], timeout_s: float, *, hide: bool = True
) -> tuple[str, str, Cost]:
    """Run an agent in its sandbox; return how it ended, what it wrote and what it cost."""
    words = hidden(argv, box.root) if hide else list(argv)
    began = time.monotonic()
    env = {**box.env(), "IS_SANDBOX": "1"}  # or Claude Code asks root for permissions
    env |= {name: value for name, value in os.environ.items() if name.startswith(CLIENTS)}
    ended, said = process(words, box.project, env, timeout_s)
    return ended, said, cost(box, time.monotonic() - began)


def cost(box: Sandbox, wall_s: float | None = None) -> Cost:
    """Read the run directories that an agent's use of the tools has left."""
    spent = list(_spent(box.home))
    used = box.arm in WITH_TOOL
    return Cost(
        wall_s=round(wall_s, 1) if wall_s is not None else None,
        runs=len(spent) if used else None,
        process_runs=sum(one.process_runs for one in spent) if used else None,
        recompiles=sum(one.recompiles for one in spent) if used else None,
        gpu_s=sum(one.gpu_s or 0.0 for one in spent) or None,
    )


def _spent(home: Path) -> Iterator[model.Cost]:
    """Yield what each run cost; what an agent has put in place of an answer tells nothing."""
    for path in sorted((home / "runs").glob("r-*/answer.json")):
        try:
            kept = json.loads(read_regular(path))["answer"]
            yield model.Cost.model_validate((kept.get("diagnosis") or {}).get("cost") or {})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
