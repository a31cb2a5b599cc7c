"""Command line, tools and evals go in by one door, `api`: none reaches behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mcp_server" / "aoti_debug"
BEHIND = ("diagnose", "environment", "package", "read", "run", "service", "triage")
USERS = (
    *PACKAGE.glob("commands/*.py"), *PACKAGE.glob("tools/*.py"), PACKAGE / "server.py",
    *ROOT.glob("evals/scorers/*.py"), *ROOT.glob("evals/tasks/*.py"),
)  # fmt: skip


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
