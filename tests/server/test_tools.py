"""Every tool over MCP, in both eras of the protocol: what it answers and how it refuses."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from aoti_debug import api
from aoti_debug.tools.fit import LIMIT
from mcp import Client, MCPError

ASSERTED = """\
/tmp/torchinductor/xy/cxyz.py:34: unknown: block: [0,0,0], thread: [5,0,0] \
Assertion `index out of bounds: 0 <= tmp4 < 1000` failed.
Traceback (most recent call last):
  File "/home/user/infer.py", line 20, in <module>
    model(ids)
RuntimeError: run_func_(...) API call failed at model_container_runner.cpp, line 144
"""


def text_of(result: Any) -> str:
    assert len(result.content) == 1
    return str(result.content[0].text)


def answer_of(result: Any) -> dict[str, Any]:
    """Return the structure, after checking that the text says the same."""
    assert not result.is_error, text_of(result)
    assert json.loads(text_of(result)) == result.structured_content
    assert len(text_of(result)) < 8000
    return dict(result.structured_content)


def error_of(result: Any) -> str:
    """Return an error's text; clients show an agent either text or structure, so it is alone."""
    assert result.is_error
    assert result.structured_content is None
    assert "Error executing tool" not in text_of(result)
    assert "pydantic" not in text_of(result)
    return text_of(result)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "target.py"
    path.write_text("print('hello from the target')\n")
    return path


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    path = tmp_path / "endless.py"
    path.write_text("import signal\nprint('waiting', flush=True)\nsignal.pause()\n")
    return path


def test_log_text_is_diagnosed(call):
    answer = answer_of(call("diagnose_log", text=ASSERTED))
    assert answer["lines"] == len(ASSERTED.splitlines())
    assert answer["diagnoses"][0]["category"] == "index_out_of_bounds"


def test_log_file_is_diagnosed(call, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(ASSERTED)
    answer = answer_of(call("diagnose_log", path=str(log)))
    assert answer["diagnoses"][0]["evidence"]


def test_text_that_looks_like_json_stays_text(call):
    answer = answer_of(call("diagnose_log", text='{"error": "exit 1"}'))
    assert answer["lines"] == 1


@pytest.mark.parametrize("arguments", [{}, {"text": "x", "path": "/x"}])
def test_diagnose_log_wants_text_or_path(call, arguments):
    assert "either text or path" in error_of(call("diagnose_log", **arguments))


def test_missing_log_is_said(call, tmp_path):
    assert "no.log" in error_of(call("diagnose_log", path=str(tmp_path / "no.log")))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("diagnose_log", {"path": "run.log"}),
        ("inspect_package", {"package": "model.pt2"}),
        ("triage", {"script": "infer.py"}),
        ("run_stage", {"script": "/x.py", "cwd": "here"}),
        ("run_stage", {"script": "/x.py", "python": "venv/bin/python"}),
        ("run_stage", {"command": ["./a.out"]}),
    ],
)
def test_relative_paths_are_refused(call, tool, arguments):
    assert "absolute path" in error_of(call(tool, **arguments))


def test_relative_script_is_found_in_cwd(call, script):
    answer = answer_of(call("run_stage", script=script.name, cwd=str(script.parent)))
    assert answer["exit"] == "exit 0"


def test_missing_package_is_said(call, tmp_path):
    assert "no.pt2" in error_of(call("inspect_package", package=str(tmp_path / "no.pt2")))


@pytest.mark.parametrize("arguments", [{}, {"script": "/x.py", "module": "pytest"}])
def test_exactly_one_target_is_wanted(call, arguments):
    assert "exactly one of" in error_of(call("triage", **arguments))


def test_module_needs_a_directory(call):
    assert "cwd" in error_of(call("triage", module="pytest"))


def test_missing_script_is_said(call, tmp_path):
    assert "no.py" in error_of(call("triage", script=str(tmp_path / "no.py")))


def test_unknown_stage_names_the_stages(call, script):
    error = error_of(call("run_stage", script=str(script), stage="voodoo"))
    assert "voodoo" in error
    assert "kernel_names" in error


def test_wrong_arguments_are_said_with_the_right_ones(call):
    error = error_of(call("wait_run", run="r-1", wait_s=1000))
    assert "wait_s" in error
    assert "240" in error
    assert "This tool takes: run, wait_s" in error


@pytest.mark.parametrize("tool", ["wait_run", "cancel_run"])
def test_unknown_run_is_said(call, tool):
    assert "aoti-debug runs" in error_of(call(tool, run="r-20200101-0000-zzzz"))


@pytest.mark.parametrize("run", ["r-20200101-0000-zzzz", "../../etc", ""])
def test_artifact_of_an_unknown_run_is_refused(call, run):
    assert "no run" in error_of(call("read_artifact", run=run, name="run.json"))


def test_stage_runs_a_script_and_keeps_what_it_left(talk, script):
    async def work(client: Client) -> None:
        answer = answer_of(await client.call_tool("run_stage", {"script": str(script)}))
        assert (answer["status"], answer["stage"], answer["exit"]) == ("done", "baseline", "exit 0")
        page = answer_of(
            await client.call_tool("read_artifact", {"run": answer["run"], "name": "stdout.log"})
        )
        assert page["text"] == "hello from the target"
        resource = await client.read_resource(f"run://{answer['run']}/stdout.log")
        assert resource.contents[0].text == "hello from the target"
        with pytest.raises(MCPError):
            await client.read_resource(f"run://{answer['run']}/..%2F..%2Fsecret")

    talk(work)


def test_command_is_run_with_its_environment(call, tmp_path):
    command = ["/bin/sh", "-c", 'test "$COLOUR" = blue']
    answer = answer_of(
        call("run_stage", command=command, env={"COLOUR": "blue"}, cwd=str(tmp_path))
    )
    assert answer["exit"] == "exit 0"


def test_triage_of_a_script_without_a_model_says_so(call, script):
    answer = answer_of(call("triage", script=str(script)))
    assert answer["status"] == "done"
    assert answer["diagnosis"]["category"] == "user_code"
    assert answer["steps"][0]["status"] == "done"


def test_run_goes_on_after_wait_s(talk, endless):
    async def work(client: Client) -> None:
        arguments = {"script": str(endless), "wait_s": 0}
        started = answer_of(await client.call_tool("run_stage", arguments))
        assert started["status"] == "running"
        waited = answer_of(await client.call_tool("wait_run", {"run": started["run"], "wait_s": 0}))
        assert waited["status"] == "running"
        ended = answer_of(await client.call_tool("cancel_run", {"run": started["run"]}))
        assert ended["status"] == "cancelled"
        again = answer_of(await client.call_tool("wait_run", {"run": started["run"]}))
        assert again["status"] == "cancelled"

    talk(work)


def test_progress_is_reported_and_cancelling_the_call_ends_the_run(talk, endless):
    async def work(client: Client) -> None:
        async with anyio.create_task_group() as group:

            async def cancel(done: float, total: float | None, text: str | None) -> None:
                group.cancel_scope.cancel()

            arguments = {"script": str(endless)}
            await client.call_tool("run_stage", arguments, progress_callback=cancel)
        (run,) = api.runs().runs
        ended = answer_of(await client.call_tool("wait_run", {"run": run.run}))
        assert ended["status"] == "cancelled"
        assert processes_with(endless) == []

    talk(work)


def test_long_lines_of_quotes_still_fit(talk, tmp_path):
    loud = tmp_path / "loud.py"
    loud.write_text("for _ in range(400): print('\"\\\\' * 400)\n")

    async def work(client: Client) -> None:
        answer = answer_of(await client.call_tool("run_stage", {"script": str(loud)}))
        offset, lines = 0, 0
        while True:
            page = answer_of(
                await client.call_tool(
                    "read_artifact",
                    {"run": answer["run"], "name": "stdout.log", "offset": offset},
                )
            )
            lines += len(page["text"].split("\n"))
            if "next_offset" not in page:
                break
            offset = page["next_offset"]
        assert lines == page["total"] == 400

    talk(work)


def test_environment_is_checked(call):
    answer = answer_of(call("check_environment", python=sys.executable))
    assert answer["python"] == sys.executable


def test_interpreter_that_is_none_is_a_problem(call, tmp_path):
    answer = answer_of(call("check_environment", python=str(tmp_path / "python")))
    assert answer["problems"][0]["severity"] == "breaks"
    assert "interpreter" in answer["problems"][0]["what"]


def test_answers_leave_room_below_the_limit():
    assert LIMIT < 8000


def processes_with(word: Path) -> list[list[str]]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            found.append(process.cmdline())
    return [words for words in found if str(word) in words]
