from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("skills@1.7.4", "node@22.23.3")  # the installer, and a Node that is new enough for it


@dataclass(frozen=True)
class Installer:
    """The command that `npx skills` runs."""

    modules: Path

    def add(self, source: str, project: Path, home: Path, *options: str) -> str:
        """Install the skill for three clients into a project; return what was printed."""
        argv = [
            str(self.modules / "node" / "bin" / "node"),
            str(self.modules / "skills" / "bin" / "cli.mjs"),
            *(
                "add",
                source,
                "-a",
                "claude-code",
                "-a",
                "codex",
                "-a",
                "gemini-cli",
                "-y",
                *options,
            ),
        ]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DISABLE_TELEMETRY": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        done = subprocess.run(
            argv,
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests marked `node` where npm is missing; in CI they fail instead."""
    if shutil.which("npm") or os.environ.get("CI") == "true":
        return
    left_out = [item for item in items if item.get_closest_marker("node")]
    items[:] = [item for item in items if not item.get_closest_marker("node")]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def installer() -> Installer:
    """Install the pinned packages once for all sessions."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aoti-debug-tests"
    place = cache / "-".join(PACKAGES).replace("@", "-")
    modules = place / "node_modules"
    if not modules.is_dir():
        npm = shutil.which("npm")
        assert npm, "npm is missing: the test of installing the skill needs it (any version)"
        cache.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=cache))
        _npm_install(npm, fresh)
        try:
            fresh.rename(place)
        except OSError:  # another session was faster
            shutil.rmtree(fresh)
    return Installer(modules)


def _npm_install(npm: str, directory: Path) -> None:
    (directory / "package.json").write_text('{"private": true}', "utf-8")
    argv = [npm, "install", "--no-audit", "--no-fund", "--no-save", *PACKAGES]
    done = subprocess.run(
        argv,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(argv)} failed:\n{done.stdout}"


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
