"""The manifests that clients install from say the same as the package; command line, tools and
evals go in by one door, `api`."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from aoti_debug import __version__

ROOT = Path(__file__).parents[1]
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


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_starts_the_server_over_stdio(name: str) -> None:
    [server] = document(name)["mcpServers"].values()
    assert server["args"][-2:] == ["aoti-debug", "serve"]


def test_the_bundle_starts_the_server_over_stdio() -> None:
    bundle = document("manifest.json")
    assert (bundle["name"], bundle["version"]) == ("aoti-debug", __version__)
    assert bundle["server"]["mcp_config"]["args"][-2:] == ["aoti-debug", "serve"]
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
