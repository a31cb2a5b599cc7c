"""Programs of many calls and of several processes: each call is judged, the bad ones are counted
and kept, and the answer joins what the processes counted. Servers do not end by themselves:
diagnosed at Ctrl-C, or when watched long enough."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.answers import TriageAnswer
from aoti_debug.model import Diagnosis
from aoti_debug.record.counts import read_call_counts
from aoti_debug.server import create_server
from mcp import Client

PATIENCE_S = 240.0
LOAD = """
import os, torch
model = torch._inductor.aoti_load_package(PACKAGE)
"""
# 13 of 120 calls are given the transpose of what the model was compiled for
MIXED = """
x = torch.randn(5, 16)
for number in range(1, 121):
    if number % 9 == 5:
        model(torch.randn(16, 5).t())
    else:
        model(x)
"""
BOTH = """
for number in range(1, 41):
    ids = torch.zeros(70, 6, dtype=torch.int32 if number % 20 == 0 else torch.int64)
    model(ids, torch.rand(70, 6))
"""
SIZES = """
for number in range(1, 41):
    model(torch.randn(5 if number > 30 else 7, 16))
"""
# The logarithm in the model is of ones, or of zero and less.
LOGS = """
torch.manual_seed(0)
fc = torch.nn.Linear(16, 16)
ones = torch.linalg.solve(fc.weight, 1 - fc.bias).detach().expand(8, 16).contiguous()
for number in range(1, 61):
    model(torch.zeros(8, 16) if number in (23, 42, 58) else ones)
"""
# An item without a reading is NaN, and so is its result.
MISSING = """
items = [torch.randn(7, 16) for number in range(40)]
items[11][3] = float("nan")
results = [model(item) for item in items]
"""
# It does not end by itself.
ENDLESS_LOGS = (
    LOGS.partition("for number")[0]
    + """
while True:
    for number in range(400):
        model(torch.zeros(8, 16) if number > 350 else ones)
"""
)
DIES = """
import ctypes
class Dying:
    runner = model.loader
    get_call_spec = runner.get_call_spec
    def boxed_run(self, inputs):
        if inputs[0][0, 0] == 4000:
            ctypes.string_at(0)
        return self.runner.boxed_run(inputs)
model.loader = Dying()
for number in range(1, 5001):
    model(torch.full((7, 16), float(number)))
"""
GIVEN = """
weight, bias = torch.full((16, 16), 0.5), torch.zeros(16)
model.load_constants({"fc.weight": weight, "fc.bias": bias}, check_full_update=True)
for _ in range(3):
    model(torch.ones(5, 16))
"""
# The last of calls alike, whose inputs lie at another distance from a multiple of 256 bytes
SHIFTED = """
memory = torch.zeros(100, dtype=torch.int64)
for number in range(1, 13):
    start = 8 if number == 12 else 0
    model(memory[start : start + 30].view(5, 6).fill_(number), torch.rand(5, 6))
"""
SERVES = """
x, number = torch.randn(5, 16), 0
while True:
    number += 1
    model(torch.randn(16, 5).t() if number == 150 else x)
    if number == 400:
        print("served", file=open(os.environ["MAILBOX"], "w"), flush=True)
"""


@pytest.fixture(scope="module")
def scripted(built, written) -> Callable[..., Path]:
    """Write a script that loads a package which was built."""

    def write(source: str, package: str = "dynamic") -> Path:
        path = repr(str(built.directory / f"{package}.pt2"))
        return written(source.replace("PACKAGE", path))

    return write


@pytest.fixture(scope="module")
def traffic(built, scripted, triage_in) -> Callable[..., Any]:
    return lambda source, package="dynamic", **options: triage_in(
        built.home, scripted(LOAD + source, package), **options
    )


def test_the_bad_calls_among_many_are_counted_and_the_first_is_replayed(traffic) -> None:
    answer = traffic(MIXED)
    best = answer.diagnosis
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    assert best.input is not None
    assert best.summary.endswith("in 13 of 120 calls")
    assert best.calls == "13 of 120 (5, 14, 23, 32, 41, 50, …)"
    assert "the calls that do come from" in best.means
    assert "capture/call-broken-1.pt" in answer.artifacts


def test_all_that_calls_break_is_listed_with_how_many_do(traffic) -> None:
    best = traffic(BOTH, "embedding").diagnosis
    said = f"{best.summary}; {best.means}"
    assert said.count("size 70 at dim 0") == 2, "of both inputs"
    for words in ("compiled for <= 64", "dtype int32, compiled for int64", "(20 calls)"):
        assert words in said
    assert best.calls == "1 of 20 (20)"  # which the runtime rejects


def test_the_calls_that_return_nan_are_counted_and_named(traffic) -> None:
    best = traffic(LOGS, "nan").diagnosis
    assert (best.category, best.confidence) == ("nan_or_inf", "proved")
    assert best.summary.startswith("NaN first appears at log"), best.summary
    assert best.calls == "3 of 60 (23, 42, 58)"
    counted = "3 of 60 calls return NaN (23, 42, 58; numbered from 1); the other 57 are finite"
    assert counted in [one.quote for one in best.evidence]


@pytest.mark.parametrize(
    ("handled", "category"),
    [
        ("missing = sum(int(one.isnan().any()) for one in results)\n", "no_fault"),
        ("", "user_code"),
    ],
)
def test_nan_that_stands_for_a_missing_value_is_no_fault(
    traffic, handled: str, category: str
) -> None:
    assert traffic(MISSING + handled).diagnosis.category == category


def test_calls_of_other_sizes_than_the_repeated_one_are_held_against_guards_too(traffic) -> None:
    answer = traffic(SIZES)
    best = answer.diagnosis
    assert best.category == "no_fault"
    assert "40 calls of a compiled model returned" in best.summary
    assert "each call was checked" in best.means
    assert "inputs, guards of other calls, guards, values" in best.means
    assert "other sizes or values" not in best.means
    said = {step.name: step.finding for step in answer.steps}
    assert said["calls"] == "0 of 1 other kind of calls break the contract"


@pytest.mark.parametrize(
    ("package", "call", "calls", "said"),
    [
        (
            "reshape",
            "model(torch.ones(250 if number in (7, 9) else 100 + number * 100, 4))",
            "2 of 12 (7, 9)",
            "the exported program refuses these inputs: x.size()[0] % 100",
        ),
        (
            "dynamic",
            "x = torch.ones(5, 16); model(torch._neg_view(x) if number == 4 else x)",
            "1 of 12 (4)",
            "x is negated by a bit that the package does not read",
        ),
        (
            "int_argument",
            "model(torch.ones(4, 8), 7 if number == 7 else 3)",
            "1 of 12 (7)",
            "k has value 7, compiled for",
        ),
    ],
)
def test_what_only_the_exported_program_forbids_is_found_in_calls_that_are_not_repeated(
    traffic, package: str, call: str, calls: str, said: str
) -> None:
    best = traffic(f"for number in range(1, 13):\n    {call}\n", package).diagnosis
    assert best.input is not None
    assert best.summary.startswith(said), best.summary
    assert best.calls == calls
    assert [line.line for line in best.source] == [5]


def test_replays_are_given_the_weights_that_the_script_gave(traffic, built) -> None:
    answer = traffic(GIVEN)
    assert answer.diagnosis.category == "no_fault"
    (path,) = (built.home / "runs" / answer.run / "steps").glob("*-checks/report.json")
    compared = json.loads(path.read_text())["steps"]["compare"]["outputs"][0]
    assert compared["verdict"] == "agrees"
    assert compared["package"]["mean"] == compared["eager"]["mean"] == 9.0  # 16 * 0.5 + 1


def test_inputs_in_memory_are_read_where_the_first_call_like_theirs_had_put_them(
    traffic, built
) -> None:
    answer = traffic(SHIFTED, "embedding")
    assert answer.diagnosis.category == "no_fault"
    held = built.home / "runs" / answer.run / "capture" / "call-now.bin"
    begin = json.loads(held.with_suffix(".json").read_text())["inputs"][0]["alignment"] % 256
    assert held.read_bytes()[begin : begin + 240] == struct.pack("30q", *[12] * 30)


def test_the_call_under_way_at_a_crash_is_kept_however_late_it_comes(traffic) -> None:
    answer = traffic(DIES)
    assert "in call 4000 of the loaded model" in answer.diagnosis.summary
    assert {"capture/call-now.bin", "capture/call-now.json"} <= set(answer.artifacts)
    assert any(step.status == "done" and step.name != "first run" for step in answer.steps)


def interrupted(
    script: Path, mailbox: Path, bad: int, use: Callable[[int], object], **env: str
) -> Diagnosis:
    """Triage a server by the command line and `use` it by what it writes to the mailbox; end it
    with Ctrl-C once so many bad calls are counted. Return what is diagnosed."""
    os.mkfifo(mailbox)
    letters = os.open(mailbox, os.O_RDWR)
    env = {**os.environ, "TORCHINDUCTOR_VEC_ISA_OK": "1", "MAILBOX": str(mailbox), **env}
    words = ["-m", "aoti_debug", "triage", str(script), "--json", "--timeout", "600"]
    argv, pipe = [sys.executable, *words], subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, env=env) as started:
        assert started.stderr is not None
        use(letters)
        for line in started.stderr:
            if f"calls ({bad} break" in line:
                break
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=PATIENCE_S)
    os.close(letters)
    assert started.returncode == 1, err
    answer = TriageAnswer.model_validate_json(out)
    assert "600 s" not in str(answer.steps[0].exit), answer.notes  # the count was never said
    best = answer.diagnosis
    assert best is not None
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    return best


def letter(mailbox: int) -> bytes:
    assert select.select([mailbox], [], [], PATIENCE_S)[0]
    return os.read(mailbox, 1000)


def test_an_interrupt_diagnoses_what_a_server_has_done_so_far(scripted, tmp_path: Path) -> None:
    best = interrupted(scripted(LOAD + SERVES), tmp_path / "mailbox", 1, letter)
    assert best.calls is not None and "(150)" in best.calls


# One of two spawned workers makes 3 bad calls of 30; a DataLoader's workers make none at all.
SPAWNS = """
import torch
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 40
    def __getitem__(self, at):
        return torch.full((16,), float(at))

def work(rank):
    model = torch._inductor.aoti_load_package(PACKAGE)
    x = torch.randn(5, 16)
    for number in range(1, 31):
        model(torch.randn(16, 5).t() if rank and number % 10 == 0 else x)

if __name__ == "__main__":
    torch.multiprocessing.spawn(work, nprocs=2)
    model = torch._inductor.aoti_load_package(PACKAGE)
    for batch in DataLoader(Rows(), batch_size=4, num_workers=2):
        model(batch)
"""
# A model that is loaded before the fork, as servers do; each worker makes calls of its own.
FORKS = """
import os, torch
torch.set_num_threads(1)  # OpenMP's threads do not survive a fork
model = torch._inductor.aoti_load_package(PACKAGE)
model(torch.randn(5, 16))

for calls, bad in ((20, None), (10, 7)):
    if not os.fork():
        for number in range(1, calls + 1):
            model(torch.randn(16, 5).t() if number == bad else torch.randn(5, 16))
        os._exit(0)
os.wait()
os.wait()
"""


def counted(answer: TriageAnswer, home: Path) -> dict[str, int]:
    """Return how many calls each process counted, by the name of its file."""
    files = (home / "runs" / answer.run / "calls").iterdir()
    found = {file.name: read_call_counts(0, file.read_bytes()) for file in files}
    return {name: counts.returned for name, counts in found.items() if counts is not None}


@pytest.mark.parametrize(
    ("source", "calls", "of_each", "of_bad"),
    [
        # none of the DataLoader's workers makes calls
        (SPAWNS, r"3 of 70 \(10, 20, 30 of process (\d+)\)", [10, 30, 30], 30),
        # the one before the fork, and each worker's
        (FORKS, r"1 of 31 \(7 of process (\d+)\)", [1, 10, 20], 10),
    ],
    ids=["spawned workers", "forked workers"],
)
def test_calls_of_processes_are_joined_and_the_bad_one_is_named(
    triage_in, scripted, built, source: str, calls: str, of_each: list[int], of_bad: int
) -> None:
    answer = triage_in(built.home, scripted(source))
    best = answer.diagnosis
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    bad = re.fullmatch(calls, best.calls)
    assert bad is not None, best.calls
    assert "has stride (1, 5), compiled for (16, 1)" in best.summary
    assert f"the calls that do are all of process {bad[1]}" in best.means
    own = counted(answer, built.home)
    assert sorted(own.values()) == of_each
    assert own[f"{bad[1]}-0.bin"] == of_bad


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


def test_an_interrupt_diagnoses_the_workers_of_a_web_server(scripted, tmp_path: Path) -> None:
    site = sysconfig.get_paths()["purelib"]  # the tests' own FastAPI, beside the target's torch
    bad: list[int] = []

    def use(mailbox: int) -> None:
        told = b""
        while told.count(b"up") < 2:
            told += letter(mailbox)
        port = int(re.findall(rb"\d+", told)[0])
        for number in range(23):
            answered = asked(port, number >= 20)
            bad.extend([answered] * (number >= 20))

    calls = str(interrupted(scripted(UVICORN), tmp_path / "mailbox", 3, use, BESIDE=site).calls)
    assert calls.startswith("3 of 23 ("), calls
    assert set(map(int, re.findall(r"of process (\d+)[;)]", calls))) <= set(bad)


def test_a_client_sees_the_calls_judged_so_far_and_the_diagnosis_when_watched_long_enough(
    built, scripted, warm_python, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(built.home))
    asked = {"script": str(scripted(WAITS)), "python": warm_python}
    asked["env"] = {"TORCHINDUCTOR_VEC_ISA_OK": "1"}

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
    assert "400 calls (1 breaks the contract)" in str(so_far["notes"])
    best = answer["diagnosis"]
    assert (best["category"], best["confidence"]) == ("contract_stride", "proved")
    assert best["calls"] == "1 of 400 (150)"
    assert answer["steps"][0]["exit"].startswith("watched for ")


def test_a_program_is_ended_at_its_first_bad_call_where_that_is_asked_for(traffic) -> None:
    answer = traffic(ENDLESS_LOGS, "nan", stop_at_first=True)
    best = answer.diagnosis
    assert (best.category, best.confidence) == ("nan_or_inf", "proved"), best.summary
    assert answer.steps[0].exit.startswith("watched for ")
    assert any(step.name == "nodes" and step.status == "done" for step in answer.steps)


# Two threads with an instance of the model each, whose operator works in one place for all calls.
THREADS = """
import os, sys, threading
import torch
from torch._inductor.package import load_package

WORK, HEALTHY = torch.empty(64, 256), "healthy" in sys.argv

@torch.library.custom_op("service::half", mutates_args=())
def half(x: torch.Tensor) -> torch.Tensor:
    work = torch.empty_like(x) if HEALTHY else WORK
    torch.sin(x, out=work)
    torch.mul(work, 0.5, out=work)
    return work.clone()

@half.register_fake
def _(x):
    return torch.empty_like(x)

class Model(torch.nn.Module):
    def forward(self, x):
        return half(x + 1) * 2

if __name__ == "__main__":
    if not os.path.exists("net.pt2"):
        exported = torch.export.export(Model(), (torch.randn(64, 256),))
        torch._inductor.aoti_compile_and_package(exported, package_path="net.pt2")
    model = load_package("net.pt2", num_runners=2)

    def work():
        for _ in range(20):
            model(torch.randn(64, 256))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_an_operator_that_is_right_alone_and_wrong_in_several_threads_is_named(
    triaged, tmp_path: Path
) -> None:
    script = tmp_path / "service.py"
    script.write_text(THREADS)
    wrong = triaged(script, "planted", cwd=tmp_path).diagnosis
    assert (wrong.category, wrong.confidence, wrong.phase) == ("concurrency", "proved", "run")
    assert wrong.kernel.name == "service.half.default"
    assert "all calls work in WORK" in wrong.summary
    assert wrong.source[0].text.strip().endswith("else WORK")
    assert wrong.source[1].text.strip() == "return half(x + 1) * 2"
    right = triaged(script, "healthy", cwd=tmp_path).diagnosis
    assert right.category == "no_fault", right.summary
    assert "calls from several threads at the same time" in right.means
