"""What clients see before they call anything, which is paid for in every conversation; and the
skill over MCP (SEP-2640): a host can list it, verify it and walk its directory."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug import skill
from aoti_debug.answers import StageAnswer, TriageAnswer
from aoti_debug.facts.stages import STAGES
from aoti_debug.server import INSTRUCTIONS, TOOLS, create_server
from aoti_debug.skill import UriParams
from aoti_debug.tools.waiting import RunAnswer
from guides.documents import properties
from mcp import Client, MCPError
from mcp_types import Request, Result
from pydantic import ConfigDict

COMPACT: dict[str, Any] = {"separators": (",", ":"), "sort_keys": True, "ensure_ascii": False}
TOKENS = 2_500
CHARACTERS_PER_TOKEN = 3.2  # JSON and identifiers take more tokens than prose: counted low


def listed() -> list[dict[str, Any]]:
    async def main() -> Any:
        async with Client(create_server()) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(main)
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def outlined(tools: list[dict[str, Any]]) -> str:
    """Write a line for each tool, after a line for each definition that they share. The stages
    are those of their table, which a test of its own sees to: a new one changes no snapshot."""
    shared: dict[str, Any] = {}
    lines = []
    for tool in tools:
        if stage := tool["inputSchema"]["properties"].get("stage"):
            stage["enum"] = ["…"]
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            definitions = schema.pop("$defs", {})
            for name, definition in definitions.items():
                assert shared.setdefault(name, definition) == definition
        lines.append(json.dumps(tool, **COMPACT))
    rows = [f'"{name}":{json.dumps(shared[name], **COMPACT)}' for name in sorted(shared)]
    parts = ('{"$defs":{', ",\n".join(rows), '},"tools":[', ",\n".join(lines), "]}", "")
    return "\n".join(parts)


def test_schemas_are_as_they_were(snapshot):
    """`--snapshot-update` rewrites it: read the difference before you commit it."""
    now = outlined(listed())
    assert json.loads(now)
    assert now == snapshot


def test_names_descriptions_and_schemas_fit_the_budget():
    shown = [
        {key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listed()
    ]
    characters = len(json.dumps(shown, separators=(",", ":")))
    assert len(shown) <= 12
    assert characters / CHARACTERS_PER_TOKEN <= TOKENS


def test_first_words_of_the_instructions_sell():
    first = INSTRUCTIONS[:250]
    for word in ("AOTInductor", ".pt2", "crashes", "wrong numbers", "`triage`", "`diagnose_log`"):
        assert word in first
    assert len(INSTRUCTIONS) < 1000  # some clients repeat it with every tool


@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_tool_says_all_about_itself(tool):
    assert set(tool["annotations"]) >= {
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    }
    assert tool["outputSchema"]["type"] == "object"
    assert 40 < len(tool["description"]) < 400


@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_schema_holds_no_nulls_and_no_generated_titles(tool):
    def check(schema: Any) -> None:
        if isinstance(schema, dict):
            assert schema.get("type") != "null"
            assert not isinstance(schema.get("title"), str)
            for value in schema.values():
                check(value)
        if isinstance(schema, list):
            for value in schema:
                check(value)

    check(tool["inputSchema"])
    check(tool["outputSchema"])


@pytest.mark.parametrize("tool", listed(), ids=lambda tool: tool["name"])
def test_schema_allows_no_unknown_argument(tool):
    assert tool["inputSchema"]["additionalProperties"] is False


def test_stages_are_those_of_the_table():
    stage = next(tool for tool in TOOLS if tool.name == "run_stage").parameters["properties"]
    assert stage["stage"]["enum"] == list(STAGES)


@pytest.mark.parametrize("kind", [StageAnswer, TriageAnswer])
def test_answer_of_either_kind_fits_the_schema_of_wait_run(kind):
    assert kind.model_fields.keys() <= RunAnswer.model_fields.keys()
    required = {name for name, field in RunAnswer.model_fields.items() if field.is_required()}
    assert required <= {name for name, field in kind.model_fields.items() if field.is_required()}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_nothing_can_be_subscribed_to(mode):
    capabilities = anyio.run(_capabilities, mode)
    assert not capabilities.tools.list_changed
    assert not capabilities.resources.subscribe


def test_skill_is_declared_where_the_protocol_has_extensions():
    extensions = anyio.run(_capabilities, "auto").extensions
    assert extensions == {"io.modelcontextprotocol/skills": {"directoryRead": True}}


async def _capabilities(mode: Any) -> Any:
    async with Client(create_server(), mode=mode) as client:
        return client.server_capabilities


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
