"""Sweeps of tiny programs that really fail: what is counted, kept, gone on with and judged."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import anyio
import psutil
import pytest
import yaml
from aoti_debug import api
from aoti_debug.commands.app import run
from aoti_debug.kinds import SWEEP, stage_kind
from aoti_debug.run.executor import Demand, Gpu, Machine, Share, dispatch
from aoti_debug.server import create_server
from aoti_debug.sweep.one import Order, not_run, run_one
from aoti_debug.sweep.plan import Planned
from aoti_debug.sweep.request import sweep_request
from aoti_debug.sweep.row import Row, rows_of
from aoti_debug.sweep.workers import Cluster, OnRay
from mcp import Client
from programs import torch_python

SCRIPTS = {
    "good": "print('fine')\n",
    "zero": "print(1 / 0)\n",
    "zero_too": "def share(x):\n    return x / 0\n\n\n# longer than the other\nshare(3)\n",
    "missing": "import no_such_module\n",
    "dies": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
}
PATIENCE_S = 120.0
GIB = 1 << 30
Sweep = Callable[..., "Swept"]


@dataclass(frozen=True)
class Swept:
    status: int
    answer: dict[str, Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sweep(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Sweep:
    def call(*words: object) -> Swept:
        status = run(["sweep", "--json", *map(str, words)])
        return Swept(status, json.loads(capfd.readouterr().out))

    return call


def manifest(place: Path, *names: str, settings: str = "", **sources: str) -> Path:
    """Write a manifest of some of SCRIPTS and of others that are given, in this order."""
    place.mkdir(exist_ok=True)
    text = f'name = "tiny"\n[defaults]\ntimeout_s = 60\n{settings}\n'
    for name, source in ({name: SCRIPTS[name] for name in names} | sources).items():
        (place / f"{name}.py").write_text(source)
        text += f'[[target]]\nscript = "{name}.py"\n'
    path = place / "sweep.toml"
    path.write_text(text)
    return path


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def runs() -> Path:
    return Path(os.environ["AOTI_DEBUG_HOME"]) / "runs"


def test_failures_stand_in_buckets_with_their_examples(tmp_path: Path, sweep: Sweep) -> None:
    path = manifest(tmp_path / "of", "good", "zero_too", "zero", "missing", "dies")
    swept = sweep(path, "--out", tmp_path / "out", "--jobs", 1)
    answer = swept.answer
    assert swept.status == 1
    assert (answer["ok"], answer["failed"], answer["errors"]) == (1, 4, 0)
    buckets = {one["first"]: one for one in answer["buckets"]}
    assert set(buckets) == {"zero_too", "missing", "dies"}
    zero, dies = buckets["zero_too"], buckets["dies"]
    assert (zero["targets"], zero["smallest"]) == (2, "zero")
    assert (dies["category"], dies["confidence"]) == ("host_segfault", "proved")
    rows = {row.target: row for row in rows_of(tmp_path / "out" / "sweep.jsonl")}
    assert rows["good"].run is None
    assert rows["missing"].place == f"{tmp_path}/of/missing.py:1"
    kept = {path.name for path in runs().iterdir()} - {answer["run"]}
    assert kept == {rows[name].run for name in ("zero_too", "zero", "missing", "dies")}

    check_results(tmp_path, answer)
    left = [*(tmp_path / "out").rglob("*"), *(runs().parent / "sweeps").rglob("*")]
    assert {path.suffix for path in left} >= {".jsonl", ".html"}
    assert not [path for path in left if path.lstat().st_mode & 0o077]
    again = sweep(path, "--dry-run").answer
    assert again["targets"] == 5
    assert any("s before" in line for line in again["plan"])
    assert "by " + answer["run"] in again["notes"][0]
    none = sweep(answer["run"], "--minify", "b-none")
    assert (none.status, zero["id"] in none.answer["help"]) == (2, True)
    small = sweep(answer["run"], "--minify", zero["id"])
    assert str(rows["zero"].run) in small.answer["error"]
    assert run(["artifact", str(rows["missing"].run), "stderr.log"]) == 0


def check_results(tmp_path: Path, answer: dict[str, Any]) -> None:
    """Check the files for other programs; rows of the same sweep."""
    out = tmp_path / "out"
    suite = ElementTree.parse(out / "junit.xml").getroot()[0]
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["5", "4", "0"]
    assert [len(case) for case in suite] == [0, 1, 1, 1, 1]
    log = json.loads((out / "sweep.sarif").read_text())
    results, driver = log["runs"][0]["results"], log["runs"][0]["tool"]["driver"]
    assert {one["ruleId"] for one in results} == {one["id"] for one in driver["rules"]}
    where = [one["locations"][0]["physicalLocation"] for one in results]
    assert where[0]["artifactLocation"]["uri"] == "zero_too.py"
    assert where[0]["region"]["startLine"] == 2
    text = (out / "summary.md").read_text()
    assert "1 good, 4 failed" in text
    assert all(bucket["id"] in text for bucket in answer["buckets"])
    page = (out / "sweep.html").read_text()
    assert page.count("<svg") >= 3
    assert "ZeroDivisionError" in page


def test_what_a_target_put_in_place_of_a_result_is_replaced(tmp_path: Path, sweep: Sweep) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    other.write_text("not the sweep's")
    puts = f"import os\nos.mkfifo('{out}/junit.xml')\nos.symlink('{other}', '{out}/sweep.sarif')\n"
    assert sweep(manifest(tmp_path / "of", puts=puts), "--out", out).answer["ok"] == 1
    assert "<testsuites" in (out / "junit.xml").read_text()
    assert other.read_text() == "not the sweep's"


def states(swept: Swept, which: str) -> dict[str, tuple[str, str]]:
    return {one["first"]: (one["state"], one["since"]) for one in swept.answer[which]}


def test_a_baseline_tells_new_still_and_gone_and_fail_on_asks_for_new_or_proof(
    tmp_path: Path, sweep: Sweep
) -> None:
    before = sweep(manifest(tmp_path / "of", "zero", "missing"), "--fail-on", "proved")
    assert (before.status, before.answer["failed"]) == (0, 2)
    path = manifest(tmp_path / "of", "good", "zero", "zero_too")
    after = sweep(path, "--baseline", before.answer["run"], "--fail-on", "new")
    assert after.status == 0
    assert states(after, "buckets") == {"zero": ("still", before.answer["run"])}
    assert states(after, "gone") == {"missing": ("gone", before.answer["run"])}
    assert "zero_too" in after.answer["notes"][0]

    path = manifest(tmp_path / "of", "zero", "dies")
    new = sweep(path, "--baseline", after.answer["run"], "--fail-on", "new")
    assert new.status == 1
    assert states(new, "buckets") == {
        "zero": ("still", before.answer["run"]),
        "dies": ("new", new.answer["run"]),
    }
    pages = [Path(one) for one in new.answer["files"] if one.endswith("sweep.html")]
    assert "Earlier sweeps" in pages[0].read_text()


def test_packages_with_inputs_and_node_ids_are_run(
    built: Any, tmp_path: Path, sweep: Sweep, warm_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AOTI_DEBUG_PYTHON", warm_python)
    package, text = built.directory / "embedding.pt2", ""
    for name, row in (("fits", 999), ("outside", 1000)):
        inputs = f"torch.full((4, 6), {row}), torch.randn(4, 6)"
        save = f"import torch; torch.save((({inputs}), {{}}), {str(tmp_path / name)!r})"
        subprocess.run([warm_python, "-c", save], check=True)
        text += f"[[target]]\nname = '{name}'\npackage = '{package}'\ninputs = '{name}'\n"
    (tmp_path / "test_it.py").write_text(
        "def test_right():\n    pass\n\n\ndef test_wrong():\n    assert (4, 8) == (4, 6)\n"
    )
    env = f"{{PYTHONPATH = '{Path(pytest.__file__).parents[1]}'}}"
    for name in ("right", "wrong"):
        text += f"[[target]]\ntest = 'test_it.py::test_{name}'\nenv = {env}\n"
    (tmp_path / "sweep.toml").write_text(text)
    answer = sweep(tmp_path / "sweep.toml", "--jobs", 2).answer
    assert (answer["ok"], answer["failed"], answer["errors"]) == (2, 2, 0)
    found = {one["first"]: one for one in answer["buckets"]}
    assert found["outside"]["category"] == "index_out_of_bounds"
    wrong = found["test_it.py::test_wrong"]
    assert wrong["summary"].startswith("AssertionError: assert (4, 8) == (4, 6)")
    assert wrong["place"] == f"{tmp_path}/test_it.py:6"


def test_a_terminal_shows_targets_and_buckets_as_they_come(tmp_path: Path) -> None:
    path = manifest(tmp_path / "of", "zero")
    words = [sys.executable, "-m", "aoti_debug", "sweep", str(path)]
    terminal, inside = os.openpty()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=inside) as child:
        os.close(inside)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal's end, once nobody holds it
            while data := os.read(terminal, 1 << 16):
                shown += data
    os.close(terminal)
    assert child.returncode == 1
    assert all(text in shown.decode() for text in ("✗ ", "1 of 1 target", "user_code"))


UV = """\
case "$1 $2" in
"venv --clear") mkdir -p "$5/bin" ;;
"pip install") echo "$5" >> {log}
  printf '#!/bin/sh\\nTORCH_LINE=%s exec {python} "$@"\\n' "$5" > "$4" && chmod +x "$4" ;;
esac
"""


def test_the_first_bad_torch_is_found_in_environments_that_uv_makes(
    tmp_path: Path, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uv is a stand-in: its environments are this torch under another name."""
    older = "import os\nassert os.environ['TORCH_LINE'] < 'torch==2.12', 'it is newer'\n"
    path, log = manifest(tmp_path / "of", older=older), tmp_path / "installed"
    uv = program(tmp_path / "bin" / "uv", UV.format(log=log, python=torch_python()))
    monkeypatch.setenv("PATH", f"{uv.parent}:{os.environ['PATH']}")
    found = sweep(path, "--bisect", "torch", "2.10..2.13").answer
    assert (found["last_good"], found["first_bad"]) == ("torch 2.11", "torch 2.12")
    assert log.read_text().split() == ["torch==2.12.*", "torch==2.11.*"]


def test_a_flaky_target_is_one_failure_with_its_rate(tmp_path: Path, sweep: Sweep) -> None:
    once = "import os\nif not os.path.exists('been'):\n    os.mkdir('been')\n    raise OSError\n"
    swept = sweep(manifest(tmp_path / "of", settings="retries = 2", once=once))
    assert (swept.answer["failed"], swept.answer["flaky_targets"]) == (1, 1)
    assert swept.answer["buckets"][0]["flaky"] == "1 of 3 attempts failed"


FORGES = """\
import json, os, signal
pid = os.getppid()
while b"aoti_debug.sweep.one" not in open(f"/proc/{pid}/cmdline", "rb").read():
    pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
row = {"index": 7, "target": "forged", "outcome": "ok"}
open(f"/proc/{pid}/cwd/row.json", "w").write(json.dumps(row))
os.kill(pid, signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("source", "said"), [(None, "there is no script"), (FORGES, "SIGKILL")], ids=["gone", "forges"]
)
def test_what_cannot_be_run_is_a_row_and_one_that_its_target_wrote_is_not_believed(
    tmp_path: Path, source: str | None, said: str
) -> None:
    script = tmp_path / "one.py"
    if source:
        script.write_text(source)
    order = Order(Planned(7, "one", script=str(script), cwd=str(tmp_path)), str(tmp_path / "home"))
    row = anyio.run(run_one, order, tmp_path / "order")
    assert (row.index, row.outcome) == (7, "error") and said in row.summary
    assert not (tmp_path / "order").exists()


class Answering:
    """A cluster whose workers all answer the same."""

    exceptions = SimpleNamespace(RayError=RuntimeError)

    def __init__(self, said: str) -> None:
        self.said = said

    def remote(self, *_: object, **__: object) -> Any:
        return lambda _: SimpleNamespace(remote=self.answer)

    async def answer(self, _: str) -> str:
        return self.said


@pytest.mark.parametrize("said", ["no JSON", "{}", '{"index": "x"}'])
def test_a_worker_that_answers_no_row_costs_its_own_row_alone(said: str) -> None:
    crew = OnRay(Answering(said), Cluster(4, 0, 4, 0), None)
    row = anyio.run(crew.run, Planned(3, "told", script="/nowhere.py"), Share())
    assert (row.index, row.outcome) == (3, "error") and "not a row" in row.summary


WAITS = """\
import os, sys
with open(os.environ["MAILBOX"], "w") as mailbox:
    print(os.getpid(), file=mailbox, flush=True)
while os.path.exists(os.environ["HELD"]):
    os.open(os.environ["HELD"], os.O_RDONLY)
"""


def test_a_killed_sweep_goes_on_and_counts_each_target_once(tmp_path: Path, sweep: Sweep) -> None:
    path = manifest(tmp_path / "of", "zero", "good", "missing", waits=WAITS)
    mailbox, held = tmp_path / "mailbox", tmp_path / "held"
    os.mkfifo(mailbox)
    os.mkfifo(held)
    reading = os.open(mailbox, os.O_RDWR)
    out = tmp_path / "out"
    words = [sys.executable, "-m", "aoti_debug", "sweep", str(path), "--out", str(out), "--jobs=1"]
    env = {**os.environ, "MAILBOX": str(mailbox), "HELD": str(held)}
    with subprocess.Popen(words, env=env, stdout=-1, stderr=-1) as driver:
        target = psutil.Process(int(os.read(reading, 100)))
        tree = [*psutil.Process(driver.pid).children(recursive=True), target]
        driver.send_signal(signal.SIGKILL)
        driver.communicate(timeout=PATIENCE_S)
    os.close(reading)
    _, alive = psutil.wait_procs(tree, timeout=PATIENCE_S)
    assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []
    ledger = out / "sweep.jsonl"
    assert [row.target for row in rows_of(ledger)] == ["zero", "good", "missing"]
    with ledger.open("ab") as file:  # as a process leaves it that is killed while it writes
        file.write(b'{"index":3,"target":"wai')
    held.unlink()
    (tmp_path / "of" / "waits.py").write_text("")
    swept = sweep(path, "--resume", out)
    assert (swept.answer["finished"], swept.answer["failed"]) == (4, 2)
    lines = [json.loads(line) for line in ledger.read_bytes().split(b"\n") if line.endswith(b"}")]
    counted = Counter(line["target"] for line in lines if "target" in line)
    assert counted == {"zero": 1, "good": 1, "missing": 1, "waits": 1}
    assert sum(one["targets"] for one in swept.answer["buckets"]) == 2


def test_a_tampered_row_removes_no_run_and_a_new_place_takes_the_results(
    tmp_path: Path, sweep: Sweep
) -> None:
    path, out = manifest(tmp_path / "of", "zero", "zero_too"), tmp_path / "out"
    other = sweep(manifest(tmp_path / "other", "missing")).answer["buckets"][0]["run"]
    sweep(path, "--out", out, "--jobs", 1)
    ledger = out / "sweep.jsonl"
    head, *rows = [json.loads(line) for line in ledger.read_bytes().splitlines()]
    one = {**rows[1], "size": 1 << 40}  # the second is then the smaller one of its bucket
    rows = [{**one, "run": rows[1]["run"]}, {**one, "index": 0, "target": "zero", "run": other}]
    ledger.write_text("".join(json.dumps(line) + "\n" for line in (head, rows[1])))
    swept = sweep(path, "--resume", out, "--out", tmp_path / "new" / "place")
    assert (swept.answer["finished"], swept.answer["failed"]) == (2, 2)
    assert (runs() / other).is_dir()
    results = tmp_path / "new" / "place" / "buckets.jsonl"
    assert str(results) in swept.answer["files"] and results.read_text()


def test_another_manifest_is_not_gone_on_with(tmp_path: Path, sweep: Sweep) -> None:
    sweep(manifest(tmp_path / "of", "good"), "--out", tmp_path / "out")
    other = manifest(tmp_path / "of", "good", "zero")
    for option, said in (("--resume", "not the one"), ("--out", "holds a sweep already")):
        told = sweep(other, option, tmp_path / "out")
        assert (told.status, said in told.answer["error"]) == (2, True)


class Pretended:
    """An executor that runs nothing and writes down how much ran side by side."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.most = 0
        self.workers = "none"
        self.give = machine.give

    def never(self, planned: Planned) -> Row | None:
        why = self.machine.never(planned.demand)
        return not_run(planned, why) if why else None

    def take(self, planned: Planned) -> Share | None:
        return self.machine.take(planned.demand)

    async def run(self, planned: Planned, share: Share) -> Row:
        self.most = max(self.most, self.machine.running)
        await anyio.lowlevel.checkpoint()
        return Row(index=planned.index, target=planned.name, outcome="ok")


def test_every_target_is_run_once_whatever_it_needs() -> None:
    gpus = [Gpu(f"GPU-{n}", "NVIDIA H100 80GB", 80 * GIB) for n in range(2)]
    demands = [Demand(gpus=n % 3, memory=(n % 7) * GIB, cores=n % 5 or None) for n in range(300)]
    demands += [Demand(gpu_memory=20 * GIB)] * 50 + [Demand(gpu="A100"), Demand(gpus=3)]
    machine = Machine(16, 8, 16 * GIB, gpus)
    executor = Pretended(machine)
    rows: list[Row] = []
    targets = (Planned(n, f"t{n}", demand=demand) for n, demand in enumerate(demands))
    anyio.run(dispatch, targets, executor, rows.append, anyio.Event())
    assert sorted(row.index for row in rows) == list(range(352))
    assert [row.target for row in rows if row.outcome == "error"] == ["t350", "t351"]
    assert 1 < executor.most <= 16
    assert (machine.running, machine.cores, machine.memory) == (0, 8, 16 * GIB)
    assert [(gpu.users, gpu.promised) for gpu in gpus] == [(0, 0), (0, 0)]


def test_targets_share_a_gpu_when_their_measured_memory_fits() -> None:
    machine = Machine(64, 64, 1 << 40, [Gpu("GPU-0", "H100", 80 * GIB)])
    small, unknown = Demand(gpu_memory=20 * GIB), Demand()
    shares = [machine.take(small) for _ in range(4)]
    assert [share is not None for share in shares] == [True, True, True, False]
    assert machine.take(unknown) is None  # what nobody has measured runs alone
    for share in filter(None, shares):
        machine.give(share)
    alone = machine.take(unknown)
    assert alone is not None
    assert machine.take(small) is None


SAYS = """\
import os
print(os.path.basename(__file__), file=open(os.environ["LOG"], "a"))
if __file__.endswith("a.py"):
    open(os.environ["MAILBOX"], "w").write("begun")
    open(os.environ["HELD"]).read()
"""


@pytest.mark.anyio
@pytest.mark.parametrize("who", ["another client", "another process"])
async def test_a_sweep_gives_the_gpu_to_who_waits_between_two_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """The first target starts only once the other one waits, and the GPU is not free before."""
    smi = program(tmp_path / "bin" / "nvidia-smi", "echo 0, GPU-aaaa-1, H200, 143771, 143100")
    log, held, mailbox = (tmp_path / name for name in ("LOG", "HELD", "MAILBOX"))
    monkeypatch.setenv("PATH", f"{smi.parent}{os.pathsep}{os.environ['PATH']}")
    for place in (log, held, mailbox):
        monkeypatch.setenv(place.name, str(place))
    os.mkfifo(held)
    os.mkfifo(mailbox)
    path = manifest(tmp_path / "of", a=SAYS, b=SAYS, c=SAYS)
    (tmp_path / "other.py").write_text(SAYS)

    async with api.service(None, PATIENCE_S) as mine, api.service(None, PATIENCE_S) as theirs:
        swept = await mine.start(SWEEP, sweep_request(path, jobs=1), "token alice")
        await anyio.to_thread.run_sync(mailbox.read_text)
        request = api.request(script=tmp_path / "other.py", python=torch_python())
        service = mine if who == "another client" else theirs
        other = await service.start(stage_kind("baseline"), request, "token bob")
        waits = anyio.Event()

        def look(said: str) -> None:
            if "waiting" in said:
                waits.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(service.wait, other, None, look, "token bob")
            await waits.wait()
            await anyio.to_thread.run_sync(held.write_text, "go on")
        await mine.wait(swept, owner="token alice")
    assert log.read_text().split() == ["a.py", "other.py", "b.py", "c.py"]


@pytest.mark.anyio
async def test_targets_that_can_never_run_leave_the_loop_to_others() -> None:
    rows: list[Row] = []
    many = (Planned(n, f"t{n}", demand=Demand(gpus=9)) for n in range(100_000))
    stop = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dispatch, many, Pretended(Machine(1, 1, 1)), rows.append, stop)
        while not rows:
            await anyio.lowlevel.checkpoint()
        stop.set()
    assert len(rows) < 100


def test_a_full_disk_ends_the_sweep_with_its_rows_kept() -> None:
    def on_row(row: Row) -> None:
        raise OSError(28, "No space left on device")

    targets, executor = iter([Planned(0, "a"), Planned(1, "b")]), Pretended(Machine(1, 1, 1))
    with pytest.raises(OSError, match="No space left"):
        anyio.run(dispatch, targets, executor, on_row, anyio.Event())


@pytest.mark.anyio
async def test_an_agent_sweeps_pages_through_buckets_and_compares(tmp_path: Path) -> None:
    path = manifest(tmp_path / "of", "zero", "dies")
    async with Client(create_server()) as client:

        async def call(tool: str, **words: Any) -> Any:
            return (await client.call_tool(tool, words)).structured_content

        started = await call("sweep", manifest=str(path), wait_s=0)
        run = started["run"]
        ended = await call("wait_run", run=run)
        page = await call("read_artifact", run=run, name="buckets.jsonl", offset=1, limit=1)
        again = await call("sweep", manifest=str(path), baseline=run)
    assert started["status"] == "running"
    assert (ended["status"], ended["failed"], ended["result"]) == ("done", 2, "bad")
    assert ended["buckets"][1]["id"] in page["text"]
    assert ended["next"][0]["tool"] == "minify"
    assert again["result"] == "good"
    assert {one["state"] for one in again["buckets"]} == {"still"}


def test_the_action_sweeps_and_compares_with_the_baseline(tmp_path: Path) -> None:
    """The shell of the action's last step, with what the runner would give it."""
    action = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text("utf-8"))
    step = action["runs"]["steps"][-1]
    manifest(tmp_path / "of", "zero")
    ours = f'exec "{sys.executable}" -m aoti_debug "$@"'
    program(tmp_path / "aoti-debug" / "bin" / "aoti-debug", ours)
    given = {
        **{name: one.get("default", "") for name, one in action["inputs"].items()},
        "manifest": "of/sweep.toml",
        "python": torch_python(),
        "fail-on": "new",
        "jobs": "1",
    }

    def ran(**inputs: str) -> int:
        words = {f"${{{{ inputs.{name} }}}}": value for name, value in {**given, **inputs}.items()}
        env = {name: words[value] for name, value in step["env"].items()}
        left = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            env={**os.environ, **env, **left, "RUNNER_TEMP": str(tmp_path)},
            cwd=tmp_path,
        ).returncode

    assert ran(out="first", baseline="none") == 1
    assert ran(out="second", baseline="first") == 0
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == "results=first\nresults=second\n"
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert "❌ tiny: 0 good, 1 failed" in summary
    assert "✅ tiny: 0 good, 1 failed" in summary
