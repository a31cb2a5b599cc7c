"""inspect on the command line: the contract as a table, check_inputs in a file; packages that do
not load and constants that do not fit: the reason, not the envelope."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import anyio
import pytest
from aoti_debug import api
from aoti_debug.commands.app import run
from aoti_debug.tools.fit import answer as tool_answer
from programs import CALL, Job, triage_all
from recordings import RECORDED, change, drop, members, unpack, write

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
def said(check, given):
    try:
        check(*(given if isinstance(given, tuple) else (given,)))
    except ValueError as error:
        return str(error)
found = {}
for name, inputs in calls.items():
    check = runpy.run_path(f"{sys.argv[1]}/{name}.py")["check_inputs"]
    found[name] = [said(check, given) for given in inputs]
print(json.dumps(found))
"""
SAID = {
    "dynamic": [None, None, "size at dim 0 is 65", "stride at dim"],
    "static": [None, "float64", "stride at dim", "rank is 1"],
    "pair": [None, "8", "1 tensors"],
    "int_argument": [None, "size at dim 1 is 9"],
}


@pytest.fixture
def said(capfd, monkeypatch):
    """Run the command; return its exit status and what it printed."""
    monkeypatch.setenv("COLUMNS", "120")

    def call(*words):
        status = run(["inspect", *map(str, words)])
        out, err = capfd.readouterr()
        return status, out, err

    return call


@pytest.fixture
def library(built, tmp_path) -> Path:
    """Return the library of a package that lies there as a directory."""
    with zipfile.ZipFile(built.directory / "static.pt2") as archive:
        archive.extractall(tmp_path)
    return next(tmp_path.rglob("*.wrapper.so"))


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
    assert (status, json.loads(out)["loads_here"]) == (0, "unknown")


def test_the_written_functions_pass_good_calls_and_refuse_bad_ones(
    said, built, warm_python, tmp_path
):
    for name in SAID:
        path = tmp_path / f"{name}.py"
        status, _, err = said(built.directory / f"{name}.pt2", "--check-inputs", path)
        assert status == 0
        assert f"written: {path}" in err
    argv = [warm_python, "-W", "ignore", "-c", TRY, str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for name, found in json.loads(done.stdout).items():
        for text, words in zip(found, SAID[name], strict=True):
            assert text == words if words is None else words in text, (name, text)


def test_the_tool_returns_the_function_within_its_limit(built):
    package = str(built.directory / "embedding.pt2")
    answer = anyio.run(lambda: api.inspect(package, check_inputs=True))
    assert "def check_inputs(" in Path(str(answer.check_inputs)).read_text()
    assert len(json.dumps(tool_answer(answer).structured_content)) < 8_000


def test_a_directory_and_a_bare_library_are_read(said, library):
    status, out, _ = said(library.parent, "--json")
    answer = json.loads(out)
    assert (status, answer["format"]) == (0, "directory")
    assert answer["models"][0]["inputs"][0]["text"].startswith("float32[4, 8] on cpu")
    status, out, _ = said(library, "--json")
    assert (status, json.loads(out)["format"]) == (0, "bare shared library")


def test_a_function_cannot_be_written_where_nothing_is_stated(said, library, tmp_path):
    status, _, err = said(library, "--check-inputs", tmp_path / "check.py")
    assert status == 2
    assert "does not say what its inputs must be" in err


def test_a_path_that_is_not_there_is_a_clear_error(said, tmp_path):
    status, out, err = said(tmp_path / "no.pt2")
    assert (status, out) == (2, "")
    assert f"there is no package {tmp_path / 'no.pt2'}" in err


COMPILE = CALL.with_name("compile.py")
SYMBOL = b"\0aoti_torch_delete_tensor_object\0"
OTHER_SYMBOL = b"\0aoti_torch_delete_tensor_objecX\0"

CORRUPT = ("package_corrupt", "load")
# package → category, phase, words of the summary
BROKEN = {
    "truncated": (*CORRUPT, "truncated"),
    "empty": (*CORRUPT, "empty"),
    "page": (*CORRUPT, "no package"),
    "without_library": (*CORRUPT, "has no library"),
    "exported": (*CORRUPT, "exported program (torch.export.save)"),
    "symbol": ("missing_symbol", "load", "aoti_torch_delete_tensor_objecX"),
    "embedding": ("device_unavailable", "environment", "CUDA"),
    "custom": ("custom_op_missing", "load", "demo::twice is not registered"),
    "other_name": ("package_incompatible", "load", "it has: first"),
    "off_library": ("constants_missing", "run", "2 of the model's 2 constants were not loaded"),
    "static": ("toolchain", "load", "its own copy of libstdc++"),
}
# what is given to load_constants → words of the summary
CONSTANTS = {
    "shape": "fc.weight was loaded with shape [8, 16], the package holds it as [16, 16]",
    "dtype": "fc.bias was loaded as float64, the package holds it as float32",
    "prefix": "module.fc.weight is not among the package's 2 constants (fc.weight, fc.bias)",
    "view": "fc.weight was loaded as a view of a storage of 32000000 bytes, and the package",
    "inlined": "scale is not among the package's 2 constants (fc.weight, fc.bias): it has at most",
}


@pytest.fixture(scope="module")
def broken(built, exported, tmp_path_factory):
    """Write the broken packages into one folder."""
    folder = tmp_path_factory.mktemp("broken")
    whole = built.directory / "static.pt2"
    entries = members(whole)
    (folder / "truncated.pt2").write_bytes(whole.read_bytes()[:500_000])
    (folder / "empty.pt2").write_bytes(b"")
    (folder / "page.pt2").write_text("<html>404</html>")
    shutil.copy(exported["static"], folder / "exported.pt2")
    write(folder / "without_library.pt2", drop(entries, ".so"))
    renamed = change(entries, ".so", lambda data: data.replace(SYMBOL, OTHER_SYMBOL))
    write(folder / "symbol.pt2", renamed)
    for name in ("cpu.tar.xz", "h200.tar.xz"):
        unpack(RECORDED / name, folder / "recorded")
    other = [(name.replace("/aotinductor/model/", "/aotinductor/first/"), d) for name, d in entries]
    write(folder / "other_name.pt2", other)
    shutil.move(folder / "recorded" / "torch-2.11" / "embedding.pt2", folder)
    recorded = folder / "recorded" / "torch-2.13" / "custom.pt2"
    write(folder / "custom.pt2", [*entries, operators_of(recorded, entries)])
    return folder


def operators_of(other, entries):
    """Return the list of operators of another package, named as these entries need it."""
    library = next(name for name, _ in entries if name.endswith(".wrapper.so"))
    theirs = {name.rpartition("/")[2]: data for name, data in members(other)}
    stem = next(name for name in theirs if name.endswith(".wrapper.so")).removesuffix(".so")
    return f"{library.removesuffix('.so')}.json", theirs[f"{stem}.json"]


@pytest.fixture(scope="module")
def compiler_with_static_library(tmp_path_factory) -> Path:
    """Write a g++ that links libstdc++ statically, as a private toolchain may."""
    path = tmp_path_factory.mktemp("toolchain") / "g++-static"
    path.write_text(
        '#!/bin/sh\ncase " $* " in *" -shared "*) set -- "$@" -static-libstdc++ ;; esac\n'
        'exec g++ "$@"\n'
    )
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def loaded(built, broken, compiler_with_static_library, tmp_path_factory, warm_python):
    """Triages of scripts that load, replace constants, or compile first."""
    dynamic = str(built.directory / "dynamic.pt2")
    jobs: dict[str, Job] = {name: (CALL, (str(broken / f"{name}.pt2"),), {}) for name in BROKEN}
    jobs |= {name: (CALL, (dynamic, name), {}) for name in (*CONSTANTS, "right")}
    own_cache = {
        "CXX": str(compiler_with_static_library),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
    }
    jobs["static"] = (COMPILE, (str(broken / "static.pt2"), "dynamic"), own_cache)
    jobs["off_library"] = (COMPILE, (str(broken / "off_library.pt2"), "without_constants"), {})
    return triage_all(jobs, tmp_path_factory.mktemp("loads"), warm_python)


@pytest.mark.parametrize("name", BROKEN)
def test_a_package_that_does_not_load_is_told_with_its_reason(loaded, name):
    best = loaded[name].best
    category, phase, words = BROKEN[name]
    assert (best.category, best.phase) == (category, phase)
    assert words in best.summary
    assert "outdated" not in best.summary
    assert loaded[name].answer.steps[0].exit != "exit 0"
    assert best.fixes


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_that_do_not_fit_are_proved(loaded, name):
    best = loaded[name].best
    assert (best.category, best.confidence) == ("constants_mismatch", "proved")
    assert CONSTANTS[name] in best.summary
    assert best.guide == "guides/constants.md"


def test_constants_that_fit_are_no_fault(loaded):
    assert loaded["right"].best.category == "no_fault"
