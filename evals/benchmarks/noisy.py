"""Measure what a noisy client costs another one of the same server: `python noisy.py [SECONDS]`.

One client does its worst within its limits: as many runs as it may have, each busy, packages and
logs that take long to read, uploads, sweeps. Meanwhile the other inspects a package of 5 MB and
triages a script. The exit status is 1 where an inspection took more than 2 s beside that, or the
triage more than 1.5 times of alone. AOTI_DEBUG_PYTHON names the interpreter with torch.
"""

from __future__ import annotations

import contextlib
import io
import json
import socket
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
from command import AOTI, PYTHON, environment
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

ALICE, BOB = "a" * 20, "b" * 20
INSPECTS_S, TRIAGES = 2.0, 1.5
PAUSE_S = 2.0
MODEL = """\
import sys, torch
model = torch.nn.Linear(1150, 1150)
program = torch.export.export(model, (torch.ones(4, 1150),))
torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
"""
CALLS = """\
import sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
model(torch.ones(4, 1150, dtype=torch.float64))
"""
BUSY = "while True: pass\n"


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    tokens = folder / "tokens"
    tokens.write_text(f"alice {ALICE}\nbob {BOB}\n")
    tokens.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    argv = [*AOTI, "serve", "--http", place, "--token-file", str(tokens)]
    env = environment(folder, PYTHON)
    with subprocess.Popen(argv, stderr=subprocess.PIPE, env=env, text=True) as server:
        assert server.stderr is not None
        server.stderr.readline()
        try:
            yield place
        finally:
            server.terminate()


def headers_of(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextlib.asynccontextmanager
async def client(place: str, token: str) -> Any:
    async with httpx2.AsyncClient(headers=headers_of(token), timeout=900) as http:
        transport = streamable_http_client(f"http://{place}/mcp", http_client=http)
        async with Client(transport) as found:
            yield found


async def timed(work: Awaitable[Any]) -> float:
    began = time.perf_counter()
    result = await work
    assert not result.is_error, result.content
    return time.perf_counter() - began


def hostile(folder: Path) -> dict[str, Any]:
    """Write what takes long to read, and return the calls that have it read."""
    package = folder / "hostile.pt2"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        wrapper = "void AOTInductorModel::run_impl(\n" + "ConstantHandle a = " * (24 << 20 >> 5)
        archive.writestr("data/aotinductor/model/a.wrapper.cpp", wrapper)
        archive.writestr("data/aotinductor/model/a.so", b"\x7fELF" + bytes(1 << 20))
    log = folder / "hostile.log"
    lines = ("Error: input_handles[0]: unmatched dtype " * 8 + "\n" for _ in range(200_000))
    log.write_text("".join(lines))
    targets = folder / "targets"
    targets.mkdir()
    for number in range(50):
        (targets / f"t{number}.py").write_text(BUSY)
    return {
        "inspect_package": {"package": str(package)},
        "diagnose_log": {"path": str(log)},
        "sweep": {"manifest": str(targets), "wait_s": 5},
    }


async def noise(place: str, folder: Path, calls: dict[str, Any], over: anyio.Event) -> None:
    """Do as much as one client may, until it is over."""
    busy = folder / "busy.py"
    busy.write_text(BUSY)

    async def again(do: Callable[[], Awaitable[Any]]) -> None:
        while not over.is_set():
            with contextlib.suppress(Exception):
                await do()
            await anyio.sleep(0.05)

    async with client(place, ALICE) as alice, httpx2.AsyncClient(timeout=60) as http:
        script = {"script": str(busy), "timeout_s": 600, "wait_s": 5}
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
            info = tarfile.TarInfo("big")
            info.size = 200 << 20
            archive.addfile(info, io.BytesIO(bytes(info.size)))
        body, headers = packed.getvalue(), headers_of(ALICE)
        upload = f"http://{place}/upload"
        work: list[Callable[[], Awaitable[Any]]] = [
            *[lambda: alice.call_tool("triage", script)] * 7,
            *[partial(alice.call_tool, tool, given) for tool, given in calls.items()] * 5,
            *[lambda: http.post(upload, content=body, headers=headers)] * 2,
        ]
        async with anyio.create_task_group() as tasks:
            for do in work:
                tasks.start_soon(again, do)
            await over.wait()
            tasks.cancel_scope.cancel()


async def measure(place: str, folder: Path, seconds: float) -> dict[str, Any]:
    package, script = folder / "model.pt2", folder / "calls.py"
    script.write_text(CALLS)
    subprocess.run([PYTHON, "-c", MODEL, str(package)], check=True)
    calls = hostile(folder)
    inspect = {"package": str(package), "python": PYTHON}
    triage = {"script": str(script), "args": [str(package)], "python": PYTHON}
    over = anyio.Event()
    found: dict[str, Any] = {"package_bytes": package.stat().st_size, "seconds": seconds}
    async with client(place, BOB) as bob:

        async def inspected() -> float:
            return await timed(bob.call_tool("inspect_package", inspect))

        async def triaged() -> float:
            return await timed(bob.call_tool("triage", triage))

        await inspected()
        await triaged()
        found["inspect_alone_s"] = await inspected()
        found["triage_alone_s"] = min([await triaged() for _ in range(2)])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(noise, place, folder, calls, over)
            await anyio.sleep(10)
            end = time.perf_counter() + seconds
            inspects, triages = [], []
            while time.perf_counter() < end:
                inspects += [await inspected() for _ in range(3)]
                triages.append(await triaged())
                await anyio.sleep(PAUSE_S)
            over.set()
    found["inspect_s"] = [round(one, 2) for one in inspects]
    found["triage_s"] = [round(one, 2) for one in triages]
    found["inspect_worst_s"] = max(inspects)
    found["triage_times"] = statistics.median(triages) / found["triage_alone_s"]
    return found


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        served(Path(name)) as place,
    ):
        found = anyio.run(measure, place, Path(name), seconds)
    print(json.dumps(found, indent=1))
    good = found["inspect_worst_s"] <= INSPECTS_S and found["triage_times"] <= TRIAGES
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
