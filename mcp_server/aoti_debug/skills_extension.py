"""Serve the skill over MCP (SEP-2640): its entry, its files with digests, its directories."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding, ResourceBinding
from mcp.server.mcpserver.resources import FileResource
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

from aoti_debug.skill import ROOT_URI, SkillFile, files, frontmatter

_MARKDOWN = "text/markdown"
_DIRECTORY = "inode/directory"
_CACHE = {"ttlMs": 300_000, "cacheScope": "public"}
_RequestContext = ServerRequestContext[Any, Any]


class UriParams(PaginatedRequestParams):
    uri: str


class SkillsExtension(Extension):
    """The one skill of this server."""

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
                    uri=file.uri,
                    name=file.name,
                    title=file.title,
                    description=file.description or None,
                    mime_type=_MARKDOWN,
                    path=file.path,
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

    async def _list(self, _: _RequestContext, params: PaginatedRequestParams) -> HandlerResult:
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
