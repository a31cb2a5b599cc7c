"""What an installation of the skill copies: every file of the published tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from skill.conftest import ROOT
from specification import problems, properties


def test_the_skill_is_valid(tmp_path: Path) -> None:
    folder = tmp_path / "aoti-debug"  # the specification wants the folder to have the skill's name
    folder.mkdir()
    shutil.copyfile(ROOT / "SKILL.md", folder / "SKILL.md")
    assert problems(folder) == []


def test_the_description_names_what_people_say() -> None:
    said = properties(ROOT)["description"].lower()
    for words in (
        "illegal memory access",
        "exit code 139",
        "loading outdated pt2 file",
        "run_func_",
        "api call failed",
        "wrong output",
        "aoti_compile_and_package",
        ".pt2",
        "undefined symbol",
    ):
        assert words in said
    for other in ("plain torch.compile", "onnx", "tensorrt", "nccl", "eager-mode"):
        assert other in said.partition("not for")[2]


def test_the_tree_is_small(tracked: list[str]) -> None:
    """Everything is copied into the user's project."""
    assert len(tracked) < 520
    assert sum((ROOT / name).stat().st_size for name in tracked) < 4_500_000


def test_nothing_is_collected_linted_or_ignored_where_the_skill_is_installed(
    checkout: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(checkout, project / ".claude" / "skills" / "aoti-debug")
    (project / "test_own.py").write_text("def test_own():\n    pass\n")
    (project / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", *argv]
        return subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True)

    tested = run("pytest", "-q", "-p", "no:cacheprovider")
    assert "1 passed" in tested.stdout, tested.stdout
    assert run("ruff", "check", "--no-cache", ".").returncode == 0
    assert run("ruff", "format", "--no-cache", "--check", ".").returncode == 0


def test_no_file_has_a_name_that_installers_drop(tracked: list[str]) -> None:
    dropped = {"metadata.json", "__pycache__", "__pypackages__"}
    assert not [name for name in tracked if dropped & set(PurePosixPath(name).parts)]
