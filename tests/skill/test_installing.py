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
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from aoti_debug import __version__
from guides.documents import problems, properties

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("skills@1.7.4", "node@22.23.3")  # the installer, and a Node that is new enough for it


@pytest.fixture(scope="session")
def install(node_modules: Callable[..., Path]) -> Callable[..., None]:
    """Return what `npx skills` runs: it installs for three clients into a new folder, with a home
    beside it."""
    modules = node_modules(*PACKAGES)
    node, skills = modules / "node/bin/node", modules / "skills/bin/cli.mjs"
    clients = ("-a", "claude-code", "-a", "codex", "-a", "gemini-cli")

    def add(source: str, project: Path, *options: str) -> None:
        project.mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(project.parent / "home"),
            "DISABLE_TELEMETRY": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        done = subprocess.run(
            [str(node), str(skills), "add", source, *clients, "-y", *options],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            text=True,
        )
        assert done.returncode == 0, done.stdout

    return add


def test_the_skill_is_valid(tmp_path: Path) -> None:
    folder = tmp_path / "aoti-debug"  # the specification wants the folder to have the skill's name
    folder.mkdir()
    shutil.copyfile(ROOT / "SKILL.md", folder / "SKILL.md")
    assert problems(folder) == []


def test_the_description_names_what_people_say() -> None:
    said = properties(ROOT)["description"].lower()
    calls = ("run_func_", "api call failed", "aoti_compile_and_package", ".pt2")
    errors = ("illegal memory access", "exit code 139", "wrong output", "undefined symbol")
    for words in (*calls, *errors, "loading outdated pt2 file"):
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


@pytest.fixture(scope="module")
def copied(
    install: Callable[..., None], checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a project into which the skill was copied from a local path."""
    project = tmp_path_factory.mktemp("copied") / "project"
    install(str(checkout), project, "--copy")
    return project


@pytest.mark.node
def test_a_local_path_installs_copies_and_nothing_outside_of_the_project(copied: Path) -> None:
    for layout in (CLAUDE_CODE, CODEX):
        assert not (copied / layout).is_symlink()
        _check(copied / layout)
    left = {path.name for path in copied.iterdir()}
    assert left == {".claude", ".agents", "skills-lock.json"}


@pytest.mark.node
def test_a_git_url_installs_one_copy_for_both(
    install: Callable[..., None], repository: str, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    install(repository, project)
    assert (project / CLAUDE_CODE).resolve() == (project / CODEX).resolve()
    _check(project / CODEX)


def _check(installed: Path) -> None:
    assert problems(installed) == []
    for name in ("SKILL.md", "guides", "scripts", "mcp_server", "pyproject.toml"):
        assert (installed / name).exists()
    beside = (*(ROOT / "guides").glob("*"), *(ROOT / "scripts").rglob("*.*"))
    for source in (ROOT / "SKILL.md", *beside):
        if source.is_file() and "__pycache__" not in source.parts:
            assert (installed / source.relative_to(ROOT)).read_bytes() == source.read_bytes()


@pytest.mark.node
def test_the_command_line_runs_from_the_installed_folder(copied: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from aoti_debug.cli import main; main()"
    )
    package = copied / CLAUDE_CODE / "mcp_server"
    argv = [sys.executable, "-I", "-B", "-c", script, str(package), "diagnose", "-"]
    said = "Error: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7"
    done = subprocess.run(argv, cwd=copied, input=said, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "guides/input-contracts.md#dtype" in done.stdout


PLUGINS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json")


def document(name: str) -> Any:
    return json.loads((ROOT / name).read_text("utf-8"))


@pytest.mark.parametrize("name", [*PLUGINS, "manifest.json"])
def test_a_plugin_or_bundle_has_the_name_and_version_of_the_package(name: str) -> None:
    plugin = document(name)
    assert (plugin["name"], plugin["version"]) == ("aoti-debug", __version__)


def test_the_marketplace_offers_the_plugin_and_the_bundle_has_its_entry_point() -> None:
    [offered] = document(".claude-plugin/marketplace.json")["plugins"]
    plugin = document(PLUGINS[0])
    for key in ("name", "version", "description"):
        assert offered[key] == plugin[key]
    assert (ROOT / offered["source"] / "SKILL.md").is_file()
    assert (ROOT / document("manifest.json")["server"]["entry_point"]).is_file()


def test_the_registry_is_told_the_same() -> None:
    entry = document("server.json")
    [package] = entry["packages"]
    assert entry["version"] == package["version"] == __version__
    assert package["identifier"] == document(PLUGINS[0])["name"]
    assert len(entry["description"]) <= 100  # the registry's limit
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text("utf-8")


def test_codex_alone_is_told_where_skill_and_server_are_and_gemini_of_no_missing_file() -> None:
    claude_code, codex, gemini = map(document, PLUGINS)
    assert "skills" not in claude_code and "contextFileName" not in gemini
    assert codex["skills"] == ["./."]
    assert codex["mcpServers"]["aoti"]["cwd"] == "."


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
