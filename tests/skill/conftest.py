"""The tree as a clone of it, which every installer starts from."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tracked() -> list[str]:
    """Return the paths of the files that a clone of the repository brings."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory, tracked: list[str]) -> Path:
    """Make a plain clone of this tree, as a git repository with its branch."""
    root = tmp_path_factory.mktemp("source") / "aoti-debug"
    for name in tracked:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "--force", "--all")
    _git(root, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "all")
    return root


@pytest.fixture(scope="session")
def repository(checkout: Path) -> str:
    """Return the file:// URL of a bare clone, whose only branch is main."""
    bare = checkout.with_suffix(".git")
    _git(checkout, "clone", "-q", "--bare", str(checkout), str(bare))
    return bare.as_uri()


def _git(directory: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True)
