"""The skill's Markdown: headings, links and code blocks, and which blocks run here."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aoti_debug.facts.flag import release
from programs import torch_version

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "SKILL.md"
GUIDES = tuple(sorted((ROOT / "guides").glob("*.md")))

_FENCE = re.compile(r"^\s*(`{3,})\s*(.*)$")
_LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)")
_ROUTE = re.compile(r"(?<=[ ,])([\w-]+\.md(?:#[\w-]+)?)(?=[, ])")  # in the skill's table
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced code block."""

    document: str
    line: int  # of its first line of code
    language: str
    words: tuple[str, ...]  # of the info string, behind the language
    source: str

    @property
    def name(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass(frozen=True)
class Link:
    line: int
    target: str


def blocks(path: Path) -> list[Block]:
    found: list[Block] = []
    opened: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, lines = (number + 1, fence[1], fence[2]), []
        elif opened is not None and fence and fence[1] == opened[1] and not fence[2]:
            language, *words = opened[2].split() or [""]
            source = "\n".join(lines) + "\n"
            found.append(Block(path.name, opened[0], language, tuple(words), source))
            opened = None
        elif opened is not None:
            lines.append(line)
    assert opened is None, f"{path.name}:{opened}: a code block does not end"
    return found


def prose(path: Path) -> list[str]:
    """Return the lines; those of code blocks are empty."""
    lines = path.read_text("utf-8").splitlines()
    inside = False
    for index, line in enumerate(lines):
        if _FENCE.match(line):
            inside, lines[index] = not inside, ""
        elif inside:
            lines[index] = ""
    return lines


def text_of(guide: str) -> str:
    """Return a guide in one line."""
    return " ".join((ROOT / "guides" / guide).read_text("utf-8").split())


def headings(path: Path) -> list[str]:
    return [line.lstrip("#").strip() for line in prose(path) if re.match(r"#{1,6} ", line)]


def anchors(path: Path) -> list[str]:
    """Return the anchors of the headings as GitHub makes them."""
    return [slug(heading) for heading in headings(path)]


def slug(heading: str) -> str:
    plain = re.sub(r"[^\w\- ]", "", heading.lower())
    return plain.replace(" ", "-")


def links(path: Path) -> Iterator[Link]:
    for number, line in enumerate(prose(path), 1):
        for target in _LINK.findall(re.sub(r"`[^`]*`", "", line)):
            yield Link(number, target)
        for target in guides_of(line) if path == SKILL else ():
            yield Link(number, f"guides/{target}")


def guides_of(line: str) -> list[str]:
    """Return what a row of the skill's routing table names in its last cell."""
    cells = line.split("|")
    return _ROUTE.findall(f" {cells[2].strip()} ") if len(cells) == 4 else []


def code_spans(path: Path) -> list[str]:
    text = "\n".join(prose(path))
    return [" ".join(found[1].split()) for found in _CODE_SPAN.findall(text)]


def runnable(block: Block) -> bool:
    """Say whether a block runs on a CPU with the installed torch.

    `gpu` needs a GPU, `since=2.8` that release of torch.
    """
    if block.language != "python" or "gpu" in block.words:
        return False
    installed = release(torch_version())
    since = [w.removeprefix("since=") for w in block.words if w.startswith("since=")]
    return all(release(version) <= installed for version in since)


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
        head = (folder / "SKILL.md").read_text("utf-8").split("---\n")[1]
        return strictyaml.load(head).data

    def problems(folder: Path) -> list[str]:
        found = properties(folder)
        rules = {
            "unknown field": found.keys() <= FIELDS,
            "name": bool(NAME.fullmatch(found["name"])) and len(found["name"]) <= 64,
            "name of the folder": found["name"] == folder.name,
            "description": 0 < len(found["description"]) <= 1024,
        }
        return [name for name, kept in rules.items() if not kept]
