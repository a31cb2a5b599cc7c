"""What the installer makes of a plain clone, which is every file of the published tree; the
manifests that clients install from say the same as the package; command line, tools and evals go
in by one door, `api`."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from aoti_debug import __version__
from guides.documents import problems, properties

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


@pytest.fixture(scope="session")
def installer(node_modules: Callable[..., Path]) -> Installer:
    return Installer(node_modules(*PACKAGES))


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
    assert sum((ROOT / name).stat().st_size for name in tracked) < 5_800_000


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


CLAUDE_CODE = Path(".claude/skills/aoti-debug")
CODEX = Path(".agents/skills/aoti-debug")  # Gemini reads it there, too


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


@pytest.mark.node
@pytest.mark.parametrize("layout", [CLAUDE_CODE, CODEX], ids=["claude-code", "codex"])
def test_a_local_path_installs_copies(
    layout: Path, installer: Installer, checkout: Path, project: Path, tmp_path: Path
) -> None:
    installer.add(str(checkout), project, tmp_path / "home", "--copy")
    assert not (project / layout).is_symlink()
    _check(project / layout)


@pytest.mark.node
@pytest.mark.parametrize("layout", [CLAUDE_CODE, CODEX], ids=["claude-code", "codex"])
def test_a_git_url_installs_one_copy_for_both(
    layout: Path, installer: Installer, repository: str, project: Path, tmp_path: Path
) -> None:
    installer.add(repository, project, tmp_path / "home")
    assert (project / CLAUDE_CODE).resolve() == (project / CODEX).resolve()
    _check(project / layout)


@pytest.mark.node
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


@pytest.mark.node
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


PLUGINS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json")
MARKETPLACE = ".claude-plugin/marketplace.json"


def document(name: str) -> Any:
    return json.loads((ROOT / name).read_text("utf-8"))


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_has_the_name_and_version_of_the_package(name: str) -> None:
    plugin = document(name)
    assert (plugin["name"], plugin["version"]) == ("aoti-debug", __version__)


def test_the_marketplace_offers_the_plugin() -> None:
    [offered] = document(MARKETPLACE)["plugins"]
    plugin = document(PLUGINS[0])
    assert {key: offered[key] for key in ("name", "version", "description")} == {
        key: plugin[key] for key in ("name", "version", "description")
    }
    assert (ROOT / offered["source"] / "SKILL.md").is_file()


def test_the_bundle_is_of_the_same_version() -> None:
    bundle = document("manifest.json")
    assert (bundle["name"], bundle["version"]) == ("aoti-debug", __version__)
    assert (ROOT / bundle["server"]["entry_point"]).is_file()


def test_the_registry_is_told_the_same() -> None:
    entry = document("server.json")
    [package] = entry["packages"]
    assert entry["version"] == package["version"] == __version__
    assert package["identifier"] == document(PLUGINS[0])["name"]
    assert len(entry["description"]) <= 100  # the registry's limit
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text("utf-8")


def test_gemini_is_promised_no_file_that_is_not_there() -> None:
    assert "contextFileName" not in document("gemini-extension.json")


def test_claude_code_finds_the_skill_by_itself() -> None:
    assert "skills" not in document(PLUGINS[0])


def test_codex_is_given_the_skill_and_starts_the_server_in_the_plugin() -> None:
    plugin = document(PLUGINS[1])
    assert plugin["skills"] == ["./."]
    assert plugin["mcpServers"]["aoti"]["cwd"] == "."


def test_the_changelog_has_an_entry_for_the_version() -> None:
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


PACKAGE = ROOT / "mcp_server" / "aoti_debug"
BEHIND = ("diagnose", "environment", "package", "read", "run", "service", "triage")
USERS = (
    *PACKAGE.glob("commands/*.py"),
    *PACKAGE.glob("tools/*.py"),
    PACKAGE / "server.py",
    *ROOT.glob("evals/scorers/*.py"),
    *ROOT.glob("evals/tasks/*.py"),
)


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("file", USERS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_only_the_door_is_used(file: Path) -> None:
    rooms = tuple(f"aoti_debug.{room}." for room in BEHIND)
    assert not [name for name in imported(file) if f"{name}.".startswith(rooms)]


def test_no_module_needs_one_that_needs_it() -> None:
    """A ring of imports breaks whatever command or tool happens to begin at the wrong end of it."""
    files = {
        ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts): file
        for file in PACKAGE.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): file for name, file in files.items()}

    def needed(file: Path) -> set[str]:
        found: set[str] = set()
        for statement in ast.parse(file.read_text("utf-8")).body:  # of functions: when they run
            if not isinstance(statement, ast.ImportFrom) or statement.level:
                continue
            for name in statement.names:
                whole = f"{statement.module}.{name.name}"
                found.add(whole if whole in modules else str(statement.module))
        return found & set(modules)

    tuple(TopologicalSorter({name: needed(file) for name, file in modules.items()}).static_order())
