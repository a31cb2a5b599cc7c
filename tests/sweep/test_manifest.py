"""What a manifest cannot mean is told, all of it, before anything starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.sweep.manifest import WrongManifest, read_manifest
from aoti_debug.sweep.plan import Plan, Planned
from aoti_debug.sweep.request import sweep_request


def written(tmp_path: Path, text: str) -> Path:
    for name in ("one.py", "two.py", "a.pt2", "a.inputs.pt"):
        (tmp_path / name).touch()
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    return path


def planned(tmp_path: Path, text: str) -> list[Planned]:
    return list(Plan(read_manifest(written(tmp_path, text))).targets())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[target]]\nscirpt = 'a.py'", r"target\[1\]\.scirpt: unknown key \(is script meant\?\)"),
        ("nmae = 'x'\n[[target]]\nscript='one.py'", r"nmae: unknown key \(is name meant\?\)"),
        ("root = '/'\n[[target]]\nscript='one.py'", "root: unknown key"),
        ("[[target]]\nscript = 'one.py'\ntimeout_s = 'long'", r"timeout_s: .*number.*'long'"),
        ("[[target]]\nscript = 'one.py'\nmemory = 'much'", "give a size such as 800MiB"),
        ("[[target]]\nscript = 'one.py'\ngpus = true", "gpus: .*valid integer"),
        ("[[target]]\nargs = ['x']", "needs exactly one of script, test, package, command"),
        ("[[target]]\nscript = 'one.py'\npackage = 'a.pt2'", "script and package"),
        ("[[target]]\npackage = 'a.pt2'", "package and inputs go together"),
        ("[[target]]\nscript = 'one.py'\nargs = ['{size}']", r"\{size\} is no axis"),
        ("[[target]]\nscript = 'one.py'\nargs = ['{size']", "Write {{ and }} for braces"),
        (
            "[matrix]\nn = [1]\n[[target]]\nscript = 'one.py'\nargs = ['{n:>99999999999}']",
            r"\{n:>99999999999\} is no axis",
        ),
        ("[matrix]\nn = [1]\n[[target]]\nscript = 'one.py'\nargs = ['{n!z}']", r"\{n!z\} is no"),
        ("[[target]]\nscript = 'one.py'\nargs = ['{}']", r"\{\} is no axis"),
        ("[defaults]\nenv = {A = '{b}'}\n[[target]]\nscript = 'one.py'", r"\{b\} is no axis"),
        (".".join("a" * 400_000) + " = 1", "a key of more than 100 parts"),
        ("[matrix]\nsize = [1]\n[[target]]\nscript = 'one.py'", r"matrix\.size: no target uses it"),
        ("[matrix]\nsize = [1, 1]\n[[target]]\nscript = 'one.py'\nargs = ['{size}']", "the same"),
        ("[matrix]\nA = ['x=1']\n[[target]]\nscript = 'one.py'", "name it, as in A = "),
        ("[[target]]\nscript = 'one.py'\n[[target]]\nscript = 'one.py'", "two targets .* 'one'"),
        ("name = 'empty'", "there is no target"),
        ("[[target]\n", "is no TOML"),
        ("a = " + "[" * 5000, "is no TOML"),
    ],
)
def test_a_wrong_manifest_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(WrongManifest, match=said):
        read_manifest(written(tmp_path, text))


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = "[[target]]\nscript = 'one.py'\ntimout_s = 3\n[[target]]\nscript = 4\n"
    with pytest.raises(WrongManifest, match=r"timout_s.*target\[2\]\.script"):
        read_manifest(written(tmp_path, text))


def test_a_matrix_of_a_billion_targets_is_refused_without_making_them(tmp_path: Path) -> None:
    values = list(range(1000))
    axes = "".join(f"{name} = {values}\n" for name in "abc")
    text = f"[matrix]\n{axes}[[target]]\nscript = 'one.py'\nargs = ['{{a}} {{b}} {{c}}']\n"
    with pytest.raises(WrongManifest, match="makes 1,000,000,000 targets"):
        sweep_request(written(tmp_path, text))


def test_missing_files_and_interpreters_are_told_together(tmp_path: Path) -> None:
    text = """
    [[target]]
    script = "none.py"
    [[target]]
    name = "other"
    script = "one.py"
    python = "/no/such/python"
    [[target]]
    test = "test_none.py::test_it"
    """
    with pytest.raises(WrongManifest) as told:
        sweep_request(written(tmp_path, text))
    for words in ("no " + str(tmp_path / "none.py"), "/no/such/python", "test_none.py"):
        assert words in str(told.value)


def test_an_interpreter_without_torch_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    python = bare / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    python.chmod(0o755)
    text = f"[defaults]\npython = '{python}'\n[[target]]\nscript = 'one.py'\n"
    with pytest.raises(WrongManifest, match="bare/python has no torch"):
        sweep_request(written(tmp_path, text))


def test_an_interpreter_without_pytest_is_refused_for_tests(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").touch()
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pytest'] = None\n")
    text = f"""
    [[target]]
    script = "one.py"
    [[target]]
    test = "test_it.py"
    env = {{PYTHONPATH = "{tmp_path}"}}
    """
    with pytest.raises(WrongManifest, match=r"/python.* has no pytest"):
        sweep_request(written(tmp_path, text))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"on": "slurm"}, "cannot run on 'slurm'"),
        ({"fail_on": "some"}, "Use new, any or proved"),
        ({"baseline": "r-20990101-0000-none"}, "there is no sweep"),
        ({"resume": "/no/such/place"}, "there is no sweep"),
    ],
)
def test_wrong_words_are_told_before_anything_starts(
    tmp_path: Path, words: dict[str, str], said: str
) -> None:
    manifest = written(tmp_path, "[[target]]\nscript = 'one.py'\n")
    with pytest.raises(WrongUse, match=said):
        sweep_request(manifest, **words)  # type: ignore[arg-type]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sweep.toml")
    with pytest.raises(WrongManifest, match=r"sweep\.toml: not a regular file"):
        read_manifest(tmp_path / "sweep.toml")
    file = tmp_path / "one.toml"
    file.write_text("[[target]]\ncommand = ['true']\n")
    (tmp_path / "link.toml").symlink_to(file)
    assert read_manifest(tmp_path / "link.toml").target


def test_files_of_a_folder_may_have_any_name_of_text(tmp_path: Path) -> None:
    for name in ("a{b}.py", "-c.py", "$(touch x).py", "a\nb.py"):
        (tmp_path / name).touch()
    found = {Path(str(one.script)).name for one in Plan(read_manifest(tmp_path)).targets()}
    assert found == {"a{b}.py", "-c.py", "$(touch x).py", "a\nb.py"}
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py")).touch()
    with pytest.raises(WrongManifest, match=r"xff.* is not UTF-8: rename it"):
        read_manifest(tmp_path)


def test_an_axis_in_what_all_targets_are_given_multiplies_them(tmp_path: Path) -> None:
    text = """
    [defaults]
    env = {MODE = "{mode}"}
    [matrix]
    mode = ["a", "b"]
    [[target]]
    script = "one.py"
    """
    assert [dict(one.env)["MODE"] for one in planned(tmp_path, text)] == ["a", "b"]


def test_a_target_is_multiplied_by_the_axes_that_it_uses(tmp_path: Path) -> None:
    text = """
    [defaults]
    env = {SEED = "1"}
    [matrix]
    dtype = ["float32", "bfloat16"]
    batch = [1, 8]
    AOTI_FLAG = ["0", "1"]
    [[target]]
    script = "one.py"
    args = ["--dtype", "{dtype}", "{{kept}}"]
    [[target]]
    command = ["sh", "-c", "true"]
    args = ["{batch}"]
    """
    found = planned(tmp_path, text)
    assert [one.name for one in found] == [
        f"one[dtype={dtype},AOTI_FLAG={flag}]" for dtype in ("float32", "bfloat16") for flag in "01"
    ] + [f"sh -c true[batch={batch},AOTI_FLAG={flag}]" for batch in "18" for flag in "01"]
    assert [one.index for one in found] == list(range(8))
    assert found[3].args == ("--dtype", "bfloat16", "{kept}")
    assert dict(found[3].env) == {"SEED": "1", "AOTI_FLAG": "1"}
    assert found[0].cwd == str(tmp_path)


def test_interpreters_have_labels_in_the_names(tmp_path: Path) -> None:
    text = """
    [matrix]
    python = {"torch 2.11" = "/opt/a/bin/python", "torch 2.13" = "/opt/b/bin/python"}
    [[target]]
    script = "one.py"
    [[target]]
    script = "two.py"
    python = "/opt/own/bin/python"
    """
    found = [(one.name, one.python) for one in planned(tmp_path, text)]
    assert found == [
        ("one[python=torch 2.11]", "/opt/a/bin/python"),
        ("one[python=torch 2.13]", "/opt/b/bin/python"),
        ("two", "/opt/own/bin/python"),
    ]


def test_a_folder_is_a_manifest(tmp_path: Path) -> None:
    written(tmp_path, "")
    for name in ("_part.py", "conftest.py", "test_it.py", "b.pt2", ".git/hook.py", "sub/run.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = {one.name: one for one in Plan(read_manifest(tmp_path)).targets()}
    assert set(found) == {"one", "two", "test_it", "a.pt2", "sub/run"}
    assert found["test_it"].module == "pytest"
    assert "--package" in found["a.pt2"].args
