"""Clients of a server in this process, or started as clients start it; a home for their runs; the
result of a call taken apart."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
import pytest
from aoti_debug.server import create_server
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

T = TypeVar("T")
Work = Callable[[Client], Awaitable[T]]
PATIENCE_S = 60.0  # for things to begin
ALICE, BOB = "a" * 20, "b" * 20
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
CLIENT = {"name": "test", "version": "0"}
OFFERED = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
BEGIN = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": OFFERED}
SERVE = (sys.executable, "-m", "aoti_debug", "serve")
ASSERTED = (
    "/tmp/torchinductor_u/ab/cabcd.py:34: unknown: block: [0,0,0], thread: [5,0,0] Assertion "
    "`index out of bounds: 0 <= tmp4 < 1000` failed."
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the runs of a test are kept: `own_home` says so to the server."""
    return tmp_path / "home"


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


WAITS = "import signal\nprint('waiting', flush=True)\nsignal.pause()\n"


@pytest.fixture
def waits(tmp_path: Path) -> dict[str, Any]:
    """What starts a run that goes on, without waiting for it."""
    path = tmp_path / "waits.py"
    path.write_text(WAITS)
    return {"script": str(path), "wait_s": 0}


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


def variables(home: Path) -> dict[str, str]:
    return {"AOTI_DEBUG_HOME": str(home), "AOTI_DEBUG_PYTHON": sys.executable}


def over_stdio(home: Path, work: Work[T], *words: str, **more: str) -> T:
    """Do some work as a client of a server over standard input and output."""
    command, *args = words or SERVE

    async def main() -> T:
        env = {**variables(home), **more}
        parameters = StdioServerParameters(command=command, args=args, env=env)
        with anyio.fail_after(PATIENCE_S):
            async with Client(parameters) as client:
                return await work(client)

    return anyio.run(main)


class Server:
    """A server as clients start it, spoken to by hand."""

    def __init__(self, home: Path, errors: Path, *words: str) -> None:
        with errors.open("w") as file:
            self.process = subprocess.Popen(
                words or SERVE,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                env={**os.environ, **variables(home)},
                text=True,
            )
        self.send(json.dumps(BEGIN))
        assert self.receive()["id"] == 1
        self.tell("notifications/initialized", {})

    def ask(self, method: str, params: dict[str, Any], number: int = 1) -> None:
        self.tell(method, params, id=number)

    def tell(self, method: str, params: dict[str, Any], **more: int) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}))

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def call(self, arguments: dict[str, Any], tool: str = "run_stage") -> None:
        self.ask("tools/call", {"name": tool, "arguments": arguments}, number=2)

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with contextlib.closing(Server(tmp_path / "home", tmp_path / "errors")) as made:
        yield made


@dataclass(frozen=True)
class Served:
    """A server over HTTP."""

    place: str
    home: Path
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        return f"http://{self.place}/mcp"

    @contextlib.asynccontextmanager
    async def client(self, token: str = "", mode: Any = "auto") -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    def connected(self) -> socket.socket:
        host, _, port = self.place.partition(":")
        return socket.create_connection((host, int(port)), PATIENCE_S)

    def ended(self) -> str:
        """End it; return what it has said since it began to serve."""
        assert self.process.stderr is not None
        self.process.terminate()
        return self.process.stderr.read()


@contextlib.contextmanager
def served(home: Path, *words: str, files: int | None = None) -> Iterator[Served]:
    """Start a server that may have so many files open."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    env = {**os.environ, **variables(home)}
    argv = [*SERVE, "--http", place, *words]
    if files is not None:
        argv = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *argv]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, env=env, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"serving MCP at http://{place}/mcp\n"
        try:
            yield Served(place, home, process)
        finally:
            process.terminate()


def tokens_of(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "tokens"
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a token for each of two clients."""
    folder = tmp_path_factory.mktemp("guarded")
    file = tokens_of(folder, f"# who may call\nalice {ALICE}\nbob {BOB}\n")
    with served(folder / "home", "--token-file", str(file)) as server:
        yield server


@pytest.fixture(scope="module")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without a token, for this machine alone."""
    with served(tmp_path_factory.mktemp("loopback") / "home") as server:
        yield server


def posted(
    server: Served, body: object, token: str = ALICE, path: str = "/mcp", **headers: str
) -> httpx2.Response:
    given = {**ACCEPT, **{name.replace("_", "-"): value for name, value in headers.items()}}
    if token:
        given["Authorization"] = f"Bearer {token}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    url = f"http://{server.place}{path}"
    return httpx2.post(url, content=content, headers=given, timeout=PATIENCE_S)
