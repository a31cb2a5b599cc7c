"""Over HTTP: strangers learn nothing, clients see their own runs alone, nobody blocks others."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.web import tokens
from mcp import Client
from server.conftest import ALICE, BOB, PATIENCE_S, SERVE, answer_of, error_of, posted, tokens_of


async def lines_read(client: Client, text: str = "RuntimeError: no") -> int:
    """Have a client diagnose a log; return how many lines that is said to have."""
    return int(answer_of(await client.call_tool("diagnose_log", {"text": text}))["lines"])


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer " + "c" * 20,
        "Bearer " + ALICE[:-1],
        "Basic " + ALICE,
        "Bearer \xff" + ALICE,
        "Bearer " + "x" * 20_000,
    ],
    ids=range(8),
)
@pytest.mark.parametrize("path", ["/mcp", "/upload", "/", "/.well-known/oauth-protected-resource"])
def test_stranger_gets_401_and_learns_nothing(guarded, given, path):
    raw = {} if given is None else {"Authorization": given.encode("latin-1")}
    for method in ("GET", "POST", "OPTIONS"):
        said = httpx2.request(method, f"http://{guarded.place}{path}", headers=raw)
        assert (said.status_code, said.content) == (401, b"")
        assert said.headers["www-authenticate"] == "Bearer" and len(said.headers) == 3
        assert said.headers["connection"] == "close"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "http://evil.example", "Content-Type": "text/plain"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/upload"])
def test_page_in_a_browser_cannot_reach_the_server(loopback, headers, status, path):
    said = httpx2.post(f"http://{loopback.place}{path}", headers=headers, content=b"{}")
    assert (said.status_code, said.content) == (status, b"")


async def refused(client: Client, run: str) -> None:
    for tool, asked in (
        ("wait_run", {"run": run, "wait_s": 0}),
        ("cancel_run", {"run": run}),
        ("read_artifact", {"run": run, "name": "run.json"}),
        ("explain_kernel", {"run": run, "kernel": "0"}),
        ("minify", {"what": run}),
        ("verify_fix", {"what": __file__, "against": run}),
    ):
        assert "there is no run" in error_of(await client.call_tool(tool, asked))


async def cancelled(client: Client, run: str) -> bool:
    ended = answer_of(await client.call_tool("cancel_run", {"run": run}))
    return bool(ended["status"] == "cancelled")


def test_run_belongs_to_the_token_that_started_it(guarded, waits):
    async def main() -> None:
        async with guarded.client(ALICE) as alice, guarded.client(BOB) as bob:
            run = answer_of(await alice.call_tool("run_stage", waits))["run"]
            await refused(bob, run)
        async with guarded.client(ALICE, "legacy") as again:  # another session, the same token
            assert answer_of(await again.call_tool("wait_run", {"run": run, "wait_s": 0}))
            named = {"run": run, "name": "run.json"}
            assert run in answer_of(await again.call_tool("read_artifact", named))["text"]
            assert await cancelled(again, run)

    anyio.run(main)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_run_belongs_to_its_session_where_there_is_no_token(loopback, waits, mode):
    async def main() -> None:
        async with loopback.client("", mode) as one, loopback.client("", mode) as other:
            run = answer_of(await one.call_tool("run_stage", waits))["run"]
            await refused(other, run)
            assert await cancelled(one, run)
            await refused(other, run)

    anyio.run(main)


def test_two_hundred_connections_and_slow_clients_harm_no_other(guarded):
    start = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    slow = start + f"Authorization: Bearer {BOB}\r\nContent-Length: 1000000\r\n\r\n{{".encode()
    with contextlib.ExitStack() as held:
        for number in range(200):
            held.enter_context(guarded.connected()).sendall(slow if number % 2 else start)

        async def one() -> None:
            async with guarded.client(ALICE) as client:
                assert await lines_read(client) == 1

        async def main() -> None:
            with anyio.fail_after(PATIENCE_S):
                async with anyio.create_task_group() as tasks:
                    for _ in range(5):
                        tasks.start_soon(one)

        anyio.run(main)


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def test_uploaded_folder_is_run_and_its_artifacts_paged_back(guarded):
    module = (tarfile.TarInfo("./part/said.py"), b"WORDS = 'from the rack'\n")
    main_script = (tarfile.TarInfo("./go.py"), b"from part.said import WORDS\nprint(WORDS)\n")
    found = posted(guarded, packed(module, main_script), path="/upload").json()
    assert found["files"] == 2
    assert Path(found["folder"]).stat().st_mode & 0o077 == 0

    async def main() -> Any:
        async with guarded.client(ALICE) as client:
            asked = {"script": f"{found['folder']}/go.py"}
            run = answer_of(await client.call_tool("run_stage", asked))["run"]
            return await client.call_tool("read_artifact", {"run": run, "name": "stdout.log"})

    assert answer_of(anyio.run(main))["text"] == "from the rack"


def link(name: str, to: str, kind: bytes) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info, b""


def holding(*names: str, data: bytes = b"x") -> bytes:
    """Return an archive of files with the same content."""
    return packed(*((tarfile.TarInfo(name), data) for name in names))


LONG = tarfile.TarInfo("././@LongLink")
LONG.type, LONG.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
HEADER_OF_A_GIGABYTE = LONG.tobuf(tarfile.GNU_FORMAT)


def extended(content: bytes) -> bytes:
    """Return an extended header of this content."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(content)
    return info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)


MAP = b"0\n0\n" * (4 << 20)  # of a file in as many pieces, each of which tarfile keeps


def sparse(form: str) -> bytes:
    """Return a small archive of a sparse file, in one of the forms that tar writes."""
    info = tarfile.TarInfo("GNUSparseFile.0/f")
    info.size = len(MAP)
    headers = {
        "0.0": {"GNU.sparse.size": "1", "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "0"},
        "0.1": {"GNU.sparse.size": "1", "GNU.sparse.map": "0,0"},
        "1.0": {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "1"},
    }
    if form in headers:
        info.pax_headers = {"GNU.sparse.name": "f", **headers[form]}
        header = info.tobuf(tarfile.PAX_FORMAT)
    else:
        info.type = tarfile.GNUTYPE_SPARSE
        header = info.tobuf(tarfile.GNU_FORMAT)
    return gzip.compress(header + b"%d\n" % (4 << 20) + MAP + bytes(1024))


@pytest.mark.parametrize("form", ["0.0", "0.1", "1.0", "old"])
def test_a_sparse_file_is_refused_before_its_map_is_read(guarded, form):
    body = sparse(form)
    assert len(body) < 1 << 20
    said = posted(guarded, body, path="/upload")
    assert (said.status_code, said.json()["error"]) == (413, "the archive holds a sparse file")


BELOW_ZERO = tarfile.TarInfo("f")
BELOW_ZERO.pax_headers = {"size": "-5"}
NEGATIVE = BELOW_ZERO.tobuf(tarfile.PAX_FORMAT)
# Made by the test that sends it: hundreds of megabytes are compressed for some.
HARMFUL: dict[str, tuple[Callable[[], bytes], int]] = {
    "empty": (lambda: b"", 400),
    "text": (lambda: b"no archive", 400),
    "outside": (lambda: holding("../outside"), 400),
    "link": (lambda: packed(link("out", "/etc", tarfile.SYMTYPE)), 400),
    "hard link": (lambda: packed(link("out", "/etc/passwd", tarfile.LNKTYPE)), 400),
    "pipe": (lambda: packed(link("pipe", "", tarfile.FIFOTYPE)), 400),
    "negative size": (lambda: gzip.compress(NEGATIVE + bytes(1024)), 400),
    "bomb": (lambda: holding("big", data=bytes(300 << 20)), 413),
    "many": (lambda: holding(*(f"f{n}" for n in range(5001)), data=b""), 413),
    "deep": (lambda: holding("d/" * 1000 + "f", data=b""), 413),
    "header": (lambda: gzip.compress(HEADER_OF_A_GIGABYTE + bytes(400 << 20), 1), 413),
    "header that takes hours": (lambda: gzip.compress(extended(b"1" * (4 << 20))), 413),
    "headers without end": (lambda: extended(b"12 path=abc\n") * 3000, 400),
    "large": (lambda: bytes(65 << 20), 413),
    "name": (lambda: holding("n" * 300), 400),
    "twice": (lambda: holding("n", "n/m"), 400),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_archive_that_means_harm_leaves_nothing(guarded, name):
    make, status = HARMFUL[name]
    said = posted(guarded, make(), path="/upload")
    assert said.status_code == status
    assert said.json()["help"]
    uploads = guarded.home / "uploads"
    assert not [*uploads.rglob("outside"), *uploads.rglob("out"), *uploads.rglob("big")]
    assert not (uploads.parent / "outside").exists()


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("", 0o600, "holds no token"),
        ("# nothing\n", 0o600, "holds no token"),
        ("short\n", 0o600, "16 or more characters"),
        (f"{ALICE}\n", 0o644, "other users can read"),
        (f"me {ALICE}\nme {BOB}\n", 0o600, "two tokens have the name me"),
        (f"a b {ALICE}\n", 0o600, "without spaces"),
        (f"me {ALICE}\nyou {ALICE}\n", 0o600, "token 2 is there twice"),
    ],
)
def test_tokens_that_protect_nothing_are_refused(tmp_path, text, mode, why):
    with pytest.raises(WrongUse, match=why) as said:
        tokens(tokens_of(tmp_path, text, mode), {})
    assert ALICE not in str(said.value)


def test_beyond_this_machine_a_token_is_needed(tmp_path):
    unnamed = {name: value for name, value in os.environ.items() if name != "AOTI_DEBUG_TOKEN"}
    words = [*SERVE, "--http", "0.0.0.0:1", "--allow-remote"]
    ended = subprocess.run(words, capture_output=True, text=True, env=unnamed, timeout=PATIENCE_S)
    assert ended.returncode == 2
    assert "a token is needed" in ended.stderr and "Traceback" not in ended.stderr
    with pytest.raises(WrongUse, match="No such file"):
        tokens(tmp_path / "missing", {})
    environment = {"AOTI_DEBUG_TOKEN": "0" * 40, "HOME": "/"}
    assert tokens(None, environment) is not None
    assert environment == {"HOME": "/"}, "no program that is run inherits it"


def test_answers_are_json_that_any_client_reads(loopback):
    async def main() -> int:
        async with loopback.client() as client:
            return await lines_read(client, "\x1b[31mRuntimeError: \x9b no")

    assert anyio.run(main)
