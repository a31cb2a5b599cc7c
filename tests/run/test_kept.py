"""What the home keeps: whose it is, what is in use, how much there may be, who may read it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import anyio
import psutil
import pytest
from aoti_debug.errors import RunDirectoryError, UnknownRun, UnreadableInput
from aoti_debug.kinds import stage_kind
from aoti_debug.minify.material import Material
from aoti_debug.minify.request import minify_request
from aoti_debug.minify.survey import search_folder
from aoti_debug.run.directory import RunDirectory, prune
from aoti_debug.run.kept import KEEP, make, named_in, own_name, within
from aoti_debug.run.target import resolve_target
from aoti_debug.service import RUNS, Request, Service
from aoti_debug.sweep.request import HISTORY, earlier, find_sweep, history, slug
from aoti_debug.triage.run_state import RunState

ALICE, BOB = "token alice", "token bob"
NOBODY = ("session 1", "session 2")  # clients without a token share one quota


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "none.py"
    path.touch()
    return path


def run_once(home: Path, script: Path) -> None:
    async def main() -> None:
        async with Service(home) as service:
            await service.wait(await service.start(stage_kind("baseline"), request_of(script)))

    anyio.run(main)


def ended(home: Path, number: int, owner: str | None = None) -> str:
    """Leave a run that has ended; a later one has a higher number."""
    run = RunDirectory.create(home, owner)
    run.write_record({"status": "done", "command": "python none.py", "cwd": str(home)})
    path = run.path.rename(run.path.with_name(f"r-20260101-00{number:02d}-aaaa"))
    return path.name


def request_of(script: Path) -> Request:
    return Request(resolve_target(script=script, cwd=script.parent), timeout_s=60)


def test_the_oldest_run_is_there_until_who_uses_it_has_ended(home: Path, script: Path) -> None:
    oldest, *_ = [ended(home, number) for number in range(KEEP["runs"] + 1)]
    request = minify_request(oldest)
    run_once(home, script)
    assert request.uses
    assert (home / "runs" / oldest).is_dir()


def test_what_is_held_is_not_removed(home: Path) -> None:
    run = ended(home, 1)
    held = RunDirectory.open(run, home)
    assert prune(0, at=home) == []
    held.release()
    assert prune(0, at=home) == [run]
    with pytest.raises(UnknownRun):
        RunDirectory.open(run, home)


def test_words_hold_each_folder_once_and_give_it_up(home: Path) -> None:
    kept = make("uploads", "u", ALICE)
    words = [str(kept.path / "files")] * 3000 + [f"A={kept.path}", "/a:" * 100_000]
    before = psutil.Process().num_fds()
    (held,) = named_in(words, home, ALICE, home)
    assert held.hold() and held.path == kept.path
    assert psutil.Process().num_fds() == before + 1
    held.release()
    assert psutil.Process().num_fds() == before
    with pytest.raises(UnreadableInput):
        named_in(words, home, BOB, home)
    many = [f"/elsewhere/{number}" for number in range(2000)]
    assert named_in([*many, *words], home, None, home) == []  # of the machine's own user
    with pytest.raises(UnreadableInput, match="1,000 paths"):
        named_in([*many, *words], home, ALICE, home)


@pytest.mark.parametrize("kind", KEEP)
def test_every_folder_counts_for_one_quota(home: Path, kind: str) -> None:
    name = ended(home, 1) if kind == "runs" else make(kind, "one").path.name
    (home / kind / name / "data").write_bytes(bytes(1_000_000))
    assert prune(50, 500_000, at=home) == [name]


def test_a_client_never_removes_what_another_one_uses_today(home: Path) -> None:
    theirs = [make("uploads", f"u-{n}", NOBODY[0]) for n in range(3)]
    for kept in theirs:
        (kept.path / "data").write_bytes(bytes(1_000_000))
        os.utime(kept.path, (time.time() - 7200,) * 2)
    for n in range(25):
        make("uploads", f"v-{n}", NOBODY[1])
    assert len(prune(at=home, owner=NOBODY[1])) == 25 - KEEP["uploads"]
    with pytest.raises(RunDirectoryError, match="in use"):
        prune(most=2_000_000, at=home, owner=NOBODY[1])
    assert all(kept.path.is_dir() for kept in theirs)


def test_a_token_has_a_quota_of_its_own(home: Path) -> None:
    theirs = make("uploads", "theirs", ALICE)
    (theirs.path / "data").write_bytes(bytes(1_000_000))
    make("uploads", "mine", BOB)
    assert prune(most=500_000, at=home, owner=BOB) == []
    assert prune(most=500_000, at=home, owner=ALICE) == ["theirs"]


@pytest.mark.parametrize("kind", KEEP)
def test_paths_into_what_another_client_left_lead_nowhere(tmp_path: Path, kind: str) -> None:
    kept = make(kind, "r-20260101-0001-aaaa", ALICE)
    file = kept.path / "file"
    file.write_text("secret")
    (tmp_path / "link").symlink_to(file)
    for path in (file, tmp_path / "link", kept.path / ".." / kept.path.name / "file"):
        found = within(path, ALICE)
        assert found is not None
        assert found.path == kept.path
        with pytest.raises(UnreadableInput):
            within(path, BOB)
    assert within(tmp_path, BOB) is None
    (tmp_path / "a").mkdir()
    (tmp_path / "again").symlink_to("a/../" * 600 + "again")
    chain = "/".join(["."] * 9)
    for number in range(50):
        (tmp_path / f"l{number}").symlink_to(".")
        chain += f"/l{number}"
    for long in ("again", chain, "none/../again", f"none/../{chain}"):
        with pytest.raises(UnreadableInput):
            within(tmp_path / long, ALICE)


def ledger_of_alice(kind: str, name: str) -> Path:
    path = make(kind, name, ALICE).path / "r-20260101-0001-aaaa.jsonl"
    path.write_text(
        '{"sweep":"s","name":"nightly","plan":"p","targets":1,"began":1.0}\n'
        '{"index":0,"target":"a","outcome":"ok","wall_s":2.0}\n'
    )
    return path


def test_a_sweep_that_is_kept_is_its_owners() -> None:
    path = ledger_of_alice("sweeps", "n")
    assert find_sweep(str(path), ALICE)
    for named in (path.stem, str(path)):
        with pytest.raises((UnreadableInput, UnknownRun)):
            find_sweep(named, BOB)


def test_the_history_of_a_sweep_is_its_owners() -> None:
    ledger_of_alice(HISTORY, own_name(slug("nightly"), ALICE))
    assert len(history("nightly", ALICE)) == 1
    assert list(earlier("nightly", 1, ALICE)[0]) == ["a"]
    for other in (BOB, NOBODY[0], None):
        assert (history("nightly", other), earlier("nightly", 1, other)) == ([], ({}, None))


@pytest.mark.anyio
async def test_a_client_has_so_many_runs_at_a_time(home: Path, script: Path) -> None:
    script.write_text("import signal\nsignal.pause()\n")
    baseline = (stage_kind("baseline"), request_of(script))
    async with Service(home) as service:
        for _ in range(RUNS):
            run = await service.start(*baseline, ALICE)
        with pytest.raises(Exception, match="the most"):
            await service.start(*baseline, ALICE)
        await service.start(*baseline, BOB)
        await service.cancel(run, ALICE)
        await service.start(*baseline, ALICE)


@pytest.mark.anyio
async def test_searches_of_one_program_take_turns(home: Path, script: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.pt2"
    program.write_bytes(b"x")
    material = Material(exported=program)
    said: list[str] = []

    def state(owner: str | None) -> RunState:
        made = RunState(request_of(script), RunDirectory.create(home), "minify", client=owner)
        made.on_change = lambda: said.append(made.doing)
        return made

    async def second(inside: anyio.Event, first: Path) -> None:
        async with search_folder(state(ALICE), material) as (root, _):
            assert root == first
            inside.set()

    inside = anyio.Event()
    async with anyio.create_task_group() as group:
        async with search_folder(state(ALICE), material) as (root, cache):
            group.start_soon(second, inside, root)
            while not said:
                await anyio.lowlevel.checkpoint()
            assert not inside.is_set()
            assert prune(0, at=home, owner=ALICE) == []
            async with search_folder(state(BOB), material) as (other, others):
                assert {other, others}.isdisjoint({root, cache})
        await inside.wait()
    assert "waiting for another search" in said[0]


def test_everything_is_its_users_alone(home: Path, script: Path) -> None:
    before = os.umask(0o022)
    try:
        run_once(home, script)
        make("sweeps", "one", ALICE)
    finally:
        os.umask(before)
    found = [home, *home.rglob("*")]
    assert {"stdout.log", "run.json"} < {path.name for path in found}
    assert not [path for path in found if path.lstat().st_mode & 0o077]


def test_a_file_of_several_names_counts_once(home: Path) -> None:
    run = RunDirectory.create(home, ALICE)
    (run.path / "large.bin").write_bytes(bytes(1 << 20))
    before = run.size()
    for number in range(9):
        (run.path / f"again-{number}.bin").hardlink_to(run.path / "large.bin")
    assert run.size() < before + (1 << 20)
