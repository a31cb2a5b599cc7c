"""How the tools refuse what they cannot use, and what an agent reads when one fails: what is wrong
and what to do instead, never a bare name, never a traceback."""

from __future__ import annotations

import os
from typing import Annotated, Any

import anyio
import pytest
from aoti_debug.answers import RunsAnswer
from aoti_debug.errors import WrongUse
from aoti_debug.tools.fit import answer
from aoti_debug.tools.tool import tool
from mcp import Client
from mcp.server import MCPServer
from mcp_types import CallToolResult
from server.conftest import error_of


@pytest.mark.parametrize("arguments", [{}, {"text": "x", "path": "/x"}])
def test_diagnose_log_wants_text_or_path(call, arguments):
    assert "either text or path" in error_of(call("diagnose_log", **arguments))


def test_missing_log_is_said(call, tmp_path):
    assert "no.log" in error_of(call("diagnose_log", path=str(tmp_path / "no.log")))


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


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("diagnose_log", {"path": "run.log"}),
        ("inspect_package", {"package": "model.pt2"}),
        ("triage", {"script": "infer.py"}),
        ("run_stage", {"script": "/x.py", "cwd": "here"}),
        ("run_stage", {"script": "/x.py", "python": "venv/bin/python"}),
        ("run_stage", {"command": ["./a.out"]}),
        ("inspect_package", {"package": "/model.pt2", "python": "venv/bin/python"}),
        ("check_environment", {"python": "venv/bin/python"}),
    ],
)
def test_relative_paths_are_refused(call, tool, arguments):
    assert "absolute path" in error_of(call(tool, **arguments))


def test_missing_package_is_said(call, tmp_path):
    assert "no.pt2" in error_of(call("inspect_package", package=str(tmp_path / "no.pt2")))


@pytest.mark.parametrize("arguments", [{}, {"script": "/x.py", "module": "pytest"}])
def test_exactly_one_target_is_wanted(call, arguments):
    assert "exactly one of" in error_of(call("triage", **arguments))


def test_module_needs_a_directory(call):
    assert "cwd" in error_of(call("triage", module="pytest"))


def test_missing_script_is_said(call, tmp_path):
    assert "no.py" in error_of(call("triage", script=str(tmp_path / "no.py")))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"command": ["/nope/x"]}, "there is no program /nope/x"),
        ({"script": "/nope/x.py"}, "there is no script /nope/x.py"),
    ],
)
def test_missing_directory_of_a_target_is_not_what_is_said(call, arguments, said):
    assert error_of(call("run_stage", **arguments)).startswith(said)


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ({"env": {"A=B": "1"}}, "holds no `=`"),
        ({"args": ["a\0b"]}, "in a file"),
    ],
)
def test_what_no_program_can_be_given_is_said_with_advice(call, arguments, advice):
    assert advice in error_of(call("run_stage", command=["sh"], **arguments))


def test_unknown_stage_names_the_stages(call, script):
    error = error_of(call("run_stage", script=str(script), stage="voodoo"))
    assert "voodoo" in error
    assert "kernel_names" in error


def test_wrong_arguments_are_said_with_the_right_ones(call):
    error = error_of(call("wait_run", run="r-1", wait_s=1000))
    assert "wait_s" in error
    assert "240" in error
    assert "This tool takes: run, wait_s" in error


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("triage", {"scrpt": "/x.py"}, "unknown argument `scrpt`. This tool takes: script, "),
        ("diagnose_log", {"text": "x", "bogus": 1}, "unknown argument `bogus`. "),
        ("wait_run", {"timeout": 60, "ru": ""}, "unknown arguments `timeout`, `ru`. "),
    ],
)
def test_unknown_arguments_are_named_with_the_known_ones(call, tool, arguments, said):
    assert error_of(call(tool, **arguments)).startswith(said)


def test_a_text_for_a_list_is_told_to_be_a_list(call):
    assert "`args`: Input should be a valid list" in error_of(call("triage", args="-x"))


@pytest.mark.parametrize("tool", ["wait_run", "cancel_run"])
def test_unknown_run_is_said(call, tool):
    said = error_of(call(tool, run="r-20200101-0000-zzzz"))
    assert said == (
        "there is no run 'r-20200101-0000-zzzz'. Use the id that triage or run_stage answered."
    )


@pytest.mark.parametrize("run", ["r-20200101-0000-zzzz", "../../etc", ""])
def test_artifact_of_an_unknown_run_is_refused(call, run):
    assert "no run" in error_of(call("read_artifact", run=run, name="run.json"))


def test_package_held_against_an_interpreter_that_is_none(call, tmp_path):
    (tmp_path / "model.pt2").write_bytes(b"")
    said = error_of(
        call("inspect_package", package=str(tmp_path / "model.pt2"), python=str(tmp_path / "none"))
    )
    assert "no executable interpreter" in said


async def demo(kind: str) -> Annotated[CallToolResult, RunsAnswer]:
    """Fail in some way."""
    if kind == "ours":
        raise WrongUse("it is upside down", help="Turn it round.")
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


def test_our_error_says_what_to_do():
    result = ask("ours")
    assert result.is_error
    assert result.content[0].text == "it is upside down. Turn it round."


def test_crash_says_its_kind_and_where_the_log_is(caplog: pytest.LogCaptureFixture):
    text = ask("crash").content[0].text
    assert text.startswith("ZeroDivisionError: secret ")
    assert len(text) < 600
    assert "log" in text
    assert "ZeroDivisionError" in caplog.text


def test_wrong_type_names_the_argument():
    text = ask(["a", "list"]).content[0].text
    assert text.startswith("wrong arguments: `kind`: ")
    assert "http" not in text


def test_empty_answer_is_an_empty_object():
    assert ask("fine").structured_content == {}
