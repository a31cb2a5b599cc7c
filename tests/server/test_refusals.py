"""How the tools refuse what they cannot use, and what an agent reads when one fails: what is
wrong and what to do instead, never a bare name, never a traceback. Packages and scripts that
mean harm: the server answers, and goes on answering."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from aoti_debug.answers import RunsAnswer
from aoti_debug.errors import WrongUse
from aoti_debug.run.directory import prune
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import absolute, tool
from mcp import Client
from mcp.server import MCPServer
from mcp_types import CallToolResult
from recordings import write
from server.conftest import ASSERTED, ONE_ERA, answer_of, error_of, over_stdio

RUN = "r-20200101-0000-zzzz"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("diagnose_log", {}, "either text or path"),
        ("diagnose_log", {"text": "x", "path": "/x"}, "either text or path"),
        ("diagnose_log", {"path": "/none/no.log"}, "no.log"),
        ("diagnose_log", {"path": "run.log"}, "absolute path"),
        ("diagnose_log", {"text": "x", "bogus": 1}, "unknown argument `bogus`. "),
        ("inspect_package", {"package": "/none/no.pt2"}, "no.pt2"),
        ("inspect_package", {"package": "model.pt2"}, "absolute path"),
        ("inspect_package", {"package": "/model.pt2", "python": "bin/python"}, "absolute path"),
        ("check_environment", {"python": "venv/bin/python"}, "absolute path"),
        ("triage", {}, "exactly one of"),
        ("triage", {"script": "/x.py", "module": "pytest"}, "exactly one of"),
        ("triage", {"module": "pytest"}, "cwd"),
        ("triage", {"script": "/none/no.py"}, "no script /none/no.py"),
        ("triage", {"script": "infer.py"}, "absolute path"),
        ("triage", {"scrpt": "/x.py"}, "unknown argument `scrpt`. This tool takes: script, "),
        ("triage", {"args": "-x"}, "wrong arguments: `args`: Input should be a valid list"),
        ("run_stage", {"command": ["/nope/x"]}, "no program /nope/x"),
        ("run_stage", {"command": ["./a.out"]}, "absolute path"),
        ("run_stage", {"command": ["sh"], "env": {"A=B": "1"}}, "holds no `=`"),
        ("run_stage", {"command": ["sh"], "args": ["a\0b"]}, "in a file"),
        ("run_stage", {"command": ["sh"], "stage": "voodoo"}, "kernel_names"),
        ("run_stage", {"script": "/x.py", "cwd": "here"}, "absolute path"),
        ("run_stage", {"script": "/x.py", "python": "venv/bin/python"}, "absolute path"),
        ("explain_kernel", {"run": "r-1/../etc", "kernel": "0"}, "absolute path"),
        ("minify", {"what": "r-1/../etc"}, "absolute path"),
        ("wait_run", {"run": "r-1", "wait_s": 1000}, "This tool takes: run, wait_s"),
        ("wait_run", {"timeout": 60, "ru": ""}, "unknown arguments `timeout`, `ru`. "),
        ("wait_run", {"run": RUN}, f"no run '{RUN}'. Use the id"),
        ("cancel_run", {"run": RUN}, f"no run '{RUN}'. Use the id"),
        ("read_artifact", {"run": RUN, "name": "run.json"}, "no run"),
        ("read_artifact", {"run": "../../etc", "name": "run.json"}, "no run"),
        ("read_artifact", {"run": "", "name": "run.json"}, "no run"),
    ],
)
def test_what_a_tool_cannot_use_is_said_with_what_to_do(call, tool, arguments, said):
    assert said in error_of(call(tool, **arguments))


def test_what_is_no_regular_file_is_not_read(call, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in ("/dev/zero", str(pipe), str(tmp_path)):
        said = error_of(call("diagnose_log", path=path))
        assert f"{path} is not a regular file. " in said
    assert "is not a regular file" in error_of(call("inspect_package", package=str(pipe)))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("diagnose_log", {"path": "/a\0b"}),
        ("inspect_package", {"package": "/a\0b"}),
        ("inspect_package", {"package": "/dev", "python": "/a\0b"}),
        ("triage", {"script": "/a\0b"}),
        ("triage", {"script": "/x.py", "cwd": "/a\0b"}),
        ("triage", {"module": "a\0b", "cwd": "/"}),
        ("triage", {"command": ["/a\0b"]}),
        ("triage", {"command": ["a\0b"]}),
        ("triage", {"command": ["sh", "a\0b"]}),
        ("triage", {"command": ["sh"], "env": {"A": "a\0b"}}),
        ("run_stage", {"script": "/x.py", "stage": "a\0b"}),
        ("read_artifact", {"run": "a\0b", "name": "a\0b"}),
        ("wait_run", {"run": "a\0b"}),
        ("wait_run", {"run": 1, "a\0b": 2}),
    ],
)
def test_nul_characters_are_refused_and_not_repeated(call, tool, arguments):
    said = error_of(call(tool, **arguments))
    assert "\0" not in said
    assert "fault of aoti-debug" not in said


def test_package_held_against_an_interpreter_that_is_none(call, tmp_path):
    (tmp_path / "model.pt2").write_bytes(b"")
    given = {"package": str(tmp_path / "model.pt2"), "python": str(tmp_path / "none")}
    assert "cannot be executed" in error_of(call("inspect_package", **given))


async def demo(kind: str) -> Annotated[CallToolResult, RunsAnswer]:
    """Fail in some way."""
    if kind == "crash":
        raise ZeroDivisionError("secret " * 1000)
    return answer(RunsAnswer())


def ask(kind: Any) -> Any:
    marks = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
    server = MCPServer("demo", tools=[tool(demo, "Demo", **marks)])

    async def main() -> Any:
        async with Client(server) as client:
            return await client.call_tool("demo", {"kind": kind})

    return anyio.run(main)


def test_crash_says_its_kind_and_where_the_log_is(caplog: pytest.LogCaptureFixture):
    text = ask("crash").content[0].text
    assert text.startswith("ZeroDivisionError: secret ")
    assert "log" in text and len(text) < 600
    assert "ZeroDivisionError" in caplog.text


def test_many_wrong_items_are_refused_before_each_is_looked_at():
    text = ask(["a"] * 10_001).content[0].text
    assert text == "`kind` has 10,001 items; it may have 10,000"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/" + "a/" * 1_000_000, "longer than a path may be"),  # before it is resolved
        ("x/" * 2000, "is not an absolute path"),
    ],
    ids=["long", "relative"],
)
def test_a_path_that_is_refused_is_repeated_in_little(path, said):
    with pytest.raises(WrongUse, match=said) as caught:
        absolute("path", path)
    assert len(str(caught.value)) < 300


def test_empty_answer_is_an_empty_object():
    assert ask("fine").structured_content == {}


DEVICE = '{"AOTI_DEVICE_KEY":"cpu\\ud800 \\u202e\\u009b31m\\udb40\\udc41\\u0007"}'


def script(folder: Path, *lines: str) -> str:
    path = folder / "hostile.py"
    here = "here = pathlib.Path(os.environ['AOTI_DEBUG_EVENTS']).parent"
    path.write_text("\n".join(("import os, pathlib, shutil", here, *lines)))
    return str(path)


@pytest.fixture
def diagnosed(call, tmp_path):
    """Triage a script of these lines; return the diagnosis."""

    def run(*lines: str) -> Any:
        return answer_of(call("triage", script=script(tmp_path, *lines)))["diagnosis"]

    return run


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
            assert "\u202e" not in said and "\x9b" not in said

    over_stdio(tmp_path / "home", work)


def is_long(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def holds_much(path: Path) -> None:
    answer = {"run": RUN, "status": "done", "notes": ["x"] * 100_000}
    path.write_text(json.dumps({"kind": "run_stage", "answer": answer}))


def leads_to(place: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(place)


@pytest.mark.parametrize(
    "left",
    [os.mkfifo, is_long, holds_much, Path.mkdir, leads_to("/dev/zero"), leads_to("/proc/kmsg")],
)
def test_answer_that_is_no_regular_file_is_not_waited_for(tmp_path, left):
    run = tmp_path / "home" / "runs" / RUN
    run.mkdir(parents=True)
    for name in ("run.json", "answer.json"):
        left(run / name)

    async def work(client: Client) -> None:
        for asked in ("wait_run", "cancel_run"):
            said = error_of(await client.call_tool(asked, {"run": run.name}))
            assert "Read its artifacts" in said
        assert answer_of(await client.call_tool("run_stage", {"script": script(tmp_path)}))

    over_stdio(tmp_path / "home", work)


@pytest.fixture
def precious(tmp_path):
    """A folder that a script may not reach through the server."""
    place = tmp_path / "precious"
    place.mkdir()
    return place


@ONE_ERA
@pytest.mark.parametrize(
    "does",
    [
        "shutil.rmtree(here)",
        "shutil.rmtree(here); here.symlink_to(os.environ['PRECIOUS'])",
        "here.rename(here.with_name('moved')); here.mkdir()",
    ],
)
def test_script_that_takes_its_directory_away_is_no_healthy_one(call, tmp_path, precious, does):
    said = call("triage", script=script(tmp_path, does), env={"PRECIOUS": str(precious)})
    assert "deleted or replaced its own directory" in error_of(said)
    assert list(precious.iterdir()) == []


@ONE_ERA
def test_links_that_a_script_leaves_are_not_written_through(call, tmp_path, precious):
    (precious / "file").write_text("kept")
    lines = [
        f"for name in ('steps', 'tensors', 'core'): (here / name).symlink_to({str(precious)!r})",
        "for name in ('run.json', 'answer.json', 'diagnosis.json'):",
        "    (here / name).unlink(missing_ok=True)",
        f"    (here / name).symlink_to({str(precious / 'file')!r})",
        "raise SystemExit(3)",
    ]
    call("triage", script=script(tmp_path, *lines))
    assert [path.name for path in precious.iterdir()] == ["file"]
    assert (precious / "file").read_text() == "kept"


@ONE_ERA
def test_logs_that_we_did_not_write_are_not_read(diagnosed):
    fault = "Program received signal SIGSEGV, Segmentation fault."
    planted = ("gdb.log", "cuda.log", "cuda-gdb.log", "stacks.log", "sanitizer.log")
    found = diagnosed(f"for name in {planted}: (here / name).write_text({fault!r})")
    assert found["category"] == "user_code"
    assert not {one["artifact"] for one in found.get("evidence", ())}.intersection(planted)


PRINTED = "import sys\nprint({!r}, file=sys.stderr)"
HELLO = "Error: input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7(at::kDouble)"


@ONE_ERA
@pytest.mark.parametrize("said", [ASSERTED, f"hello {HELLO}", HELLO], ids=["assert", "hello", "it"])
def test_words_alone_prove_nothing(diagnosed, said):
    found = diagnosed(PRINTED.format(said))
    assert found["confidence"] != "proved" or found["category"] in ("no_fault", "user_code")


CHECKED = """\
========= Invalid __global__ read of size 4 bytes
=========     at triton_poi_fused_0+0x90 in x.py:12
=========     by thread (1,0,0) in block (0,0,0)"""


@ONE_ERA
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


@ONE_ERA
@pytest.mark.parametrize("said", [ASSERTED, HELLO], ids=["assert", "check"])
def test_real_exception_beside_printed_words_wins(diagnosed, said):
    found = diagnosed(PRINTED.format(said), "raise ValueError('seven is odd')")
    assert found["category"] == "user_code"
    assert "seven is odd" in found["summary"]


@ONE_ERA
def test_folders_within_folders_without_end_hold_nobody_up(call, home, tmp_path):
    lines = ("os.chdir(here)", "for _ in range(3000):", "    os.mkdir('d')", "    os.chdir('d')")
    path = script(tmp_path, *lines)
    first = answer_of(call("run_stage", script=path))
    assert "run.json" in first["artifacts"]
    assert answer_of(call("run_stage", script=path))["status"] == "done"
    assert first["run"] in prune(0, at=home)
    assert not (home / "runs" / first["run"]).exists()


@ONE_ERA
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
