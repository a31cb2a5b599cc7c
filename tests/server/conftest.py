from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from aoti_debug.server import create_server
from interpreter import torch_python
from mcp import Client

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
