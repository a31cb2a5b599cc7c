"""What one client does harms no other: connections, sessions, requests, files; and what each asks
is answered."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import psutil
import pytest
from aoti_debug.errors import UnknownRun, UnreadableInput, WrongUse
from aoti_debug.model import DiagnoseAnswer
from aoti_debug.package.elf import read_library
from aoti_debug.probe.fork_server import _signal_name
from aoti_debug.reading import OWN, PLACES, Readers, _size
from aoti_debug.run.machine import ask
from aoti_debug.server import _artifact
from aoti_debug.sweep.plan import _HAS
from aoti_debug.sweep.row import UnreadableSweep, rows_of
from aoti_debug.tools.looking import read_artifact
from aoti_debug.tools.tool import OWNER
from aoti_debug.tools.waiting import in_turn
from aoti_debug.upload import _receive
from aoti_debug.web import BODY, BURST, COST, REQUESTS, SESSIONS, Guard, Tokens, tokens
from mcp import MCPError
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from programs import ENDLESS, READ, FileWatch
from server.conftest import (
    ACCEPT,
    ALICE,
    BEGIN,
    BOB,
    PATIENCE_S,
    WAITS,
    Served,
    Server,
    answer_of,
    error_of,
    posted,
    served,
    tokens_of,
)
from server.test_http import cancelled, holding, lines_read, packed
from starlette.types import Message, Receive, Scope, Send


def test_a_token_without_a_name_stays_the_same_when_a_line_goes(tmp_path: Path) -> None:
    both = tokens(tokens_of(tmp_path, f"{ALICE}\n{BOB}\n"), {})
    alone = tokens(tokens_of(tmp_path, f"{BOB}\n"), {})
    assert both is not None
    assert alone is not None
    assert both.name_of(f"Bearer {BOB}") == alone.name_of(f"Bearer {BOB}") is not None
    assert both.name_of(f"Bearer {ALICE}") != alone.name_of(f"Bearer {BOB}")
    assert BOB not in str(alone.name_of(f"Bearer {BOB}"))


def test_without_token_and_session_nobody_is_served(loopback: Served) -> None:
    for method in ("server/discover", "tools/call"):
        call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {}}
        said = posted(loopback, call, "", MCP_Protocol_Version="2026-07-28")
        assert said.status_code == 400
        assert said.json()["id"] == 7
        assert "token" in said.json()["error"]["message"]


@pytest.mark.parametrize("number", ["null", "NaN", "1.5", "{}", "[1]", "true", "1e3", "-Infinity"])
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_call_without_a_usable_id_is_answered(guarded: Served, number: str, version: str) -> None:
    body = f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/list"}}'.encode()
    said = posted(guarded, body, MCP_Protocol_Version=version)
    assert said.status_code == 400
    assert said.json()["id"] is None
    assert said.json()["error"]["message"]


def test_over_stdio_too(server: Server) -> None:
    for number in ("null", "NaN", "1.5", "{}"):
        server.send(f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/list"}}')
        said = server.receive()
        assert said.get("id") is None and "id" in said["error"]["message"]


def test_a_request_with_two_lengths_is_refused_and_its_connection_closed(loopback: Served) -> None:
    smuggled = "0\r\n\r\nGET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(smuggled)}\r\n"
    with loopback.connected() as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n{smuggled}".encode())
        said = connection.makefile("rb").read()
    assert said.startswith(b"HTTP/1.1 400") and said.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "chunk", ["1\r\n \r\n", f"100\r\n{' ' * 256}\r\n", f"1;{'x' * 201}\r\n \r\n"]
)
def test_a_body_in_thousands_of_small_chunks_is_refused(guarded: Served, chunk: str) -> None:
    """Each took as long as a large one, and nobody else was answered meanwhile."""
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ALICE}\r\n"
    with guarded.connected() as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):  # it is closed while this is sent
            connection.sendall(chunk.encode() * 20_000 + b"0\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            closed = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"
            assert connection.recv(1000) in (b"", closed)


def test_the_rest_of_a_refused_body_in_chunks_is_not_read(guarded: Served) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ALICE}\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with guarded.connected() as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with pytest.raises(ConnectionError):
            connection.sendall(chunk * 600)  # more than one holds that nobody reads


def test_the_sessions_of_one_token_leave_room_for_others(guarded: Served) -> None:
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    version = {"MCP_Protocol_Version": "2025-06-18"}

    def found(count: int) -> list[int]:
        begun = [posted(guarded, BEGIN).headers["mcp-session-id"] for _ in range(count)]
        return [posted(guarded, ping, Mcp_Session_Id=one, **version).status_code for one in begun]

    assert found(SESSIONS + 10) == [404] * 10 + [200] * SESSIONS
    assert posted(guarded, BEGIN, BOB).status_code == 200
    assert found(2) == [200, 200], "a session that was only begun is newer than those in use"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_without_a_token_another_user_of_the_machine_is_not_served(loopback: Served) -> None:
    place, _, port = loopback.place.partition(":")

    def status() -> int:
        connection = http.client.HTTPConnection(place, int(port), timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.request("POST", "/mcp", json.dumps(BEGIN), ACCEPT)
            return connection.getresponse().status

    assert status() == 200  # what it imports, another user may not read
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.setuid(65534)
            os.write(writer, str(status()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        assert said.read() == "403"
    os.waitpid(child, 0)


def test_a_newcomer_without_a_token_ends_no_session_in_use(
    tmp_path: Path, waits: dict[str, Any]
) -> None:
    """All that is known of such a peer is its address, so it may be another client."""

    async def main(server: Served) -> None:
        async with server.client(mode="legacy") as bob:
            run = answer_of(await bob.call_tool("run_stage", waits))["run"]

            def ask() -> list[int]:
                return [posted(server, BEGIN, "").status_code for _ in range(SESSIONS + 10)]

            found = await anyio.to_thread.run_sync(ask)
            assert sorted(set(found)) == [200, 429]
            assert await cancelled(bob, run)

    with served(tmp_path / "home") as server:
        anyio.run(main, server)


def test_a_session_that_was_made_up_owns_nothing(loopback: Served) -> None:
    begun = posted(loopback, BEGIN, "", MCP_Protocol_Version="2025-06-18")
    session = begun.headers["mcp-session-id"]
    for given, status in (
        ({}, 400),
        ({"Mcp_Session_Id": "made up"}, 400),
        ({"Mcp_Session_Id": session}, 200),
    ):
        assert posted(loopback, packed(), "", "/upload", **given).status_code == status
    httpx2.delete(loopback.url, headers={"Mcp-Session-Id": session})


async def trickle() -> AsyncIterator[bytes]:
    """Send a byte whenever the last one was taken; a body that never ends."""
    while True:
        yield b"x"
        await anyio.lowlevel.checkpoint()


def test_an_upload_that_trickles_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its parts comes at once, and all together they come too slowly."""
    monkeypatch.setattr("aoti_debug.upload.SILENCE_S", 0.5)
    monkeypatch.setattr("aoti_debug.upload.BYTES_A_SECOND", 1e9)

    class Slow:
        stream = staticmethod(trickle)

    async def main() -> None:
        with io.BytesIO() as packed, pytest.raises(WrongUse, match="a second"):
            await _receive(Slow(), packed)  # type: ignore[arg-type]

    anyio.run(main)


@contextlib.asynccontextmanager
async def reading() -> AsyncIterator[Readers]:
    readers = Readers()
    try:
        yield readers
    finally:
        await readers.close()


async def diagnosed(readers: Readers, client: str, **given: str) -> int:
    return (await readers.read(client, DiagnoseAnswer, "diagnose_log", None, **given)).lines


def test_slow_readings_of_many_sessions_hold_no_place() -> None:
    async def main() -> None:
        async def slow(client: str) -> None:
            with contextlib.suppress(UnreadableInput):
                await diagnosed(readers, client, path=str(ENDLESS))
            ended.append(client)

        ended: list[str] = []
        async with reading() as readers, anyio.create_task_group() as tasks:
            for number in range(PLACES):
                for _ in range(OWN):
                    tasks.start_soon(slow, f"session {number}")
            await anyio.lowlevel.checkpoint()
            assert (await diagnosed(readers, "bob", text="RuntimeError: no"), ended) == (1, [])
            tasks.cancel_scope.cancel()

    anyio.run(main)


def test_sessions_with_open_streams_leave_room_for_others(guarded: Served) -> None:
    host, _, port = guarded.place.partition(":")
    with contextlib.ExitStack() as held:
        for _ in range(SESSIONS):
            session = posted(guarded, BEGIN).headers["mcp-session-id"]
            connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_S)
            asked = held.enter_context(contextlib.closing(connection))
            marks = {"Authorization": f"Bearer {ALICE}", "Accept": "text/event-stream"}
            asked.request("GET", "/mcp", headers={**marks, "Mcp-Session-Id": session})
            assert asked.getresponse().status == 200
        assert posted(guarded, BEGIN).status_code == 429
        assert posted(guarded, BEGIN, BOB).status_code == 200


def test_requests_beyond_the_limit_are_refused_in_words(
    guarded: Served, waits: dict[str, Any]
) -> None:
    async def main() -> None:
        async with guarded.client(ALICE) as alice, guarded.client(BOB) as bob:
            run = answer_of(await alice.call_tool("run_stage", waits))["run"]
            refused = anyio.Event()

            async def wait() -> None:
                with contextlib.suppress(MCPError):
                    await alice.call_tool("wait_run", {"run": run})
                refused.set()

            async with anyio.create_task_group() as tasks:
                for _ in range(REQUESTS + 1):
                    tasks.start_soon(wait)
                with anyio.fail_after(PATIENCE_S):
                    await refused.wait()
                assert await lines_read(bob) == 1
                tasks.cancel_scope.cancel()

    anyio.run(main)


class Silent:
    """A guard, and an application behind it that does not answer what it is passed."""

    def __init__(self) -> None:
        self.passed: list[Scope] = []
        self.answers: list[int] = []
        self.guard = Guard(self._application, Tokens({"a": ALICE, "b": BOB}), ["host"])

    async def _application(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.passed.append(scope)
        await anyio.sleep_forever()

    async def _sent(self, message: Message) -> None:
        self.answers.extend([message["status"]] if "status" in message else [])

    async def asked(
        self, call: dict[str, Any], token: str = ALICE, session: str = "", method: str = "POST"
    ) -> None:
        words = {"authorization": f"Bearer {token}", "host": "host"}
        words |= {"mcp-session-id": session} if session else {}
        raw = [(name.encode(), value.encode()) for name, value in words.items()]

        async def body() -> Message:
            whole = json.dumps({"jsonrpc": "2.0", "method": "ping", **call}).encode()
            return {"type": "http.request", "body": whole, "more_body": False}

        scope = {"type": "http", "method": method, "path": "/mcp", "headers": raw}
        await self.guard(scope, body, self._sent)

    async def all_passed(self, calls: Sequence[tuple[Any, ...]], last: tuple[Any, ...]) -> None:
        async with anyio.create_task_group() as tasks:
            for call in calls:
                tasks.start_soon(self.asked, *call)
            while len(self.passed) < len(calls):
                await anyio.lowlevel.checkpoint()
            await self.asked(*last)
            tasks.cancel_scope.cancel()


def test_the_bytes_of_one_client_leave_the_event_loop_to_others() -> None:
    silent = Silent()
    call = {"id": 1, "params": {"text": "x" * 1_000_000}}
    anyio.run(silent.all_passed, [(call,), (call,), (call, BOB)], (call,))
    assert (len(silent.passed), silent.answers) == (3, [429])


def test_requests_without_a_body_and_bodies_that_are_too_large_count_as_well() -> None:
    silent, many = Silent(), 2 * BURST // COST
    large = {"id": 1, "params": {"text": "x" * BODY}}

    async def main() -> None:
        for _ in range(6):  # three times what is let in at once
            await silent.asked(large, BOB)
        async with anyio.create_task_group() as tasks:
            for _ in range(many):
                tasks.start_soon(silent.asked, {}, ALICE, "", "GET")
            while len(silent.passed) + len(silent.answers) < many + 6:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

    anyio.run(main)
    assert silent.answers[0] == 413 and 429 in silent.answers[:6]
    assert set(silent.answers[6:]) == {429}
    assert len(silent.passed) >= BURST // COST


def test_an_id_whose_call_is_not_answered_yet_is_refused() -> None:
    silent, one = Silent(), {"id": 1}
    calls = [(one, ALICE, "s"), ({"id": "2"}, ALICE, "s"), (one, ALICE, "t")]
    notified: list[tuple[Any, ...]] = [({}, ALICE, "s")] * 2
    for _ in range(2):  # the guard forgets what is over
        anyio.run(silent.all_passed, [*calls, *notified], ({"id": "1"}, ALICE, "s"))
        silent.passed.clear()
    assert silent.answers == [409, 409]


def test_idle_connections_keep_nobody_out(tmp_path: Path) -> None:
    with served(tmp_path / "home", files=256) as server, contextlib.ExitStack() as held:
        for _ in range(301):
            last = held.enter_context(server.connected())
        assert posted(server, BEGIN, "").status_code == 200
        assert last.recv(100).startswith((b"HTTP/1.1 408", b"HTTP/1.1 503"))
        assert len(server.ended()) < 10_000


def answered(connection: socket.socket, *headers: str) -> bool:
    lines = ("DELETE /mcp HTTP/1.1", "Host: localhost", *headers, "", "")
    connection.sendall("\r\n".join(lines).encode())
    text = b""
    while not text.endswith(b"}") and (more := connection.recv(1000)):
        text += more
    return text.startswith(b"HTTP/1.1 400") and b"Missing session ID" in text


def test_idle_connections_of_strangers_end_none_that_was_let_in(tmp_path: Path) -> None:
    with served(tmp_path / "home", files=256) as server, contextlib.ExitStack() as held:
        known, *strangers = (held.enter_context(server.connected()) for _ in range(70))
        assert answered(known)
        strangers += [held.enter_context(server.connected()) for _ in range(300)]
        assert strangers[200].recv(100).startswith(b"HTTP/1.1 503")
        assert answered(known)


def test_the_client_with_most_connections_loses_them_first(tmp_path: Path) -> None:
    file = tokens_of(tmp_path, f"alice {ALICE}\nbob {BOB}\n")
    of_alice, of_bob = (f"Authorization: Bearer {token}" for token in (ALICE, BOB))
    begun = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{of_bob}\r\nContent-Length: 99\r\n"
    home, words = tmp_path / "home", ("--token-file", str(file))
    with served(home, *words, files=256) as server, contextlib.ExitStack() as held:
        kept = held.enter_context(server.connected())
        assert answered(kept, of_alice)
        for number in range(120):
            if number == 100:
                new = held.enter_context(server.connected())
            one = held.enter_context(server.connected())
            one.sendall(f"{begun}Expect: 100-continue\r\n\r\n".encode())
            assert one.recv(100).startswith((b"HTTP/1.1 100", b"HTTP/1.1 429"))
        assert answered(kept, of_alice) and answered(new, of_alice)


def test_connections_that_were_refused_are_closed(tmp_path: Path) -> None:
    strange = b"GET /mcp HTTP/1.1\r\nHost: elsewhere\r\nContent-Length: 0\r\n\r\n"
    with served(tmp_path / "home", files=256) as server, contextlib.ExitStack() as held:
        for _ in range(300):
            one = held.enter_context(server.connected())
            one.sendall(strange)
        while one.recv(1000):  # to its end
            pass
        assert posted(server, BEGIN, "").status_code == 200
        assert len(server.ended()) < 10_000


def test_what_another_client_left_cannot_be_named_by_path(guarded: Served, tmp_path: Path) -> None:
    says = tmp_path / "says.py"
    says.write_text("print('secret words')\n")
    script = {"script": str(says)}
    uploaded = posted(guarded, holding("go.py", data=b"print(1)\n"), path="/upload").json()
    folder = uploaded["folder"]
    go = f"{folder}/go.py"

    def of_target(what: str) -> dict[str, str]:
        manifest = tmp_path / "targets.toml"
        manifest.write_text(f"[[target]]\nname = 'one'\n{what}\n")
        return {"manifest": str(manifest)}

    (tmp_path / "root").symlink_to("/proc/thread-self/root")
    (tmp_path / "link").symlink_to(guarded.home.parent / "tokens")

    async def main() -> None:
        async with guarded.client(ALICE) as alice, guarded.client(BOB) as bob:
            run = answer_of(await alice.call_tool("run_stage", script))["run"]
            kept = str(guarded.home / "runs" / run)
            log = f"{kept}/stdout.log"
            assert answer_of(await alice.call_tool("diagnose_log", {"path": log}))["lines"] == 1
            paths = (
                log,
                str(guarded.home.parent / "tokens"),
                str(tmp_path / "link"),
                "/proc/self/environ",
                f"/proc/self/cwd{log}",
                f"{tmp_path}/root/{log}",
            )
            for tool, given in (
                *(("diagnose_log", {"path": path}) for path in paths),
                ("inspect_package", {"package": kept}),
                ("explain_kernel", {"package": kept, "kernel": "x"}),
                ("explain_kernel", {"run": kept, "kernel": "x"}),
                ("check_environment", {"python": go}),
                ("run_stage", {**script, "python": go}),
                ("sweep", {"manifest": str(tmp_path), "baseline": kept}),
                ("sweep", {"manifest": folder}),
                ("run_stage", {"script": go}),
                ("run_stage", {"script": "go.py", "cwd": folder}),
                ("triage", {"command": ["cat", "x"], "cwd": kept}),
                ("triage", {"command": ["cat", go]}),
                ("run_stage", {**script, "args": [f"--data={go}"]}),
                ("run_stage", {**script, "env": {"PYTHONPATH": f"/a:{folder}"}}),
                ("minify", {"what": go}),
                ("verify_fix", {"what": go, "against": run}),
            ):
                said = error_of(await bob.call_tool(tool, given))
                assert "there is no file" in said, (tool, said)
            for target in (
                f'script = "{go}"',
                f'script = "{says}"\npython = "{folder}/x"',
                f'command = ["cat", "x"]\ncwd = "{folder}"',
            ):
                said = error_of(await bob.call_tool("sweep", of_target(target)))
                assert "there is no file" in said, (target, said)
            asked = of_target(f'command = ["cat", "{go}"]')
            swept = answer_of(await bob.call_tool("sweep", asked))
            rows = guarded.home / "runs" / swept["run"] / "sweep.jsonl"
            assert (swept["errors"], "there is no file" in rows.read_text()) == (1, True)

    anyio.run(main)


CALLS = """\
import sys, anyio, httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main(url, token, mode, tool, **given):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=600) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            await client.call_tool(tool, given)

given = dict(word.split("=", 1) for word in sys.argv[5:])
anyio.run(lambda: main(*sys.argv[1:5], **given))
"""


@contextlib.contextmanager
def calling(server: Served, mode: str, tool: str, **given: object) -> Iterator[None]:
    """Have a client call a tool while the body runs, and then kill it."""
    words = [server.url, ALICE, mode, tool, *(f"{name}={given[name]}" for name in given)]
    with subprocess.Popen([sys.executable, "-c", CALLS, *words]) as client:
        yield
        client.kill()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_log_is_read_no_further_when_its_client_has_left(
    guarded: Served, tmp_path: Path, mode: str
) -> None:
    """A client may have so many read at a time, each for long: no hole is whole."""
    for number in range(OWN):
        log = tmp_path / f"{number}.log"
        with log.open("wb") as file:
            for at in range(0, 1 << 34, 1 << 20):
                file.seek(at)
                file.write(b"x")
        watch = FileWatch(log)
        with calling(guarded, mode, "diagnose_log", path=log):
            watch.wait(READ)
        watch.close()

    async def main() -> None:
        with anyio.fail_after(PATIENCE_S):
            async with guarded.client(ALICE) as alice:
                assert await lines_read(alice) == 1

    anyio.run(main)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_run_goes_on_when_its_client_has_left(guarded: Served, tmp_path: Path, mode: str) -> None:
    (tmp_path / "waits.py").write_text(f"open({str(tmp_path / 'pid')!r}, 'w').close()\n{WAITS}")
    os.mkfifo(tmp_path / "pid")
    script = {"script": str(tmp_path / "waits.py")}

    async def main() -> None:
        async with guarded.client(ALICE) as alice:
            before = set((guarded.home / "runs").glob("*"))
            with calling(guarded, mode, "run_stage", **script):
                (tmp_path / "pid").read_bytes()
            assert await lines_read(alice) == 1
            (run,) = (one.name for one in set((guarded.home / "runs").glob("*")) - before)
            seen = answer_of(await alice.call_tool("wait_run", {"run": run, "wait_s": 0}))
            assert seen["status"] == "running"
            await alice.call_tool("cancel_run", {"run": run})

    anyio.run(main)


def test_a_client_has_few_threads_also_when_its_calls_have_left() -> None:
    begun: list[str] = []
    release = threading.Event()

    async def main() -> None:
        async def begin(owner: str) -> None:
            def work(_: threading.Event) -> None:
                begun.append(owner)
                release.wait(PATIENCE_S)

            await in_turn(owner, work)

        async with anyio.create_task_group() as left:
            left.start_soon(begin, "a")
            left.start_soon(begin, "a")
            while begun != ["a", "a"]:
                await anyio.lowlevel.checkpoint()
            left.cancel_scope.cancel()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(begin, "a")
            tasks.start_soon(begin, "b")
            while "b" not in begun:
                await anyio.lowlevel.checkpoint()
            assert begun == ["a", "a", "b"]
            release.set()

    anyio.run(main)
    assert begun == ["a", "a", "b", "a"]


@pytest.mark.parametrize("read", [read_artifact, _artifact], ids=["tool", "resource"])
def test_reading_an_artifact_waits_for_a_turn_of_its_client(read: Any) -> None:
    done: list[str] = []
    release = threading.Event()

    async def main() -> None:
        async def reading(owner: str) -> None:
            request = SimpleNamespace(scope={OWNER: owner})
            call = SimpleNamespace(request_context=SimpleNamespace(request=request))
            with pytest.raises((UnknownRun, ResourceNotFoundError)):
                await read(call, "r-none", "run.json")
            done.append(owner)

        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(in_turn, "d", lambda _: release.wait(PATIENCE_S))
            await in_turn("e", lambda _: None)
            tasks.start_soon(reading, "d")
            for _ in range(20):
                await reading("e")
            before = set(done)
            release.set()
        assert before == {"e"}

    anyio.run(main)
    assert done.count("d") == 1


def test_a_call_that_leaves_before_its_thread_begins_gives_its_turn_back() -> None:
    async def main() -> None:
        for _ in range(5):
            with anyio.CancelScope() as left:
                left.cancel()
                await in_turn("c", lambda _: None)
        with anyio.fail_after(PATIENCE_S):
            assert await in_turn("c", lambda _: 7) == 7

    anyio.run(main)


def test_an_upload_whose_reading_is_ended_leaves_nothing(tmp_path: Path) -> None:
    """As it is when it takes too long: its process is killed."""
    many = holding(*(f"{'d/' * 14}{n}" for n in range(5000)), data=bytes(40_000))
    file = tokens_of(tmp_path, f"alice {ALICE}\n")

    async def main(server: Served) -> None:
        async def end_the_reader() -> None:
            while not [*server.home.glob("uploads/*/files/d")]:
                await anyio.lowlevel.checkpoint()
            for process in psutil.Process(server.process.pid).children():
                process.kill()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end_the_reader)
            said = await anyio.to_thread.run_sync(posted, server, many, ALICE, "/upload")
        assert said.status_code == 400
        assert [*server.home.glob("uploads/*")] == []

    with served(tmp_path / "home", "--token-file", str(file)) as server:
        anyio.run(main, server)


SLOW = """\
#!/bin/sh
echo began > {mailbox}
read line < {held}
"""


def test_sweeps_with_slow_interpreters_hold_up_neither_others_nor_the_end(tmp_path: Path) -> None:
    """Nobody writes into `held`: the interpreters go on as long as they are let."""
    (tmp_path / "of").mkdir()
    (tmp_path / "of" / "a.py").write_text("")
    for name in ("mailbox", "held"):
        os.mkfifo(tmp_path / name)
    pythons = [tmp_path / f"python{n}" for n in range(45)]
    for python in pythons:
        python.write_text(SLOW.format(mailbox=tmp_path / "mailbox", held=tmp_path / "held"))
        python.chmod(0o755)
    reading = os.open(tmp_path / "mailbox", os.O_RDWR)
    file = tokens_of(tmp_path, f"alice {ALICE}\nbob {BOB}\n")

    answered: list[int] = []

    async def main(server: Served) -> None:
        async with server.client(ALICE) as alice, server.client(BOB) as bob:

            async def sweep(python: Path) -> None:
                with contextlib.suppress(Exception):
                    given = {"manifest": str(tmp_path / "of"), "python": str(python)}
                    await alice.call_tool("sweep", given)

            async with anyio.create_task_group() as tasks:
                for python in pythons:
                    tasks.start_soon(sweep, python)
                await anyio.to_thread.run_sync(select.select, [reading], [], [], PATIENCE_S)
                with anyio.fail_after(PATIENCE_S):
                    answered.append(await lines_read(bob))
                    server.process.terminate()
                    await anyio.to_thread.run_sync(server.process.wait)
                tasks.cancel_scope.cancel()

    with served(tmp_path / "home", "--token-file", str(file)) as server:
        with contextlib.suppress(Exception):  # the clients' connections break
            anyio.run(main, server)
        assert (answered, server.process.poll() is not None) == ([1], True)
    os.close(reading)


LONG = "ConstantHandle a = ", 'double s0 = "', "AOTInductorModelBase(1 ", "(float*)(", "call_a("


def test_names_of_versions_that_a_library_needs_are_short(tmp_path: Path) -> None:
    name = f"LONG{'G' * 10_000}_1.2"
    (tmp_path / "map").write_text(f"{name} {{ global: f; }};\nGLIBC_9.9 {{ global: g; }};\n")
    (tmp_path / "needed.c").write_text("void f() {}\nvoid g() {}\n")
    own = "void AOTInductorModelContainerCreate()"
    (tmp_path / "m.c").write_text(f"void f();\nvoid g();\n{own} {{ f(); g(); }}\n")
    gcc = ["gcc", "-shared", "-fPIC", "-w", "-o"]
    subprocess.run(
        [*gcc, "libn.so", "needed.c", "-Wl,--version-script=map"], cwd=tmp_path, check=True
    )
    subprocess.run([*gcc, "m.so", "m.c", "-L.", "-ln"], cwd=tmp_path, check=True)
    size = (tmp_path / "m.so").stat().st_size
    with (tmp_path / "m.so").open("rb") as stream:
        assert read_library("m.so", stream, size).versions == (("GLIBC", "9.9"),)


@pytest.mark.parametrize("part", LONG)
def test_a_wrapper_of_one_line_is_read_in_linear_time(part: str) -> None:
    """Several patterns would take minutes for these repetitions: the kernel ends who does."""
    read = (
        "import resource, sys; from aoti_debug.package.wrapper import read_wrapper\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (60, 60))\n"
        "part = sys.argv[1] * ((24 << 20) // len(sys.argv[1]))\n"
        "text = 'void AOTInductorModel::run_impl(\\n' + part\n"
        "print(read_wrapper('a.wrapper.cpp', text).lines)"
    )
    ran = subprocess.run([sys.executable, "-c", read, part], capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"2\n")


def test_what_ends_the_reading_process_is_an_error_and_no_more() -> None:
    async def main() -> None:
        async with reading() as readers:
            with pytest.raises(UnreadableInput, match="ended its process"):
                await readers.read("a", DiagnoseAnswer, "no_such_function", None)
            assert await diagnosed(readers, "a", text="RuntimeError: no") == 1

    anyio.run(main)


def test_a_hole_gives_a_file_no_time_and_a_nul_in_the_environment_starts_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "hole").touch()
    os.truncate(tmp_path / "hole", 1 << 40)
    assert _size(tmp_path / "hole") == 0
    assert ask([sys.executable, "-V"], env={"A\0": "b"}) is None


SCRIPTS = Path(__file__).parents[2] / "scripts"


def harmful(kind: str) -> dict[str, str]:
    """Return the files of a package."""
    if kind == "long":
        lines = (part * ((4 << 20) // len(part)) for part in LONG)
        wrapper = "\n".join(("void AOTInductorModel::run_impl(", *lines))
        return {"a.so": "\x7fELF", "a.wrapper.cpp": wrapper}
    if kind == "deep":
        names = ("a.wrapper.json", "kernel_information.json")
        return {"a.so": "\x7fELF", **dict.fromkeys(names, "[" * (4 << 20))}
    kernels = {"kernel_information.json": '{"a": [1]}'}
    return {"\x1b]0;title\x07.so": "x", "a.wrapper.json": '["\x1b[31m"', **kernels}


@pytest.mark.parametrize("script", ["inspect_pt2.py", "kernel_to_line.py"])
@pytest.mark.parametrize("kind", ["escapes", "long", "deep"])
def test_a_script_reads_a_package_that_means_harm_to_the_end(
    tmp_path: Path, script: str, kind: str
) -> None:
    """They took minutes, or ended in a traceback with the status of something found."""
    with zipfile.ZipFile(tmp_path / "bad.pt2", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in harmful(kind).items():
            archive.writestr(f"m/data/aotinductor/model/{name}", text)
    words = [sys.executable, str(SCRIPTS / script), str(tmp_path / "bad.pt2")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 3 or (kind == "long" and done.returncode == 1)
    assert "Traceback" not in done.stderr
    if kind == "escapes":
        assert "could not be done" in done.stderr
        assert "\x1b" not in done.stdout + done.stderr


def test_a_script_may_not_take_the_memory_of_the_machine() -> None:
    greedy = "import shared; raise SystemExit(shared.read_apart(lambda: len(bytearray(3 << 30))))"
    done = subprocess.run(
        [sys.executable, "-c", greedy], cwd=SCRIPTS, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "could not be done" in done.stderr


def test_a_log_gives_a_ci_runner_no_command(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("RuntimeError: x\n::error::planted CUDA error: an illegal memory access\n" * 3)
    done = subprocess.run(
        [sys.executable, "-m", "aoti_debug", "diagnose", str(log)],
        capture_output=True,
        text=True,
        env={**os.environ, "CI": "true", "COLUMNS": "40"},
    )
    assert "::error::" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]


@pytest.mark.parametrize(
    ("name", "targets"),
    [("s", -8), ("s", 10**15), ("s", 10**30), ("s\n::error file=a.py::planted", 1)],
)
def test_a_ledger_that_no_sweep_has_written_is_refused(
    tmp_path: Path, name: str, targets: int
) -> None:
    head = {"sweep": name, "name": "n", "plan": "p", "targets": targets, "began": 1.0}
    (tmp_path / "sweep.jsonl").write_text(json.dumps(head) + "\n")
    with pytest.raises(UnreadableSweep, match="does not begin"):
        list(rows_of(tmp_path / "sweep.jsonl"))


def test_no_module_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("warnings", "types", "importlib"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(7)\n")
    monkeypatch.chdir(tmp_path)
    answer = ask([sys.executable, "-c", _HAS, "json"])
    assert answer is not None
    assert answer.code == 0
    assert not (tmp_path / "ran").exists()


def test_a_signal_without_a_name_has_one() -> None:
    assert _signal_name(signal.SIGRTMIN + 5) == "SIGRTMIN+5"
    assert _signal_name(signal.SIGSEGV) == "SIGSEGV"
