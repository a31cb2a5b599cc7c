"""Servers do not end by themselves: diagnosed at Ctrl-C, or when watched long enough."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.answers import TriageAnswer
from aoti_debug.server import create_server
from mcp import Client

PATIENCE_S = 240
WATCHED_S = 45  # its 400 calls take a second, but loading may take half a minute
# uvicorn with two workers, each of which loads the model when it starts.
UVICORN = """
import contextlib, os, sys
sys.path.append(os.environ["BESIDE"])
import fastapi, torch, uvicorn
from uvicorn.supervisors import Multiprocess

def tell(words):
    with open(os.environ["MAILBOX"], "w") as mailbox:
        print(words, file=mailbox, flush=True)

@contextlib.asynccontextmanager
async def lifespan(app):
    app.state.model = torch._inductor.aoti_load_package(PACKAGE)
    tell("up")
    yield

app = fastapi.FastAPI(lifespan=lifespan)

@app.get("/predict")
def predict(request: fastapi.Request, transposed: bool = False):
    x = torch.randn(16, 5).t() if transposed else torch.randn(5, 16)
    return {"pid": os.getpid(), "shape": list(request.app.state.model(x).shape)}

if __name__ == "__main__":
    config = uvicorn.Config("script:app", port=0, workers=2, log_level="warning",
                            timeout_worker_healthcheck=200)
    socket = config.bind_socket()
    tell(socket.getsockname()[1])
    Multiprocess(config, [socket]).run()
"""
# A server that has answered all requests and waits for more.
WAITS = """
import signal, torch
model = torch._inductor.aoti_load_package(PACKAGE)
for number in range(1, 401):
    model(torch.randn(16, 5).t() if number == 150 else torch.randn(5, 16))
while True:
    signal.pause()
"""


def asked(port: int, transposed: bool) -> int:
    """Send a request to the server; return the process that answered."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", f"/predict?transposed={transposed}")
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    assert (answer.status, body["shape"]) == (200, [5, 16])
    return int(body["pid"])


def test_an_interrupt_diagnoses_the_workers_of_a_web_server(
    built: Any, written: Any, tmp_path: Path
) -> None:
    script = written(UVICORN.replace("PACKAGE", repr(str(built.directory / "dynamic.pt2"))))
    os.mkfifo(tmp_path / "mailbox")
    mailbox = os.open(tmp_path / "mailbox", os.O_RDWR)
    words = ["triage", str(script), "--json"]
    site = sysconfig.get_paths()["purelib"]  # the tests' own FastAPI, beside the target's torch
    env = {"TORCHINDUCTOR_VEC_ISA_OK": "1", "BESIDE": site, "MAILBOX": str(tmp_path / "mailbox")}
    with subprocess.Popen(
        [sys.executable, "-m", "aoti_debug", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    ) as started:
        assert started.stderr is not None
        told = b""
        while told.count(b"up") < 2:
            assert select.select([mailbox], [], [], PATIENCE_S)[0], told
            told += os.read(mailbox, 1000)
        port = int(re.findall(rb"\d+", told)[0])
        good = [asked(port, False) for _ in range(20)]
        bad = [asked(port, True) for _ in range(3)]
        for line in started.stderr:
            if "calls (3 break" in line:
                break
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=PATIENCE_S)
    os.close(mailbox)
    best = TriageAnswer.model_validate_json(out).diagnosis
    assert started.returncode == 1, err
    assert best is not None
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    assert best.summary.startswith(f"3 of {len(good + bad)} calls ("), best.summary
    assert set(map(int, re.findall(r"of process (\d+)[;)]", best.summary))) <= set(bad)


def test_a_client_sees_the_calls_judged_so_far_and_the_diagnosis_when_watched_long_enough(
    built: Any, written: Any, warm_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = written(WAITS.replace("PACKAGE", repr(str(built.directory / "dynamic.pt2"))))
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(built.home))
    asked = {"script": str(script), "python": warm_python, "env": {"TORCHINDUCTOR_VEC_ISA_OK": "1"}}

    async def main() -> tuple[dict[str, Any], dict[str, Any]]:
        async with Client(create_server()) as client:

            async def told(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return dict(result.structured_content or {})

            seen = await told("triage", **asked, watch_for_s=WATCHED_S, wait_s=0)
            with anyio.fail_after(PATIENCE_S):
                while seen["status"] == "running" and "400 calls" not in str(seen.get("notes")):
                    seen = await told("wait_run", run=seen["run"], wait_s=1)
            return seen, await told("wait_run", run=seen["run"], wait_s=PATIENCE_S)

    so_far, answer = anyio.run(main)
    assert so_far["status"] == "running"
    assert "400 calls (1 break the contract)" in str(so_far["notes"])
    best = answer["diagnosis"]
    assert (best["category"], best["confidence"]) == ("contract_stride", "proved")
    assert best["summary"].startswith("1 of 400 calls (150): "), best["summary"]
    assert answer["steps"][0]["exit"].startswith("watched for ")
