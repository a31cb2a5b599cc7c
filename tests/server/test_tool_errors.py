"""What an agent reads when a tool fails: never a bare name, never a traceback."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.model import RunsAnswer
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from mcp import Client
from mcp.server import MCPServer
from mcp_types import CallToolResult


async def demo(kind: str) -> Annotated[CallToolResult, RunsAnswer]:
    """Fail in some way."""
    if kind == "ours":
        raise WrongUse("it is upside down", help="Turn it round.")
    if kind == "crash":
        raise ZeroDivisionError("secret " * 1000)
    return answer(RunsAnswer())


def ask(kind: Any) -> Any:
    marks = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
    server = MCPServer("demo", tools=[tool(demo, "Demo", **marks)])

    async def main() -> Any:
        async with Client(server) as client:
            return await client.call_tool("demo", {"kind": kind})

    return anyio.run(main)


def test_our_error_says_what_to_do():
    result = ask("ours")
    assert result.is_error
    assert result.content[0].text == "it is upside down. Turn it round."


def test_crash_says_its_kind_and_where_the_log_is(caplog: pytest.LogCaptureFixture):
    text = ask("crash").content[0].text
    assert text.startswith("ZeroDivisionError: secret ")
    assert len(text) < 600
    assert "log" in text
    assert "ZeroDivisionError" in caplog.text


def test_wrong_type_names_the_argument():
    text = ask(["a", "list"]).content[0].text
    assert text.startswith("wrong arguments: `kind`: ")
    assert "http" not in text


def test_empty_answer_is_an_empty_object():
    assert ask("fine").structured_content == {}
