"""The skill over MCP (SEP-2640): a host can list it, verify it and walk its directory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from aoti_debug import skill
from aoti_debug.skills_extension import UriParams
from mcp import MCPError
from mcp_types import Request, Result
from pydantic import ConfigDict
from specification import properties

ROOT = Path(__file__).parents[2]


class Answer(Result):
    model_config = ConfigDict(extra="allow")


def ask(method: str, **params: Any) -> Any:
    async def work(client: Any) -> dict[str, Any]:
        request = Request[UriParams, str](method=method, params=UriParams(**{"uri": "", **params}))
        answer = await client.session.send_request(request, Answer)
        return dict(answer.model_dump(by_alias=True))

    return work


def test_skill_is_found_in_the_source_tree():
    assert skill.directory() == ROOT


def test_frontmatter_is_read_as_the_reference_validator_reads_it():
    ours = skill.frontmatter((ROOT / "SKILL.md").read_text("utf-8"))
    assert ours == properties(ROOT)


def test_listing_is_complete_and_its_digests_hold(talk):
    async def work(client: Any) -> None:
        listing = await ask("skills/list")(client)
        (entry,) = listing["skills"]
        assert entry["uri"] == "skill://aoti-debug/SKILL.md"
        assert entry["frontmatter"]["name"] == "aoti-debug"
        assert {"ttlMs", "cacheScope", "resultType"} <= listing.keys()
        assert len(entry["resources"]) == 1 + len(list((ROOT / "guides").glob("*.md")))
        for file in entry["resources"]:
            read = await client.read_resource(file["uri"])
            data = read.contents[0].text.encode()
            assert len(data) == file["size"]
            assert f"sha256:{hashlib.sha256(data).hexdigest()}" == file["digest"]

    talk(work)


def test_one_skill_is_got_by_its_uri(talk):
    got = talk(ask("skills/get", uri="skill://aoti-debug/SKILL.md"))
    listed = talk(ask("skills/list"))
    assert got["skill"] == listed["skills"][0]


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("skills/get", "skill://other/SKILL.md"),
        ("resources/directory/read", "skill://aoti-debug/SKILL.md"),
        ("resources/directory/read", "skill://aoti-debug/.."),
        ("resources/directory/read", "file:///etc"),
    ],
)
def test_what_is_not_served_is_an_invalid_parameter(talk, method, uri):
    async def work(client: Any) -> int:
        with pytest.raises(MCPError) as caught:
            await ask(method, uri=uri)(client)
        return caught.value.error.code

    assert talk(work) == -32602


def test_resource_of_the_skill_says_when_to_use_it(talk):
    async def work(client: Any) -> dict[str, str | None]:
        listed = (await client.list_resources()).resources
        return {str(resource.uri): resource.description for resource in listed}

    said = talk(work)
    assert said["skill://aoti-debug/SKILL.md"] == properties(ROOT)["description"]


def test_directories_list_their_children(talk):
    top = talk(ask("resources/directory/read", uri="skill://aoti-debug"))["resources"]
    assert [child["name"] for child in top] == ["SKILL.md", "guides"]
    assert top[0]["description"] == properties(ROOT)["description"]
    guides = talk(ask("resources/directory/read", uri=top[1]["uri"]))["resources"]
    assert "inputs-and-devices.md" in [child["name"] for child in guides]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("---\nname: x\nlicense: MIT\n---\nbody", {"name": "x", "license": "MIT"}),
        ("---\nd: >-\n  one: two\n  three\n---\n", {"d": "one: two three"}),
        ("---\nm:\n  a: 'it''s'\n  b: \"q\\\"\"\n---\n", {"m": {"a": "it's", "b": 'q"'}}),
    ],
)
def test_frontmatter_of_all_allowed_forms(text, fields):
    assert skill.frontmatter(text) == fields


@pytest.mark.parametrize("text", ["", "# no", "---\nname: x\n", "---\njust words\n---\n"])
def test_text_without_frontmatter_is_refused(text):
    with pytest.raises(ValueError, match=r"frontmatter|field"):
        skill.frontmatter(text)
