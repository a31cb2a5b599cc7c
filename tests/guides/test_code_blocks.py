from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from guides.documents import GUIDES, SKILL, Block, blocks
from guides.selection import runnable
from interpreter import torch_python

ALL = [block for path in (SKILL, *GUIDES) for block in blocks(path)]
PYTHON = [b for b in ALL if b.language == "python"]
BASH = [b for b in ALL if b.language == "bash"]


@pytest.mark.parametrize("block", [b for b in PYTHON if runnable(b)], ids=lambda b: b.name)
def test_a_python_block_runs_as_it_stands(block: Block, outcome: Callable[[str], str]) -> None:
    assert outcome(block.name) == ""


@pytest.mark.parametrize("block", PYTHON, ids=lambda b: b.name)
def test_a_python_block_is_python(block: Block) -> None:
    ast.parse(block.source)
    assert all(len(line) <= 120 for line in block.source.splitlines())


@pytest.mark.parametrize("block", BASH, ids=lambda b: b.name)
def test_a_shell_block_is_shell(block: Block) -> None:
    bash = shutil.which("bash")
    assert bash
    checked = subprocess.run([bash, "-n"], input=block.source, text=True, capture_output=True)
    assert checked.stderr == ""


def test_every_block_says_what_it_is() -> None:
    languages = {(b.language, *(w for w in b.words if not w.startswith("since="))) for b in ALL}
    known = {("python",), ("python", "gpu"), ("python", "compile"), ("bash",), ("text",), ("cpp",)}
    assert languages <= known


def test_few_blocks_compile() -> None:
    assert len([b for b in ALL if "compile" in b.words]) <= 2


def test_the_c_plus_plus_host_compiles(tmp_path: Path) -> None:
    [block] = [b for b in ALL if b.language == "cpp"]
    (tmp_path / "host.cpp").write_text(block.source, "utf-8")
    asked = "from torch.utils.cpp_extension import include_paths as p; print(*p(), sep='\\n')"
    found = subprocess.run([torch_python(), "-c", asked], capture_output=True, text=True)
    includes = [f"-I{path}" for path in found.stdout.split()]
    argv = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", *includes, "host.cpp"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
