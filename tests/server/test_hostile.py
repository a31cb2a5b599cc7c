"""Packages and scripts that mean harm: the server answers, and goes on answering."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.run.directory import prune
from mcp import Client, StdioServerParameters
from package_archives import write
from server.conftest import answer_of, error_of

PATIENCE_S = 60.0
DEVICE = '{"AOTI_DEVICE_KEY":"cpu\\ud800 \\u202e\\u009b31m\\udb40\\udc41\\u0007"}'


def served(home: Path, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Do some work as a client of a server over standard input and output."""

    async def main() -> Any:
        environment = {"AOTI_DEBUG_HOME": str(home), "AOTI_DEBUG_PYTHON": sys.executable}
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "aoti_debug", "serve"], env=environment
        )
        with anyio.fail_after(PATIENCE_S):
            async with Client(parameters) as client:
                return await work(client)

    return anyio.run(main)


def script(folder: Path, *lines: str) -> str:
    path = folder / "hostile.py"
    here = "here = pathlib.Path(os.environ['AOTI_DEBUG_EVENTS']).parent"
    path.write_text("\n".join(("import os, pathlib, shutil", here, *lines)))
    return str(path)


def test_text_that_is_no_unicode_is_answered_and_harmless(tmp_path):
    metadata = ("data/aotinductor/model/x_metadata.json", DEVICE.encode())
    package = write(tmp_path / "m.pt2", [("archive_format", b"pt2"), metadata])
    write_it = "open(os.fsencode(here) + b'/\\xff\\xfe.txt', 'w').write('found')"
    path = script(tmp_path, write_it)

    async def work(client: Client) -> None:
        seen = answer_of(await client.call_tool("inspect_package", {"package": str(package)}))
        assert seen["models"][0]["device"] == "cpu\\ud800 31m"
        ran = answer_of(await client.call_tool("run_stage", {"script": path}))
        assert "\\xff\\xfe.txt" in ran["artifacts"]
        asked = {"run": ran["run"], "name": "\\xff\\xfe.txt"}
        assert answer_of(await client.call_tool("read_artifact", asked))["text"] == "found"
        for wrong in ("\u202e/x", "/\x9b31m"):
            said = error_of(await client.call_tool("diagnose_log", {"path": wrong}))
            assert "\u202e" not in said
            assert "\x9b" not in said

    served(tmp_path / "home", work)


@pytest.mark.parametrize("kind", ["pipe", "device", "long", "folder", "link"])
def test_answer_that_is_no_regular_file_is_not_waited_for(tmp_path, kind):
    run = tmp_path / "home" / "runs" / "r-20261121-0102-abcd"
    run.mkdir(parents=True)
    for name in ("run.json", "answer.json"):
        match kind:
            case "pipe":
                os.mkfifo(run / name)
            case "device":
                (run / name).symlink_to("/dev/zero")
            case "long":
                (run / name).touch()
                os.truncate(run / name, 1 << 40)
            case "folder":
                (run / name).mkdir()
            case "link":
                (run / name).symlink_to("/proc/kmsg")

    async def work(client: Client) -> None:
        for tool in ("wait_run", "cancel_run"):
            said = error_of(await client.call_tool(tool, {"run": run.name}))
            assert "Read its artifacts" in said
        assert answer_of(await client.call_tool("run_stage", {"script": script(tmp_path)}))

    served(tmp_path / "home", work)


@pytest.mark.parametrize(
    "does",
    [
        "shutil.rmtree(here)",
        "shutil.rmtree(here); here.symlink_to(os.environ['PRECIOUS'])",
        "here.rename(here.with_name('moved')); here.mkdir()",
    ],
)
def test_script_that_takes_its_directory_away_is_no_healthy_one(call, tmp_path, does):
    precious = tmp_path / "precious"
    precious.mkdir()
    said = call("triage", script=script(tmp_path, does), env={"PRECIOUS": str(precious)})
    assert "deleted or replaced its own directory" in error_of(said)
    assert list(precious.iterdir()) == []


def test_links_that_a_script_leaves_are_not_written_through(call, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    lines = [
        f"for name in ('steps', 'tensors', 'core'): (here / name).symlink_to({str(precious)!r})",
        *(
            f"(here / {name!r}).unlink(missing_ok=True); (here / {name!r}).symlink_to("
            f"{str(precious / 'file')!r})"
            for name in ("run.json", "answer.json", "diagnosis.json")
        ),
        "raise SystemExit(3)",
    ]
    call("triage", script=script(tmp_path, *lines))
    assert [path.name for path in precious.iterdir()] == ["file"]
    assert (precious / "file").read_text() == "kept"


def test_logs_that_we_did_not_write_are_not_read(call, tmp_path):
    fault = "Program received signal SIGSEGV, Segmentation fault."
    planted = ("gdb.log", "cuda.log", "cuda-gdb.log", "stacks.log", "sanitizer.log")
    lines = [f"(here / {name!r}).write_text({fault!r})" for name in planted]
    found = answer_of(call("triage", script=script(tmp_path, *lines)))["diagnosis"]
    assert found["category"] == "user_code"
    assert not {one["artifact"] for one in found.get("evidence", ())}.intersection(planted)


ASSERTED = (
    "/tmp/torchinductor_u/ab/cabcd.py:34: unknown: block: [0,0,0], thread: [5,0,0] Assertion "
    "`index out of bounds: 0 <= tmp4 < 1000` failed."
)
HELLO = "Error: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7(at::kDouble)"


@pytest.mark.parametrize("said", [ASSERTED, f"hello {HELLO}", HELLO], ids=["assert", "hello", "it"])
def test_words_alone_prove_nothing(call, tmp_path, said):
    path = script(tmp_path, "import sys", f"print({said!r}, file=sys.stderr)")
    found = answer_of(call("triage", script=path))["diagnosis"]
    assert found["confidence"] != "proved" or found["category"] in ("no_fault", "user_code")


CHECKED = """\
========= Invalid __global__ read of size 4 bytes
=========     at triton_poi_fused_0+0x90 in x.py:12
=========     by thread (1,0,0) in block (0,0,0)"""


@pytest.mark.parametrize(
    ("said", "ends"),
    [(ASSERTED, "exit 1"), (HELLO, "exit 1"), (CHECKED, "kill -SEGV $$")],
    ids=["assert", "check", "sanitizer"],
)
def test_words_of_a_program_without_the_probe_prove_nothing(call, said, ends):
    """A bad end agrees with any words; so does the same program when it is run once more."""
    command = ["/bin/sh", "-c", f"echo {shlex.quote(said)} >&2; {ends}"]
    found = answer_of(call("triage", command=command))["diagnosis"]
    assert found["confidence"] != "proved"


@pytest.mark.parametrize("said", [ASSERTED, HELLO], ids=["assert", "check"])
def test_real_exception_beside_printed_words_wins(call, tmp_path, said):
    lines = ("import sys", f"print({said!r}, file=sys.stderr)", "raise ValueError('seven is odd')")
    found = answer_of(call("triage", script=script(tmp_path, *lines)))["diagnosis"]
    assert found["category"] == "user_code"
    assert "seven is odd" in found["summary"]


def test_folders_within_folders_without_end_hold_nobody_up(call, home, tmp_path):
    lines = ("os.chdir(here)", "for _ in range(3000):", "    os.mkdir('d')", "    os.chdir('d')")
    path = script(tmp_path, *lines)
    first = answer_of(call("run_stage", script=path))
    assert "run.json" in first["artifacts"]
    assert answer_of(call("run_stage", script=path))["status"] == "done"
    assert first["run"] in prune(0, at=home)
    assert not (home / "runs" / first["run"]).exists()


def test_what_a_script_writes_about_an_interpreter_is_not_believed(call, tmp_path):
    lines = (
        "import json",
        "kept = list((here.parents[1] / 'interpreters').glob('*.json'))",
        "for path in kept:",
        "    facts, watched = json.loads(path.read_text())",
        "    facts = dict.fromkeys(facts, {'a': [1]})",
        "    path.write_text(json.dumps([facts, watched]))",
        "print('changed', len(kept))",
    )
    for _ in range(2):
        ran = answer_of(call("run_stage", script=script(tmp_path, *lines)))
        asked = {"run": ran["run"], "name": "stdout.log"}
        assert "changed 1" in answer_of(call("read_artifact", **asked))["text"]
