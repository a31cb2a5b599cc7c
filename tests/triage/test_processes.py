"""Programs of several processes: each counts its own calls, and the answer joins them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from aoti_debug.model import TriageAnswer
from aoti_debug.read.traffic import read_tally

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
# A model that is loaded before the fork, as servers do; each worker answers its own requests.
SERVES = """
import http.client, http.server, os, torch
torch.set_num_threads(1)  # OpenMP's threads do not survive a fork
model = torch._inductor.aoti_load_package(PACKAGE)
model(torch.randn(5, 16))

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        x = torch.randn(16, 5).t() if self.path == "/bad" else torch.randn(5, 16)
        body = str(model(x).shape).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass

servers = [http.server.HTTPServer(("127.0.0.1", 0), Answer) for _ in range(2)]
workers = []
for server, requests in zip(servers, (20, 10)):
    worker = os.fork()
    if not worker:
        for _ in range(requests):
            server.handle_request()
        os._exit(0)
    workers.append(worker)
for server, paths in zip(servers, (["/"] * 20, ["/"] * 6 + ["/bad"] + ["/"] * 3)):
    for path in paths:
        connection = http.client.HTTPConnection(*server.server_address)
        connection.request("GET", path)
        assert connection.getresponse().status == 200
for worker in workers:
    os.waitpid(worker, 0)
"""


@pytest.fixture(scope="module")
def processes(built: Any, triage_in: Any, written: Any) -> Callable[[str], TriageAnswer]:
    def triage(source: str) -> TriageAnswer:
        path = repr(str(built.directory / "dynamic.pt2"))
        found = triage_in(built.home, written(source.replace("PACKAGE", path)))
        assert isinstance(found, TriageAnswer)
        return found

    return triage


@pytest.fixture
def counted(built: Any) -> Callable[[TriageAnswer], dict[str, int]]:
    """Return how many calls each process counted, by the name of its file."""

    def read(answer: TriageAnswer) -> dict[str, int]:
        files = (built.home / "runs" / answer.run / "calls").iterdir()
        found = {file.name: read_tally(0, file.read_bytes()) for file in files}
        return {name: tally.returned for name, tally in found.items() if tally is not None}

    return read


def test_calls_of_spawned_workers_are_joined_and_the_bad_process_is_named(
    processes: Any, counted: Any
) -> None:
    answer = processes(SPAWNS)
    best = answer.diagnosis
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    told = re.match(r"3 of 70 calls \(10, 20, 30 of process (\d+)\): (.*)", best.summary)
    assert told is not None, best.summary
    assert "has stride (1, 5), compiled for (16, 1)" in told[2]
    assert f"the calls that do are all of process {told[1]}" in told[2]
    own = counted(answer)
    assert sorted(own.values()) == [10, 30, 30], "none of the DataLoader's workers makes calls"
    assert own[f"{told[1]}-0.bin"] == 30


def test_calls_of_forked_servers_are_joined_and_the_bad_one_is_named(
    processes: Any, counted: Any
) -> None:
    answer = processes(SERVES)
    best = answer.diagnosis
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    told = re.match(r"1 of 31 calls \(7 of process (\d+)\): ", best.summary)
    assert told is not None, best.summary
    own = counted(answer)
    assert sorted(own.values()) == [1, 10, 20], "the one before the fork, and each worker's"
    assert own[f"{told[1]}-0.bin"] == 10
