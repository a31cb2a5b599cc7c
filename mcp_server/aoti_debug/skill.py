"""The skill that ships with the server: SKILL.md and its guides, as files and over MCP."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "aoti-debug"
ROOT_URI = f"skill://{NAME}"
_SHARE = Path("share") / NAME  # where a wheel puts the files, below its data directory


@dataclass(frozen=True, slots=True)
class SkillFile:
    uri: str
    path: Path
    name: str
    title: str
    description: str = ""  # the frontmatter's, if the file has one


def directory() -> Path | None:
    """Return the directory of SKILL.md: the source tree or plugin, else the installed files."""
    places = [Path(__file__).resolve().parents[2]]
    for key in ("prefix", "user"):
        data = sysconfig.get_path("data", sysconfig.get_preferred_scheme(key))
        places.append(Path(data) / _SHARE)
    return next((place for place in places if _is_ours(place)), None)


def files(root: Path) -> list[SkillFile]:
    """List SKILL.md and the guides."""
    guides = sorted((root / "guides").glob("*.md"))
    return [_file(root, path) for path in (root / "SKILL.md", *guides)]


def frontmatter(text: str) -> dict[str, Any]:
    """Return the fields above a SKILL.md's text.

    All values are strings, or one level of named strings.

    Raises:
        ValueError: there is no frontmatter, or it has something else.
    """
    head, separator, _ = text.removeprefix("---\n").partition("\n---\n")
    if not text.startswith("---\n") or not separator:
        raise ValueError("no frontmatter")
    import yaml

    try:
        fields = yaml.load(head, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"the frontmatter is no YAML: {error}") from error
    if not isinstance(fields, dict):
        raise ValueError("the frontmatter has no fields")
    return fields


def _is_ours(place: Path) -> bool:
    try:
        return f"\nname: {NAME}\n" in (place / "SKILL.md").read_text("utf-8")[:2000]
    except (OSError, UnicodeDecodeError):
        return False


def _file(root: Path, path: Path) -> SkillFile:
    is_skill = path.name == "SKILL.md"
    with path.open(encoding="utf-8") as file:
        title = next((line[2:].strip() for line in file if line.startswith("# ")), path.stem)
    return SkillFile(
        uri=f"{ROOT_URI}/{path.relative_to(root).as_posix()}",
        path=path,
        name=NAME if is_skill else path.stem,
        title=title,
        description=_description(path) if is_skill else "",
    )


def _description(skill: Path) -> str:
    try:
        return str(frontmatter(skill.read_text("utf-8")).get("description", ""))
    except ValueError:  # a broken skill is told to whoever asks for it; the server still starts
        return ""
