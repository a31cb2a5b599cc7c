"""The evals and benchmarks import only names that exist, those that a function imports too."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

EVALS = Path(__file__).parents[2] / "evals"


def test_every_name_that_is_imported_of_the_package_exists() -> None:
    missing = []
    for file in sorted(EVALS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.ImportFrom):
                continue
            module = node.module or ""
            if module.partition(".")[0] != "aoti_debug":
                continue
            for name in (one.name for one in node.names):
                try:
                    found = hasattr(importlib.import_module(module), name)
                except ModuleNotFoundError:
                    found = False
                submodule = EVALS.parent / "mcp_server" / Path(*module.split("."), f"{name}.py")
                if not found and not submodule.exists():
                    missing.append(f"{file.relative_to(EVALS)}: {module}.{name}")
    assert not missing
