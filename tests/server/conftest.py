"""Clients of a server in this process, a home for their runs; the result of a call taken apart."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from aoti_debug.server import create_server
from mcp import Client
from programs import torch_python

T = TypeVar("T")
Work = Callable[[Client], Awaitable[T]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the runs of a test are kept."""
    place = tmp_path / "home"
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(place))
    monkeypatch.setenv("AOTI_DEBUG_PYTHON", torch_python())
    return place


@pytest.fixture(params=["legacy", "auto"])
def talk(request: pytest.FixtureRequest, home: Path) -> Callable[[Work[Any]], Any]:
    """Do some work as a client, in both of the protocol's eras."""

    def run(work: Work[Any]) -> Any:
        async def main() -> Any:
            async with Client(create_server(), mode=request.param) as client:
                return await work(client)

        return anyio.run(main)

    return run


# Of tests whose subject is a run: what it does is the same in both.
ONE_ERA = pytest.mark.parametrize("talk", ["auto"], indirect=True)


@pytest.fixture
def call(talk: Callable[[Work[Any]], Any]) -> Callable[..., Any]:
    """Call one tool once."""

    def run(tool: str, /, **arguments: Any) -> Any:
        return talk(lambda client: client.call_tool(tool, arguments))

    return run


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "target.py"
    path.write_text("print('hello from the target')\n")
    return path


def text_of(result: Any) -> str:
    assert len(result.content) == 1
    return str(result.content[0].text)


def answer_of(result: Any) -> dict[str, Any]:
    """Return the structure, after checking that the text says the same."""
    assert not result.is_error, text_of(result)
    assert json.loads(text_of(result)) == result.structured_content
    assert len(text_of(result)) < 8000
    return dict(result.structured_content)


def error_of(result: Any) -> str:
    """Return an error's text; clients show an agent either text or structure, so it is alone."""
    assert result.is_error
    assert result.structured_content is None
    assert "Error executing tool" not in text_of(result)
    assert "pydantic" not in text_of(result)
    return text_of(result)
