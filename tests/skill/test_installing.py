"""Installing with the real `npx skills`, from a plain clone and from git, for three clients."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from skill.conftest import ROOT, Installer
from specification import problems

pytestmark = pytest.mark.node

CLAUDE_CODE = Path(".claude/skills/aoti-debug")
CODEX = Path(".agents/skills/aoti-debug")  # Gemini reads it there, too


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


@pytest.mark.parametrize("layout", [CLAUDE_CODE, CODEX], ids=["claude-code", "codex"])
def test_a_local_path_installs_copies(
    layout: Path, installer: Installer, checkout: Path, project: Path, tmp_path: Path
) -> None:
    installer.add(str(checkout), project, tmp_path / "home", "--copy")
    assert not (project / layout).is_symlink()
    _check(project / layout)


@pytest.mark.parametrize("layout", [CLAUDE_CODE, CODEX], ids=["claude-code", "codex"])
def test_a_git_url_installs_one_copy_for_both(
    layout: Path, installer: Installer, repository: str, project: Path, tmp_path: Path
) -> None:
    installer.add(repository, project, tmp_path / "home")
    assert (project / CLAUDE_CODE).resolve() == (project / CODEX).resolve()
    _check(project / layout)


def test_nothing_is_written_outside_of_the_project(
    installer: Installer, checkout: Path, project: Path, tmp_path: Path
) -> None:
    installer.add(str(checkout), project, tmp_path / "home", "--copy")
    left = {path.name for path in project.iterdir()}
    assert left == {".claude", ".agents", "skills-lock.json"}


def _check(installed: Path) -> None:
    assert problems(installed) == []
    for name in ("SKILL.md", "guides", "scripts", "mcp_server", "pyproject.toml"):
        assert (installed / name).exists()
    for source in (
        ROOT / "SKILL.md",
        *(ROOT / "guides").glob("*"),
        *(ROOT / "scripts").rglob("*.*"),
    ):
        if source.is_file() and "__pycache__" not in source.parts:
            assert (installed / source.relative_to(ROOT)).read_bytes() == source.read_bytes()


def test_the_command_line_runs_from_the_installed_folder(
    installer: Installer, checkout: Path, project: Path, tmp_path: Path
) -> None:
    installer.add(str(checkout), project, tmp_path / "home", "--copy")
    script = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from aoti_debug.cli import main; main()"
    )
    package = project / CLAUDE_CODE / "mcp_server"
    argv = [sys.executable, "-I", "-c", script, str(package), "diagnose", "-"]
    said = "Error: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7"
    done = subprocess.run(argv, cwd=project, input=said, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "guides/input-contracts.md#dtype" in done.stdout
