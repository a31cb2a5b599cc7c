"""Tools are found where people and wheels put them."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_debug.run.machine import ask, find_tool, version


@pytest.fixture
def tool(tmp_path):
    def write(path: str, output: str = "") -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\n")
        file.chmod(0o755)
        return file

    return write


def test_path_comes_before_the_toolkit_and_that_before_wheels(tool, tmp_path):
    python = tool("venv/bin/python")
    wheel = tool(
        "venv/lib/python3.11/site-packages/nvidia/cu13/compute-sanitizer/compute-sanitizer"
    )
    tool("venv/lib/python3.11/site-packages/nvidia/cu13/bin/compute-sanitizer")
    env = {"PATH": str(tmp_path / "empty")}
    assert find_tool("compute-sanitizer", env, python) == wheel
    env["CUDA_HOME"] = str(tmp_path / "cuda")
    toolkit = tool("cuda/bin/compute-sanitizer")
    assert find_tool("compute-sanitizer", env, python) == toolkit
    env["PATH"] = str(tmp_path / "bin")
    on_path = tool("bin/compute-sanitizer")
    assert find_tool("compute-sanitizer", env, python) == on_path


def test_tool_beside_the_interpreter_is_found(tool, tmp_path):
    beside = tool("venv/bin/py-spy")
    assert find_tool("py-spy", {"PATH": str(tmp_path)}, tmp_path / "venv/bin/python") == beside


def test_missing_tool_is_none(tmp_path):
    assert find_tool("py-spy", {"PATH": str(tmp_path)}) is None


@pytest.mark.parametrize(
    ("output", "number"),
    [
        ("g++ (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022", "12.2.0"),
        ("GNU gdb (Debian 13.1-3) 13.1\nCopyright (C) 2023", "13.1"),
        ("nvdisasm: NVIDIA (R) CUDA disassembler\nCuda compilation tools, release 13.0, V13.0.48",
         "13.0.48"),
        ("py-spy 0.4.1", "0.4.1"),
        ("no number", None),
    ],
)  # fmt: skip
def test_version_is_the_one_that_the_tool_tells(tool, output, number):
    assert version(tool("some-tool", output)) == number


def test_question_without_an_answer_ends(tmp_path):
    assert ask(["sleep", "1000"], timeout_s=0.1) is None
    assert ask([str(tmp_path / "gone")]) is None
