"""Copy what scripts/ needs of the probe: an installation may have no server."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROBE = ROOT / "mcp_server" / "aoti_debug" / "probe"
COPIES = ROOT / "scripts" / "probe"
RUN = ("__init__", "script", "checks", "constants", "judge", "nodes", "replay", "stated",
       "stated_check")  # fmt: skip


def needed() -> set[str]:
    """Return the modules that the scripts run or import, and those that these import."""
    found: set[str] = set()
    left = list(RUN)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += imported(PROBE / f"{name}.py")
    return found


def imported(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names += [node.module] if node.module else [alias.name for alias in node.names]
    return names


if __name__ == "__main__":
    shutil.rmtree(COPIES, ignore_errors=True)
    COPIES.mkdir()
    for module in needed():
        shutil.copyfile(PROBE / f"{module}.py", COPIES / f"{module}.py")
