"""The skill that ships with the server, as files and over MCP (SEP-2640)."""

from __future__ import annotations

import hashlib
import sysconfig
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding, ResourceBinding
from mcp.server.mcpserver.resources import FileResource
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

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
    guides = sorted((root / "guides").glob("*.md"))
    return [_file(root, path) for path in (root / "SKILL.md", *guides)]


def frontmatter(text: str) -> dict[str, Any]:
    """Return the fields above a SKILL.md's text; raise ValueError where there are none."""
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


_MARKDOWN = "text/markdown"
_DIRECTORY = "inode/directory"
_CACHE = {"ttlMs": 300_000, "cacheScope": "public"}
_RequestContext = ServerRequestContext[Any, Any]


class UriParams(PaginatedRequestParams):
    uri: str


class SkillsExtension(Extension):
    identifier = "io.modelcontextprotocol/skills"

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = files(root)

    def settings(self) -> dict[str, Any]:
        return {"directoryRead": True}

    def resources(self) -> list[ResourceBinding]:
        return [
            ResourceBinding(
                FileResource(
                    **{**asdict(file), "description": file.description or None},
                    mime_type=_MARKDOWN,
                    encoding="utf-8",
                )
            )
            for file in self.files
        ]

    def methods(self) -> list[MethodBinding]:
        return [
            MethodBinding("skills/list", PaginatedRequestParams, self._list),
            MethodBinding("skills/get", UriParams, self._get),
            MethodBinding("resources/directory/read", UriParams, self._directory),
        ]

    async def _list(self, _: _RequestContext, __: PaginatedRequestParams) -> HandlerResult:
        return {"resultType": "complete", "skills": [self.entry()], **_CACHE}

    async def _get(self, _: _RequestContext, params: UriParams) -> HandlerResult:
        entry = self.entry()
        if params.uri != entry["uri"]:
            raise MCPError(code=INVALID_PARAMS, message=f"No skill is served at {params.uri[:200]}")
        return {"resultType": "complete", "skill": entry, **_CACHE}

    async def _directory(self, _: _RequestContext, params: UriParams) -> HandlerResult:
        guides = f"{ROOT_URI}/guides"
        if params.uri == ROOT_URI:
            children = [_resource(self.files[0])]
            children += [{"uri": guides, "name": "guides", "mimeType": _DIRECTORY}]
        elif params.uri == guides:
            children = [_resource(file) for file in self.files[1:]]
        else:
            message = f"{params.uri[:200]} is not a directory resource"
            raise MCPError(code=INVALID_PARAMS, message=message)
        return {"resultType": "complete", "resources": children}

    def entry(self) -> dict[str, Any]:
        """Return the skill's entry; digests are of the files as they are now."""
        skill = self.files[0]
        return {
            "uri": skill.uri,
            "frontmatter": frontmatter(skill.path.read_text("utf-8")),
            "resources": [_digest(file) for file in self.files],
        }


def _resource(file: SkillFile) -> dict[str, Any]:
    resource = {"uri": file.uri, "name": file.path.name, "title": file.title}
    if file.description:
        resource["description"] = file.description
    return {**resource, "mimeType": _MARKDOWN}


def _digest(file: SkillFile) -> dict[str, Any]:
    data = file.path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return {"uri": file.uri, "digest": f"sha256:{digest}", "size": len(data)}
