"""What a manifest cannot mean is told, all of it, before anything starts; what makes two
failures one bucket, what a cluster is asked for, which version is tried next."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.run.executor import Demand
from aoti_debug.sweep.answer import SweepAnswer
from aoti_debug.sweep.bisect import Candidate, CannotBisect, candidates, releases, search
from aoti_debug.sweep.buckets import Groups, compare
from aoti_debug.sweep.files import junit
from aoti_debug.sweep.manifest import WrongManifest, read_manifest
from aoti_debug.sweep.plan import Plan, Planned
from aoti_debug.sweep.request import sweep_request
from aoti_debug.sweep.row import LINES, TEXT, Head, Ledger, Row, UnreadableSweep, rows_of
from aoti_debug.sweep.workers import NoCluster, cluster_of, place_of, reach
from aoti_debug.vocabulary import Place

ONE = "[[target]]\nscript = 'one.py'\n"
AXIS = "[matrix]\nn = [1]\n"
HEAD = Head(sweep="r", name="n", plan="p", targets=2, began=0.0)


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
        (f"nmae = 'x'\n{ONE}", r"nmae: unknown key \(is name meant\?\)"),
        (f"root = '/'\n{ONE}", "root: unknown key"),
        (f"{ONE}timeout_s = 'long'", r"timeout_s: .*number.*'long'"),
        (f"{ONE}memory = 'much'", "give a size such as 800MiB"),
        (f"{ONE}gpus = true", "gpus: .*valid integer"),
        ("[[target]]\nargs = ['x']", "needs exactly one of script, test, package, command"),
        (f"{ONE}package = 'a.pt2'", "script and package"),
        ("[[target]]\npackage = 'a.pt2'", "package and inputs go together"),
        (f"{ONE}args = ['{{size}}']", r"\{size\} is no axis"),
        (f"{ONE}args = ['{{size']", "Write {{ and }} for braces"),
        (f"{ONE}args = ['{{}}']", r"\{\} is no axis"),
        (f"[defaults]\nenv = {{A = '{{b}}'}}\n{ONE}", r"\{b\} is no axis"),
        (".".join("a" * 400_000) + " = 1", "a key of more than 100 parts"),
        ("a = 1\n" + ("a" * 99 + "." + "a ") * 9_000, "a key of more than 100 parts"),
        (" . ".join(['"="'] * 2_000) + " = 1", "a key of more than 100 parts"),
        (f"{AXIS}{ONE}", r"matrix\.n: no target uses it"),
        (f"[matrix]\nn = [1, 1]\n{ONE}args = ['{{n}}']", "the same"),
        (f"[matrix]\nA = ['x=1']\n{ONE}", "name it, as in A = "),
        (ONE + ONE, "two targets .* 'one'"),
        ("name = 'empty'", "there is no target"),
        ("[[target]\n", "is no TOML"),
        ("a = " + "[" * 5000, "is no TOML"),
        ("a = " + "9" * 5000, "is no TOML"),
        (f"{ONE}timout_s = 3\n[[target]]\nscript = 4\n", r"timout_s.*target\[2\]\.script"),
    ],
)
def test_all_that_is_wrong_with_a_manifest_is_told_at_once(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(WrongManifest, match=said):
        read_manifest(written(tmp_path, text))


def test_a_matrix_of_a_billion_targets_is_refused_without_making_them(tmp_path: Path) -> None:
    values = list(range(1000))
    axes = "".join(f"{name} = {values}\n" for name in "abc")
    text = f"[matrix]\n{axes}{ONE}args = ['{{a}} {{b}} {{c}}']\n"
    with pytest.raises(WrongManifest, match="makes 1,000,000,000 targets"):
        sweep_request(written(tmp_path, text))


LARGE = {
    "braces in what all targets have": f"[defaults.env]\nA = '{'{{}}' * 100_000}'\n{ONE}",
    "axes": "[matrix]\n" + "".join(f"A{n} = [1]\n" for n in range(20_000)) + ONE,
    "a value in many places": (
        f"[matrix]\na = {{x = '{'y' * 500_000}'}}\n{ONE}args = ['{'{a}' * 9000}']\n"
    ),
    "imports": "[defaults]\nimports = [" + "'a'," * 200_000 + f"]\n{ONE}",
    "keys of a table": ONE + "".join(f"k{n} = 1\n" for n in range(90_000)),
    "wrong words": ONE + "args = [" + "1," * 400_000 + "]",
    "a name": f"[[target]]\nscript = 'one.py'\nname = '{'n' * 900_000}'\n",
}


@pytest.mark.parametrize("what", LARGE)
def test_a_manifest_that_takes_much_for_each_target_is_refused(tmp_path: Path, what: str) -> None:
    assert len(LARGE[what]) < 1 << 20
    with pytest.raises(WrongManifest, match=r"65,536 characters|at most 32|5,000 keys|is no str"):
        read_manifest(written(tmp_path, LARGE[what]))


@pytest.mark.parametrize("rest", ["hole", "lines"])
def test_no_more_of_a_ledger_is_read_than_a_sweep_writes(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "sweep.jsonl"
    rows = "[]\n" * (LINES + 1) if rest == "lines" else ""
    path.write_text(f"{HEAD.model_dump_json()}\n{rows}")
    if rest == "hole":
        os.truncate(path, 1 << 40)
    with pytest.raises(UnreadableSweep, match="longer than any"):
        list(rows_of(path))


def test_a_text_of_a_row_is_cut_however_long_somebody_has_made_it() -> None:
    row = {
        "index": 0,
        "target": "a",
        "outcome": "failed",
        "summary": "é" * 90_000,
        "ops": ["x" * 90_000],
    }
    found = Row.model_validate_json(json.dumps(row))
    assert len(found.summary) == len(found.ops[0]) == TEXT


def test_missing_files_and_interpreters_are_told_together(tmp_path: Path) -> None:
    text = f"""
    {ONE}
    python = "/no/such/python"
    [[target]]
    script = "none.py"
    [[target]]
    test = "test_none.py::test_it"
    """
    with pytest.raises(WrongManifest) as told:
        sweep_request(written(tmp_path, text))
    for words in ("no " + str(tmp_path / "none.py"), "/no/such/python", "test_none.py"):
        assert words in str(told.value)


def test_an_interpreter_without_torch_is_refused(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    python.chmod(0o755)
    with pytest.raises(WrongManifest, match=r"/python \(python\) has no torch"):
        sweep_request(written(tmp_path, f"[defaults]\npython = '{python}'\n{ONE}"))


def test_an_interpreter_without_pytest_is_refused_for_tests(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").touch()
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pytest'] = None\n")
    text = f"{ONE}[[target]]\ntest = 'test_it.py'\nenv = {{PYTHONPATH = '{tmp_path}'}}"
    with pytest.raises(WrongManifest, match=r"/python.* has no pytest"):
        sweep_request(written(tmp_path, text))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"on": "slurm"}, "cannot run on 'slurm'"),
        ({"fail_on": "some"}, "Use new, any or proved"),
        ({"baseline": "r-20990101-0000-none"}, "there is no sweep"),
        ({"resume": "/no/such/place"}, "there is no sweep"),
        ({"manifest": "\0"}, "null byte"),
    ],
)
def test_wrong_words_are_told_before_anything_starts(
    tmp_path: Path, words: dict[str, str], said: str
) -> None:
    with pytest.raises(WrongUse, match=said):
        sweep_request(**{"manifest": written(tmp_path, ONE), **words})  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["A:>99999999999", "A!z", "A.real", "A[0]"])
def test_braces_hold_a_name_alone(tmp_path: Path, field: str) -> None:
    text = f"[matrix]\nA = [1]\n'{field}' = [2]\n{ONE}args = ['{{{field}}}']\n"
    with pytest.raises(WrongManifest, match="write its name alone"):
        sweep_request(written(tmp_path, text))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sweep.toml")
    with pytest.raises(WrongManifest, match=r"sweep\.toml: not a regular file"):
        read_manifest(tmp_path / "sweep.toml")
    (tmp_path / "one.toml").write_text("[[target]]\ncommand = ['true']\n")
    (tmp_path / "link.toml").symlink_to("one.toml")
    assert read_manifest(tmp_path / "link.toml").target


def test_files_of_a_folder_may_have_any_name_of_text(tmp_path: Path) -> None:
    names = {"a{b}.py", "-c.py", "$(touch x).py", "a\nb.py"}
    for name in names:
        (tmp_path / name).touch()
    found = {Path(str(one.script)).name for one in Plan(read_manifest(tmp_path)).targets()}
    assert found == names
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py")).touch()
    with pytest.raises(WrongManifest, match=r"xff.* is not UTF-8: rename it"):
        read_manifest(tmp_path)


def test_an_axis_in_what_all_targets_are_given_multiplies_them(tmp_path: Path) -> None:
    text = f"[defaults]\nenv = {{MODE = '{{mode}}'}}\n[matrix]\nmode = ['a', 'b']\n{ONE}"
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


def row(index: int, category: str = "index_out_of_bounds", **fields: Any) -> Row:
    told = {"index": index, "target": f"t{index}", "run": f"r-{index}", "category": category}
    return Row.model_validate({**told, "outcome": "failed", **fields})


def asserted(*operators: str, message: str = "index out of bounds") -> dict[str, Any]:
    return {"phase": "run", "kind": "assert", "message": message, "operators": operators}


def told(index: int, category: str, source: str, message: str | None = None, **more: str) -> Row:
    """Make a row of a failure that stands at a line such as x.py:1."""
    file, _, line = source.partition(":")
    signature = {"kind": "E", "message": message, "place": Place(file, int(line))}
    return row(index, category, signature=signature, **more)


def counts(*rows: Row) -> list[int]:
    return [group.targets for group in Groups(rows)]


def test_kernels_that_share_an_operator_that_tells_are_one_bucket() -> None:
    one = row(0, signature=asserted("add", "embedding"))
    assert counts(one, row(1, signature=asserted("embedding", "layer", "norm"))) == [2]
    assert counts(one, row(1, signature=asserted("add", "gather"))) == [1, 1]


def test_a_broken_contract_is_one_cause_whatever_came_of_it() -> None:
    silent = row(0, "contract_shape", broken="size")
    crashed = row(1, "contract_shape", broken="size", signature={"kind": "SIGSEGV"})
    other = row(2, "contract_shape", broken="rank")
    assert counts(silent, crashed, other) == [2, 1]


def test_messages_tell_exceptions_apart_and_lines_what_has_no_message() -> None:
    assert counts(
        told(0, "user_code", "x.py:1", "'a'"),
        told(1, "user_code", "y.py:2", "'a'"),
        told(2, "user_code", "x.py:1", "'b'"),
    ) == [2, 1]
    assert counts(
        told(0, "user_code", "x.py:1"),
        told(1, "user_code", "x.py:2"),
        told(2, "user_code", "x.py:1"),
    ) == [2, 1]


def test_a_crash_is_known_by_what_its_line_says_wherever_that_stands() -> None:
    assert counts(
        told(0, "host_segfault", "a.py:9", text="ctypes.string_at(0)", summary="after call 0"),
        told(1, "host_segfault", "a.py:9", text="free(it)", summary="after call 1"),
        told(2, "host_segfault", "b.py:7", text="ctypes.string_at(0)", summary="after call 2"),
    ) == [2, 1]


def test_weights_with_nan_are_one_cause_and_broken_archives_are_told_apart() -> None:
    assert counts(
        told(0, "nan_or_inf", "x.py:0", summary="up holds NaN", constant="up"),
        told(1, "nan_or_inf", "x.py:1", summary="calls return NaN: of down", constant="down"),
        told(2, "nan_or_inf", "x.py:2", summary="log of 3 values below 0"),
    ) == [2, 1]
    assert counts(
        told(0, "package_corrupt", "x.py:0", summary="the archive is truncated: at byte 100"),
        told(1, "package_corrupt", "x.py:1", summary="the archive is truncated: at byte 20"),
        told(2, "package_corrupt", "x.py:2", summary="the file cannot be opened"),
    ) == [2, 1]


def test_failures_that_are_all_different_are_found_again_beyond_those_compared() -> None:
    words = [chr(97 + n % 26) * (n + 1) for n in range(300)]
    kinds = [asserted("embedding", message=f"error {word}") for word in words * 2]
    assert counts(*[row(n, signature=kind) for n, kind in enumerate(kinds)]) == [2] * 300


def test_a_row_that_no_sweep_writes_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jsonl"
    lines = [one.model_dump_json() for one in (HEAD, row(0, target="x" * (1 << 19)), row(1))]
    many = {str(number): 1.0 for number in range(999)}
    lines.append(json.dumps({**json.loads(lines[-1]), "index": 2, "phases": many}))
    path.write_text("\n".join(lines) + "\n")
    assert [one.index for one in rows_of(path)] == [1]


def test_runs_of_the_first_and_the_smallest_are_kept_in_any_order() -> None:
    groups = Groups()
    dropped = []
    for index, size in ((5, 50), (3, 30), (9, 10), (1, 40), (7, 20)):
        dropped += groups.add(row(index, signature=asserted("embedding"), size=size))
    (group,) = groups
    assert (group.first.run, group.smallest.run) == ("r-1", "r-9")
    assert sorted(dropped) == ["r-3", "r-5", "r-7"]


def test_a_target_of_any_name_keeps_its_row_and_what_ci_reads(tmp_path: Path) -> None:
    name = "\uffff<&'\x07" + "x" * 100_000
    path = tmp_path / "sweep.jsonl"
    ledger = Ledger.create(path, HEAD)
    ledger.add(row(0, summary="\ufffe]]>").model_copy(update={"target": name}))
    ledger.close()
    [kept] = rows_of(path)
    assert kept.target.endswith("<&'" + "x" * 100_000)
    text = io.StringIO()
    answer = SweepAnswer(run="r-1", status="done", name=name, finished=1, failed=1)
    junit(text, answer, [kept], Groups([kept]))
    [case] = ElementTree.fromstring(text.getvalue()).iter("testcase")
    assert case.attrib["name"] == "<&'" + "x" * 100_000


def test_buckets_keep_their_beginning_over_sweeps() -> None:
    def rows(*kinds: str) -> Groups:
        return Groups(row(n, "user_code", signature={"kind": k}) for n, k in enumerate(kinds))

    now, before = rows("KeyError", "OSError"), rows("OSError", "ValueError")
    since = {group.id: "commit-1" for group in before}
    gone = compare(now, before, since, "commit-9", "commit-8")
    assert {g.signature.kind: (g.state, g.since) for g in [*now, *gone]} == {
        "KeyError": ("new", "commit-9"),
        "OSError": ("still", "commit-1"),
        "ValueError": ("gone", "commit-1"),
    }


NODES = [
    {"Alive": True, "Resources": {"CPU": 16.0, "GPU": 2.0}},
    {"Alive": True, "Resources": {"CPU": 8.0}},
    {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}},
]


def test_a_cluster_is_what_is_alive_of_it() -> None:
    cluster = cluster_of(NODES)
    assert (cluster.cpus, cluster.gpus, cluster.node_gpus, cluster.places) == (24, 2, 2, 2)
    assert cluster.never(Demand(gpus=2)) is None
    assert "no node has more than 2" in str(cluster.never(Demand(gpus=3)))
    assert "no node has more than 16" in str(cluster.never(Demand(cores=17)))


def test_a_target_asks_ray_for_what_it_needs() -> None:
    cluster = cluster_of(NODES)
    assert cluster.options(Demand())["num_gpus"] == 1
    asked = cluster.options(Demand(gpus=2, gpu="H100", memory=1000, cores=4))
    assert asked["num_gpus"] == 2 and asked["num_cpus"] == 4
    assert asked["accelerator_type"] == "H100" and asked["memory"] == 1250
    assert "accelerator_type" not in cluster.options(Demand(gpus=0, gpu="H100"))
    assert cluster_of(NODES[1:]).options(Demand())["num_gpus"] == 0


def test_an_address_that_does_not_answer_is_told() -> None:
    assert place_of("ray://head:10001") == ("head", 10001)
    assert place_of("[::1]:6379") == ("::1", 6379)
    assert place_of("auto") is None
    with pytest.raises(NoCluster, match=r"nothing answers at 127\.0\.0\.1:1"):
        reach("127.0.0.1:1")


@pytest.mark.parametrize("first_bad", [0, 1, 2, 3, 4, None])
def test_the_first_bad_version_takes_few_environments(first_bad: int | None) -> None:
    made: list[int] = []

    def python(number: int) -> str:
        made.append(number)
        return str(number)

    def sweep(label: str, python: str) -> SweepAnswer:
        bad = first_bad is not None and int(python) >= first_bad
        return SweepAnswer(run="r", status="done", result="bad" if bad else "good")

    chosen = [Candidate(f"torch 2.{9 + n}", partial(python, n)) for n in range(5)]
    found = search(chosen, sweep)
    assert found.first_bad == (None if first_bad is None else f"torch 2.{9 + first_bad}")
    assert len(made) == len(found.tried) <= math.ceil(math.log2(6))


def test_a_version_that_cannot_be_judged_ends_the_search() -> None:
    def sweep(label: str, python: str) -> SweepAnswer:
        return SweepAnswer(run="r", status="done", result="undecided", reason="it was not run")

    with pytest.raises(CannotBisect, match=r"torch 2\.10: it was not run"):
        search([Candidate(f"torch 2.{n}", lambda: "p") for n in (9, 10)], sweep)


@pytest.mark.parametrize("words", ["2.9", "2.13..2.9", "2.1,2.2", "new..old", ""])
def test_versions_that_name_no_range_are_refused(words: str) -> None:
    with pytest.raises(WrongUse):
        releases(words)


def test_versions_and_interpreters_are_named(tmp_path: Path) -> None:
    assert [str(one) for one in releases("2.9..2.13")] == ["2.9", "2.10", "2.11", "2.12", "2.13"]
    assert [str(one) for one in releases("2.13.0,2.9")] == ["2.9", "2.13"]
    with pytest.raises(WrongUse, match="no interpreters to choose from"):
        candidates("python", f"{tmp_path}/none,/bin/sh")
    with pytest.raises(WrongUse, match="cannot be bisected"):
        candidates("cuda", "12..13")
