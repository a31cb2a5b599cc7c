from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Callable

import pytest
from guides.documents import GUIDES, SKILL, Block, blocks
from guides.selection import runnable

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
    known = {("python",), ("python", "gpu"), ("python", "compile"), ("bash",), ("text",)}
    assert languages <= known


def test_few_blocks_compile() -> None:
    assert len([b for b in ALL if "compile" in b.words]) <= 2
