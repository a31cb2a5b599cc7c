"""What clients see before they call anything: it is paid for in every conversation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.facts.stages import STAGES
from aoti_debug.model import StageAnswer, TriageAnswer
from aoti_debug.server import INSTRUCTIONS, TOOLS, create_server
from aoti_debug.tools.waiting import RunAnswer
from mcp import Client

SNAPSHOT = Path(__file__).parent / "snapshots" / "tools.json"
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
    """Write a line for each tool, after a line for each definition that they share."""
    shared: dict[str, Any] = {}
    lines = []
    for tool in tools:
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            definitions = schema.pop("$defs", {})
            for name, definition in definitions.items():
                assert shared.setdefault(name, definition) == definition
        lines.append(json.dumps(tool, **COMPACT))
    rows = [f'"{name}":{json.dumps(shared[name], **COMPACT)}' for name in sorted(shared)]
    parts = ('{"$defs":{', ",\n".join(rows), '},"tools":[', ",\n".join(lines), "]}", "")
    return "\n".join(parts)


def test_schemas_are_as_they_were():
    """AOTI_DEBUG_UPDATE=1 rewrites the snapshot: read the difference before you commit it."""
    now = outlined(listed())
    assert json.loads(now)
    if os.environ.get("AOTI_DEBUG_UPDATE"):
        SNAPSHOT.write_text(now, "utf-8")
    assert now == SNAPSHOT.read_text("utf-8")


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
