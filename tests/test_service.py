"""Runs live in the service: they are waited for, ended, kept, and told apart."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import psutil
import pytest
from aoti_debug import api
from aoti_debug.answers import StageAnswer, TriageAnswer
from aoti_debug.errors import AotiDebugError, RunDirectoryError, UnknownRun, WrongUse
from aoti_debug.kinds import TRIAGE, Kind, stage_kind
from aoti_debug.run.directory import RunDirectory, list_runs, prune
from aoti_debug.run.share import BESIDE, IDLE, SEVERAL, _level_of
from aoti_debug.run.target import resolve_target
from aoti_debug.service import REMEMBERED, RUNS, Request, Service
from aoti_debug.triage.run_state import RunState

WAITS = """
import os, sys, time
with open(sys.argv[1], "w") as mailbox:
    mailbox.write(str(os.getpid()))
time.sleep(1000)
"""
SERVER = """
import anyio, sys
from pathlib import Path
from aoti_debug.run.target import resolve_target
from aoti_debug.kinds import TRIAGE
from aoti_debug.service import Request, Service
async def main():
    target = resolve_target(script=sys.argv[1], args=[sys.argv[2]], python=sys.executable)
    async with Service(Path(sys.argv[3])) as service:
        print(await service.start(TRIAGE, Request(target)), flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(params=[False, True], ids=["in this process", "in one of its own"])
def service(request: pytest.FixtureRequest, home: Path) -> Service:
    return Service(home, apart=request.param)


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    path = tmp_path / "waits.py"
    path.write_text(WAITS)
    return path


def request_of(script: Path, *mailboxes: Path) -> Request:
    for path in mailboxes:
        os.mkfifo(path)
    words = [str(path) for path in mailboxes]
    return Request(resolve_target(script=script, args=words, python=sys.executable))


async def told(mailbox: Path) -> psutil.Process:
    """Wait until the script has told its number."""
    with anyio.fail_after(60):
        number = await anyio.to_thread.run_sync(mailbox.read_text, abandon_on_cancel=True)
    return psutil.Process(int(number))


@pytest.mark.anyio
async def test_cancelling_ends_the_processes_before_it_returns(
    service: Service, home: Path, waiting: Path, tmp_path: Path
) -> None:
    async with service:
        run = await service.start(TRIAGE, request_of(waiting, tmp_path / "pid"))
        process = await told(tmp_path / "pid")
        answer = await service.cancel(run)
        assert answer.status == "cancelled"
        assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
        assert service.running() == []
    record = RunDirectory.open(run, home).read_record()
    assert record is not None
    assert record.status == "cancelled"


@pytest.mark.anyio
async def test_what_is_known_is_told_when_the_wait_is_over(
    service: Service, home: Path, waiting: Path, tmp_path: Path
) -> None:
    async with service:
        run = await service.start(stage_kind("baseline"), request_of(waiting, tmp_path / "pid"))
        await told(tmp_path / "pid")
        answer = await service.wait(run, 0.05)
        assert answer.status == "running"
        assert answer.run == run
        assert isinstance(answer, StageAnswer)
        assert any(note.startswith("now: ") for note in answer.notes)
        assert "run.json" in answer.artifacts
        await service.cancel(run)


@pytest.mark.anyio
async def test_two_runs_go_on_side_by_side(
    service: Service, home: Path, waiting: Path, tmp_path: Path
) -> None:
    async with service:
        one = await service.start(TRIAGE, request_of(waiting, tmp_path / "one"))
        two = await service.start(TRIAGE, request_of(waiting, tmp_path / "two"))
        first, second = await told(tmp_path / "one"), await told(tmp_path / "two")
        assert set(service.running()) == {one, two}
        await service.cancel(one)
        assert service.running() == [two]
        assert not first.is_running() or first.status() == psutil.STATUS_ZOMBIE
        assert second.is_running()
        await service.cancel(two)


@pytest.mark.anyio
async def test_leaving_the_service_ends_its_runs(
    service: Service, home: Path, waiting: Path, tmp_path: Path
) -> None:
    async with service:
        run = await service.start(TRIAGE, request_of(waiting, tmp_path / "pid"))
        process = await told(tmp_path / "pid")
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    record = RunDirectory.open(run, home).read_record()
    assert record is not None
    assert record.status == "cancelled"


def process_of(run: str) -> psutil.Process:
    """Return the process that does a run, which its record names."""
    record = RunDirectory.open(run).read_record()
    assert record is not None
    assert record.server is not None
    pid = int(record.server["pid"] or 0)
    assert pid != os.getpid()
    return psutil.Process(pid)


@pytest.mark.anyio
async def test_the_end_of_a_runs_process_ends_that_run_alone(
    waiting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read of a target may hold that process, fill it or end it."""
    async with Service(apart=True) as service:
        one = await service.start(TRIAGE, request_of(waiting, tmp_path / "one"))
        target = await told(tmp_path / "one")
        process_of(one).kill()
        with pytest.raises(AotiDebugError, match="ended without an answer"):
            await service.wait(one)
        psutil.wait_procs([target], timeout=60)
        assert not target.is_running() or target.status() == psutil.STATUS_ZOMBIE
        monkeypatch.setattr("aoti_debug.apart.MEMORY", 1 << 20)
        two = await service.start(TRIAGE, request_of(waiting, tmp_path / "two"))
        with pytest.raises(AotiDebugError, match="of memory"):
            await service.wait(two)
        monkeypatch.undo()
        script = tmp_path / "prints.py"
        script.write_text("print('fine')\n")
        three = await service.start(stage_kind("baseline"), request_of(script))
        assert (await service.wait(three)).status == "done"


@pytest.mark.anyio
async def test_who_has_several_runs_leaves_the_processors_to_others(
    waiting: Path, tmp_path: Path
) -> None:
    async with Service(apart=True) as service:
        pids = {}

        async def start(owner: str, name: str) -> None:
            await service.start(TRIAGE, request_of(waiting, tmp_path / name), owner)
            pids[name] = (await told(tmp_path / name)).pid

        for name in "abc":
            await start("alice", name)

        async def reach(**wanted: int) -> None:
            with anyio.fail_after(60):
                while {name: _level_of(pid) for name, pid in pids.items()} != wanted:
                    await anyio.lowlevel.checkpoint()

        own = os.nice(0)
        await reach(a=own, b=max(own, BESIDE), c=max(own, BESIDE))
        await start("bob", "d")
        await reach(a=max(own, SEVERAL), b=IDLE, c=IDLE, d=own)


@pytest.mark.anyio
async def test_no_client_has_more_runs_however_fast_it_asks(waiting: Path, tmp_path: Path) -> None:
    async with Service() as service:
        started: list[bool] = []

        async def start(number: int) -> None:
            asked = request_of(waiting, tmp_path / str(number))
            try:
                await service.start(TRIAGE, asked, "alice")
            except WrongUse:
                started.append(False)
            else:
                started.append(True)

        async with anyio.create_task_group() as tasks:
            for number in range(RUNS + 5):
                tasks.start_soon(start, number)
        assert sorted(started) == [False] * 5 + [True] * RUNS
        assert len(service.running()) == RUNS


@pytest.mark.anyio
async def test_a_finished_run_is_read_again_by_another_service(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("raise KeyError('absent')\n")
    async with Service(home) as service:
        run = await service.start(TRIAGE, request_of(script))
        answer = await service.wait(run)
    async with Service(home) as another:
        assert (await another.wait(run)).document() == answer.document()
        with pytest.raises(UnknownRun):
            await another.wait("r-20200101-0000-none")


def test_a_killed_server_leaves_a_readable_run_and_no_process(
    home: Path, waiting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pid")
    words = [sys.executable, "-c", SERVER, str(waiting), str(tmp_path / "pid"), str(home)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        run = server.stdout.readline().strip()
        process = anyio.run(told, tmp_path / "pid")
        os.kill(server.pid, signal.SIGKILL)
    assert not psutil.wait_procs([process], timeout=30)[1]
    directory = RunDirectory.open(run, home)
    record = directory.read_record()
    assert record is not None
    assert record.kind == "triage"
    assert not directory.is_running()
    assert "events.jsonl" in directory.artifacts()
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(home))
    (listed,) = api.runs().runs
    assert (listed.run, listed.status) == (run, "failed")


@pytest.mark.anyio
async def test_runs_are_listed_newest_first_and_the_oldest_pruned(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "fine.py"
    script.write_text("print('fine')\n")
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(home))
    found = []
    async with Service(home) as service:
        for _ in range(3):
            found.append(await service.start(stage_kind("baseline"), request_of(script)))
            await service.wait(found[-1])
    assert {run.run for run in api.runs().runs} == set(found)
    assert all(run.status == "done" for run in api.runs().runs)
    prune(1, at=home)
    assert len(list_runs(home)) == 1


@pytest.mark.anyio
async def test_a_home_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    script = tmp_path / "fine.py"
    script.write_text("")
    async with Service(tmp_path / "file") as service:
        with pytest.raises(RunDirectoryError, match="file"):
            await service.start(TRIAGE, request_of(script))


@pytest.mark.anyio
async def test_every_waiter_hears_of_the_progress(
    home: Path, waiting: Path, tmp_path: Path
) -> None:
    heard = [anyio.Event(), anyio.Event()]
    async with Service(home) as service, anyio.create_task_group() as tasks:
        run = await service.start(TRIAGE, request_of(waiting, tmp_path / "pid"))
        for one in heard:
            tasks.start_soon(service.wait, run, None, lambda _, one=one: one.set())
        await told(tmp_path / "pid")
        with anyio.fail_after(60):
            for one in heard:
                await one.wait()
        await service.cancel(run)


@pytest.mark.anyio
async def test_runs_that_have_ended_are_not_held_for_ever(home: Path, waiting: Path) -> None:
    async def at_once(work: RunState, request: Request) -> TriageAnswer:
        return TriageAnswer(run=work.directory.id, status="done", notes=[request.target.label])

    quick = Kind("triage", TriageAnswer, at_once)
    async with Service(home) as service:
        runs = [await service.start(quick, request_of(waiting)) for _ in range(REMEMBERED + 5)]
        answers = [await service.wait(run) for run in runs]
        assert len(service._live) == REMEMBERED
        assert [await service.wait(run) for run in runs] == answers
