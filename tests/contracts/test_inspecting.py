"""inspect on the command line: the contract as a table, check_inputs in a file, will it load."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import anyio
import pytest
from aoti_debug import api
from aoti_debug.commands.app import run

# Run each written function on good and bad inputs, in one process.
TRY = """
import json, runpy, sys, torch
calls = {
    "dynamic": [torch.randn(5, 16), torch.randn(1, 16), torch.randn(65, 16),
                torch.randn(16, 5).t()],
    "static": [torch.randn(4, 8), torch.randn(4, 8).double(), torch.randn(8, 4).t(),
               torch.randn(4)],
    "pair": [(torch.randn(9, 4), torch.randn(9, 4)), (torch.randn(9, 4), torch.randn(8, 4)),
             (torch.randn(9, 4),)],
    "int_argument": [(torch.randn(4, 8), 3), (torch.randn(4, 9), 3)],
}
said = {}
for name, inputs in calls.items():
    check = runpy.run_path(f"{sys.argv[1]}/{name}.py")["check_inputs"]
    said[name] = []
    for given in inputs:
        try:
            check(*(given if isinstance(given, tuple) else (given,)))
        except ValueError as error:
            said[name].append(str(error))
        else:
            said[name].append(None)
print(json.dumps(said))
"""
SAID = {
    "dynamic": [None, None, "size at dim 0 is 65", "stride at dim"],
    "static": [None, "float64", "stride at dim", "rank is 1"],
    "pair": [None, "8", "1 tensors"],
    "int_argument": [None, "size at dim 1 is 9"],
}


@pytest.fixture
def said(capfd, python, monkeypatch):
    """Run the command; return its exit status and what it printed."""
    monkeypatch.setenv("COLUMNS", "120")

    def call(*words):
        status = run(["inspect", *map(str, words)])
        out, err = capfd.readouterr()
        return status, out, err

    return call


def test_a_package_is_judged_by_the_users_torch(said, built, python):
    status, out, _ = said(built.directory / "pair.pt2", "--python", python)
    assert status == 0
    assert "pair.pt2 will load here" in out
    rows = [line.split("│")[1].split() for line in out.splitlines() if "│" in line]
    assert rows[0] == ["#", "name", "dtype", "sizes", "strides", "device"]
    assert rows[2][:3] == ["1", "arg1_1", "float32"]


def test_without_an_interpreter_nothing_is_promised(said, built, tmp_path, monkeypatch):
    monkeypatch.setenv("AOTI_DEBUG_PYTHON", str(tmp_path / "none"))
    status, out, _ = said(built.directory / "pair.pt2", "--json")
    assert status == 0
    assert json.loads(out)["loads_here"] == "unknown"


def test_the_written_functions_pass_good_calls_and_refuse_bad_ones(said, built, python, tmp_path):
    for name in SAID:
        path = tmp_path / f"{name}.py"
        status, _, err = said(built.directory / f"{name}.pt2", "--check-inputs", path)
        assert status == 0
        assert f"written: {path}" in err
    done = subprocess.run(
        [python, "-W", "ignore", "-c", TRY, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for name, found in json.loads(done.stdout).items():
        for text, words in zip(found, SAID[name], strict=True):
            assert text == words if words is None else words in text, (name, text)


def test_the_tool_returns_the_function_within_its_limit(built):
    package = str(built.directory / "embedding.pt2")
    answer = anyio.run(lambda: api.inspect(package, check_inputs=True))
    assert "def check_inputs(" in Path(answer.check_inputs).read_text()
    assert len(json.dumps(answer.document())) < 8_000


def test_a_directory_and_a_bare_library_are_read(said, built, tmp_path):
    with zipfile.ZipFile(built.directory / "static.pt2") as archive:
        archive.extractall(tmp_path)
    library = next(tmp_path.rglob("*.wrapper.so"))
    status, out, _ = said(library.parent, "--json")
    assert status == 0
    answer = json.loads(out)
    assert answer["format"] == "directory"
    assert answer["models"][0]["inputs"][0]["text"].startswith("float32[4, 8] on cpu")
    status, out, _ = said(library, "--json")
    assert json.loads(out)["format"] == "bare shared library"
    assert status == 0


def test_a_function_cannot_be_written_where_nothing_is_stated(said, built, tmp_path):
    with zipfile.ZipFile(built.directory / "static.pt2") as archive:
        archive.extractall(tmp_path)
    library = next(tmp_path.rglob("*.wrapper.so"))
    status, _, err = said(library, "--check-inputs", tmp_path / "check.py")
    assert status == 2
    assert "does not say what its inputs must be" in err


def test_a_path_that_is_not_there_is_a_clear_error(said, tmp_path):
    status, out, err = said(tmp_path / "no.pt2")
    assert (status, out) == (2, "")
    assert f"there is no package {tmp_path / 'no.pt2'}" in err
