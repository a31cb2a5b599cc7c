"""The Agent Skills specification: its reference validator (Python 3.11), or a stand-in."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

if sys.version_info >= (3, 11):
    from skills_ref import read_properties, validate

    def properties(folder: Path) -> dict[str, Any]:
        """Return the fields of a SKILL.md's frontmatter."""
        return read_properties(folder).to_dict()

    def problems(folder: Path) -> list[str]:
        """Say in what a skill does not follow the specification."""
        return validate(folder)

else:
    import strictyaml

    def properties(folder: Path) -> dict[str, Any]:
        """Return the fields of a SKILL.md's frontmatter."""
        head = (folder / "SKILL.md").read_text("utf-8").split("---\n")[1]
        return strictyaml.load(head).data

    def problems(folder: Path) -> list[str]:
        """Say in what a skill does not follow the specification."""
        found = properties(folder)
        rules = {
            "unknown field": found.keys() <= FIELDS,
            "name": bool(NAME.fullmatch(found["name"])) and len(found["name"]) <= 64,
            "name of the folder": found["name"] == folder.name,
            "description": 0 < len(found["description"]) <= 1024,
        }
        return [name for name, kept in rules.items() if not kept]
