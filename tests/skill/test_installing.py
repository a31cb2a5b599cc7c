"""Installing with the real `npx skills`, from a path and from git, for Claude Code and Codex."""

from __future__ import annotations

from pathlib import Path

import pytest
from skill.conftest import ROOT, Installer
from specification import problems

pytestmark = pytest.mark.node

CLAUDE_CODE = Path(".claude/skills/aoti-debug")
CODEX = Path(".agents/skills/aoti-debug")


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
    for source in (ROOT / "SKILL.md", *(ROOT / "guides").glob("*.md")):
        copy = installed / source.relative_to(ROOT)
        assert copy.read_bytes() == source.read_bytes()
    assert {path.name for path in installed.iterdir()} == {"SKILL.md", "guides", "LICENSE"}
