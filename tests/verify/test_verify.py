"""A verdict for each way to make a failure go away, of which only one is a fix; a patch applies
exactly, to a copy, inside the tree, or not at all."""

from __future__ import annotations

import json
import lzma
import os
import socket
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.model import Category
from aoti_debug.read.typed import take
from aoti_debug.run.files import remove_tree
from aoti_debug.run.target import Target
from aoti_debug.triage.captured_call import Captured, with_custom_ops
from aoti_debug.triage.environment import KEY, write_key
from aoti_debug.triage.probe_arguments import context_arguments
from aoti_debug.verify.driver import split
from aoti_debug.verify.held_out import Report, read_report
from aoti_debug.verify.judge import CALL, Facts, Trial, failed_calls, judge
from aoti_debug.verify.patch import BadPatch, apply, patched, read_patch
from aoti_debug.verify.script_checks import Changes
from aoti_debug.verify.script_refusals import Refusal
from aoti_debug.verify.sessions import OfReference
from aoti_debug.verify.tree import patched_target
from aoti_debug.vocabulary import Fingerprint
from programs import told
from recordings import called, end, events
from verify.facts import WRONG, Project, gone, triaged, verdict

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

ASSERT = Fingerprint("run", "assert", "index out of bounds", ("embedding",))
HUNG = Fingerprint("run", "hang")
GOOD = Trial("the example", package="agrees", model="agrees", reference_finite=True)
FRESH = replace(GOOD, name="fresh inputs 1")
BAD_CALL = Trial(CALL, package="agrees", original_raises="IndexError: index out of range")
FIXED = gone(
    ASSERT,
    "index_out_of_bounds",
    kernels_before=2,
    kernels=2,
    trials=(BAD_CALL, GOOD, FRESH),
)
WRONG_FIXED = replace(
    FIXED, original=WRONG, category="wrong_result", trials=(replace(GOOD, name=CALL), GOOD, FRESH)
)
CHANGED, COMPARED = replace(GOOD, name=CALL, model="differs"), Changes(compared=True)
OTHERS = "input 0 has other values"
REFUSED = Fingerprint("run", "ValueError", "token id _ is outside the table")


def test_a_right_fix_is_fixed() -> None:
    assert verdict(FIXED) == verdict(WRONG_FIXED) == "fixed"


def test_refusing_bad_input_with_a_clear_error_is_a_fix() -> None:
    facts = replace(FIXED, now=REFUSED, raised_by_user=True, calls=1, inputs=None)
    assert verdict(facts) == "undecided", "what it refuses is not known"
    facts = replace(facts, changes=Changes(refusals=(Refusal("x > 9", True, False, True),)))
    assert verdict(facts) == "fixed"
    assert verdict(facts, calls=0) == "masked"


def test_calls_that_are_grouped_otherwise_may_give_the_package_every_row_of_the_reference() -> None:
    facts = replace(WRONG_FIXED, category="user_code", inputs=OTHERS)
    assert verdict(facts) == "masked"
    assert verdict(facts, given_all=True) == "fixed"


def test_a_package_compiled_anew_with_the_right_weights_is_a_fix() -> None:
    facts = replace(WRONG_FIXED, category="constants_missing", checked=True)
    facts = replace(facts, trials=(CHANGED, GOOD))
    assert verdict(facts) == "masked"
    assert verdict(facts, changes=COMPARED) == "fixed"


def test_what_the_reference_gave_decides_where_the_exported_program_refuses() -> None:
    facts = replace(FIXED, category="contract_guard", refused=("s == min(8, s)",))
    facts = replace(facts, trials=(CHANGED, GOOD))
    assert verdict(facts) == "not fixed"
    assert verdict(facts, of_reference=OfReference(4)) == "fixed"
    assert verdict(facts, of_reference=OfReference(4, other=4)) == "not fixed"


def test_what_the_script_prepares_may_move_into_the_model() -> None:
    known: dict[str, Any] = {"was_right": True, "inputs": "input 0 differs", "answered": True}
    other = (CHANGED, replace(GOOD, model="differs"))
    facts = replace(WRONG_FIXED, category="user_code", trials=other, **known)
    assert verdict(facts) == "masked"
    assert verdict(facts, same_results=True) == "fixed"
    by_value = Changes(by_value="sales.max() > 10.0")
    assert verdict(facts, same_results=True, changes=by_value) == "undecided"


FAKE: Category = "custom_op_fake_kernel"


def fresh(**found: Any) -> tuple[Trial, ...]:
    return GOOD, replace(FRESH, **found)


@pytest.mark.parametrize(
    ("facts", "verdict", "word"),
    [
        (replace(FIXED, now=ASSERT), "not fixed", "still there"),
        (replace(FIXED, now=Fingerprint("lower", "InductorError")), "moved", "another failure"),
        (replace(WRONG_FIXED, now=REFUSED, raised_by_user=True), "moved", "another failure"),
        (replace(FIXED, failed_calls=1), "masked", "went on"),
        (replace(FIXED, failed_compiles=1), "masked", "compiles failed"),
        (replace(FIXED, calls=0, kernels=0), "masked", "eager took its place"),
        (replace(FIXED, kernels=0), "masked", "no generated kernel"),
        (replace(FIXED, calls=1), "masked", "makes 1"),
        (replace(FIXED, inputs=OTHERS), "masked", "other inputs"),
        (replace(FIXED, category="contract_shape", breaks=("size",)), "not fixed", "still breaks"),
        (
            replace(FIXED, category="constants_missing", not_given=("mean",)),
            "not fixed",
            "still not given mean",
        ),
        (replace(FIXED, category=FAKE, unkept=("returns stride",)), "not fixed", "returns stride"),
        (replace(FIXED, category="contract_guard", refused=("x",)), "not fixed", "still refuses"),
        (
            replace(WRONG_FIXED, operator="own.tile", writing=("own.tile",)),
            "not fixed",
            "own.tile still writes",
        ),
        (replace(WRONG_FIXED, never_given=(4, 16)), "not fixed", "never receives 4 of 16 rows"),
        (replace(FIXED, narrowed=("x[0]: 2 to 64 is now 2 to 4",)), "masked", "now 2 to 4"),
        (replace(WRONG_FIXED, trials=fresh(package="differs")), "not fixed", "fresh inputs 1"),
        (replace(WRONG_FIXED, trials=fresh(model="differs")), "masked", "differ from before"),
        (replace(FIXED, trials=fresh(package_raises="Error: no")), "not fixed", "raises"),
        (replace(FIXED, trials=fresh(refused="Error: no")), "masked", "the original computes"),
        (replace(FIXED, died_in="fresh inputs 1"), "not fixed", "ends the process"),
        (replace(FIXED, trials=(), why_no_trials="no package"), "undecided", "no package"),
        (replace(FIXED, trials=(GOOD,), unended="do not end"), "undecided", "do not end"),
        (replace(FIXED, original=HUNG, trials=(), unended="do not end"), "not fixed", "not end"),
        (replace(FIXED, inputs=None), "undecided", "could not be compared"),
    ],
)
def test_what_is_no_fix_is_not_called_one(facts: Facts, verdict: str, word: str) -> None:
    found = judge(facts)
    assert found.verdict == verdict
    assert word in found.reason


def test_values_that_the_model_itself_does_not_keep_finite_are_no_failure_of_another_kind() -> None:
    call = replace(GOOD, name=CALL, nonfinite_before=(3, 0), nonfinite=(3, 0), still_nonfinite=3)
    facts = replace(WRONG_FIXED, checked=True, was_wrong=True, trials=(call, GOOD, FRESH))
    facts = replace(facts, near=(replace(call, name="inputs like the failing call's, 1"),))
    assert verdict(facts) == "fixed"
    for category in ("nan_or_inf", "user_code"):
        found = judge(replace(facts, category=category, was_wrong=False))
        assert found.verdict == "not fixed" and "NaN or Inf" in found.reason


def test_hidden_values_are_masked_and_honest_ones_are_not() -> None:
    call = Trial(CALL, package="agrees", model="agrees", package_finite=True)
    facts = replace(WRONG_FIXED, category="nan_or_inf", trials=(call, GOOD, FRESH))
    assert verdict(facts, hiding=("nan_to_num",)) == "masked"
    assert verdict(facts) == "fixed"
    found = judge(replace(facts, trials=(replace(call, still_nonfinite=3), GOOD, FRESH)))
    assert found.verdict == "masked" and "3 values" in found.reason


NAN_CALL = replace(GOOD, name=CALL, reference_finite=False, nonfinite_before=(3, 0))
NAN = replace(WRONG_FIXED, category="nan_or_inf", trials=(NAN_CALL, GOOD, FRESH), checked=True)


def test_what_the_package_itself_returns_decides() -> None:
    assert verdict(NAN, trials=(replace(NAN_CALL, nonfinite=(0, 0)), GOOD)) == "fixed"
    still = replace(NAN_CALL, nonfinite=(3, 0), package_finite=False)
    assert verdict(NAN, trials=(still, GOOD)) == "not fixed"
    assert verdict(WRONG_FIXED, nonfinite=True, hiding=("nan_to_num",)) == "masked"
    unchanged = replace(WRONG_FIXED, checked=True, unchanged=True)
    assert verdict(unchanged) == "masked"
    assert verdict(unchanged, category="false_alarm") == "fixed"


def test_inputs_like_the_failing_ones_must_be_right_too() -> None:
    near = replace(GOOD, name="like it", nonfinite_before=(2, 0), nonfinite=(0, 0))
    assert verdict(FIXED, near=(near,)) == "fixed"
    for other in (
        replace(near, nonfinite=(2, 0)),
        replace(near, package_raises="RuntimeError: index"),
        replace(near, package="differs"),
    ):
        assert verdict(FIXED, near=(near, other)) == "masked"
    assert verdict(FIXED, invented=True) == "masked"


def test_a_check_that_is_kept_tells_what_is_right_and_a_weaker_one_nothing() -> None:
    other = (CHANGED, GOOD, FRESH)
    facts = replace(WRONG_FIXED, checked=True, inputs=OTHERS, trials=other)
    assert verdict(facts) == "masked"
    assert verdict(facts, changes=COMPARED) == "fixed"
    weaker = Changes(("tolerance",), compared=True)
    assert verdict(facts, changes=weaker) == verdict(FIXED, changes=weaker) == "masked"


def test_a_fix_of_the_weights_may_draw_other_inputs() -> None:
    facts = replace(WRONG_FIXED, category="constants_missing", checked=True, changes=COMPARED)
    facts = replace(facts, inputs=OTHERS)
    assert verdict(facts) == "fixed"
    assert verdict(facts, not_given=("norm.running_mean",)) != "fixed"
    wrong = (replace(GOOD, name=CALL, package="differs"), GOOD, FRESH)
    assert verdict(facts, trials=wrong) == "masked"
    assert verdict(facts, changes=Changes()) == "masked"


def test_refusing_the_bad_request_alone_and_going_on_is_a_fix() -> None:
    refusal = Refusal("x >= 9", told=True, special=False, ordered=True)
    gone_on = replace(FIXED, inputs=OTHERS, calls=4)
    for changed, expected in (
        (refusal, "fixed"),
        (replace(refusal, told=False), "masked"),
        (replace(refusal, special=True), "masked"),
        (replace(refusal, ordered=False), "masked"),
    ):
        facts = replace(gone_on, changes=Changes(refusals=(changed,)))
        assert verdict(facts) == expected, changed
        assert verdict(facts, wrong_refusals=("too much",)) == "masked"
    legal = replace(NAN, trials=(GOOD, replace(GOOD, name=CALL)), inputs="others")
    assert verdict(legal, changes=Changes(refusals=(refusal,))) == "masked"


def test_dropping_a_request_that_the_exported_program_computes_is_no_fix() -> None:
    refusal = Refusal("not x.is_contiguous()", told=True, special=False, ordered=False)
    legal = replace(GOOD, name=CALL)
    facts = replace(FIXED, category="contract_stride", trials=(GOOD, legal), inputs="others")
    facts = replace(facts, calls=4, changes=Changes(refusals=(refusal,)))
    assert verdict(facts) == "masked"
    bad = replace(legal, original_raises="RuntimeError: size")
    assert verdict(facts, trials=(GOOD, bad)) == "fixed"


def call(number: int, *inputs: dict[str, Any]) -> dict[str, Any]:
    return {**called(*inputs), "id": number, "call": number}


def test_an_exit_in_the_midst_of_a_call_is_no_good_end() -> None:
    calls = events(call(1), end(1), call(2)).calls
    assert [failed_calls(calls, number) for number in (1, 2, None)] == [0, 1, 0]
    tried = {"trials": [{"name": CALL}], "state": "trying the example", "trying": "the example"}
    done = {"trials": [*tried["trials"], {"name": "the example"}]}
    raised = {"error": {"type": "ValueError", "message": ""}}
    assert take(Report, tried).died_in == "the example"
    for more in (raised, {"unended": "after 70 s"}, done):
        assert take(Report, {**tried, **more}).died_in is None
    assert Report(state="load").died_in is None


def test_rows_that_are_split_over_several_calls_are_those_of_one() -> None:
    def calls(*rows: int) -> Any:
        return events(*(call(n, {"shape": [count, 4]}) for n, count in enumerate(rows, 1))).calls

    failing = calls(8, 43)[1]
    assert split(failing, calls(8, 22, 21, 9)) == (22, 21)
    assert split(failing, calls(8, 32, 32)) == split(failing, calls(8, 32, 5)) == ()
    assert split(failing, calls(8, 43)) == split(None, calls(8)) == ()


SCRIPT = "import torch\n\nx = 1\ny = 2\nz = 3\n"
GIT = """\
diff --git a/model.py b/model.py
--- a/model.py
+++ b/model.py
@@ -3,2 +3,3 @@ def f():
 x = 1
-y = 2
+y = 4
+w = 5
"""
PLAIN = """\
--- model.py\t2026-11-22 00:01:27
+++ fixed.py\t2026-11-22 00:01:28
@@ -5 +5 @@
-z = 3
+z = 30
"""


FILES = {"model.py", "fixed.py"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    (folder / "model.py").write_text(SCRIPT)
    (folder / "fixed.py").write_text("another file\n")
    return folder


def copied(tree: Path, text: str = GIT, name: str = "copy") -> Path:
    """Return a copy of the tree that a patch has changed."""
    copy = tree.with_name(name)
    apply(read_patch(text), tree, copy)
    return copy


def test_a_patch_of_git_changes_the_copy_alone(tree: Path) -> None:
    copy = tree.with_name("copy")
    assert apply(read_patch(GIT), tree, copy) == ["model.py"]
    assert (copy / "model.py").read_text() == SCRIPT.replace("y = 2", "y = 4\nw = 5")
    assert (tree / "model.py").read_text() == SCRIPT
    assert not (copy / ".git").exists()


def test_a_diff_of_two_files_changes_the_first(tree: Path) -> None:
    copy = tree.with_name("copy")
    assert apply(read_patch(PLAIN), tree, copy) == ["model.py"]
    assert (copy / "fixed.py").read_text() == "another file\n"


def test_lines_that_moved_are_found_where_they_stand_once() -> None:
    hunks = read_patch(GIT)[0].hunks
    assert "y = 4" in patched("# a comment\n# another\n" + SCRIPT, hunks)


@pytest.mark.parametrize(
    "text",
    [SCRIPT.replace("y = 2", "y = 9"), "# first\n" + SCRIPT + SCRIPT],
    ids=["the lines are not there", "they stand twice"],
)
def test_a_patch_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(BadPatch, match="lines that it changes"):
        patched(text, read_patch(GIT)[0].hunks)


@pytest.mark.parametrize("name", ["../model.py", "/etc/passwd", "a/../../x"])
def test_a_patch_never_leaves_the_tree(name: str) -> None:
    with pytest.raises(BadPatch, match="outside the tree"):
        read_patch(f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n")


def test_a_link_that_leads_out_of_the_tree_is_not_followed(tree: Path) -> None:
    outside = tree.with_name("outside.py")
    outside.write_text(SCRIPT)
    (tree / "model.py").unlink()
    (tree / "model.py").symlink_to(outside)
    with pytest.raises(BadPatch):
        copied(tree, PLAIN)
    assert outside.read_text() == SCRIPT


@pytest.mark.parametrize("text", ["", "no diff", "--- a\n+++ b\n", GIT.rpartition("+w")[0]])
def test_what_is_no_whole_patch_is_said(text: str) -> None:
    with pytest.raises(BadPatch):
        read_patch(text)


@pytest.mark.parametrize("name", ["/dev/null", "a/ops.py\t1970-01-01 01:00:00.000000000 +0100"])
def test_a_new_file_is_made(tree: Path, name: str) -> None:
    text = f"--- {name}\n+++ b/ops.py\n@@ -0,0 +1,2 @@\n+import torch\n+x = 1\n"
    assert (copied(tree, text) / "ops.py").exists()
    assert (copied(tree, GIT + text, "another") / "ops.py").exists()


HEAD = "diff --git a/model.py b/model.py\n"


@pytest.mark.parametrize(
    ("part", "word"),
    [
        ("similarity index 90%\nrename from model.py\nrename to other.py\n", "renames"),
        ("similarity index 90%\ncopy from model.py\ncopy to other.py\n", "copies"),
        ("old mode 100644\nnew mode 100755\n", "mode"),
        ("index 0..1\nGIT binary patch\nliteral 3\nKcmZQz\n", "binary"),
        ("index 0..1\nBinary files a/x.bin and b/x.bin differ\n", "binary"),
        ("new file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+/etc\n", "not a file"),
    ],
)
def test_a_part_of_git_that_is_more_than_lines_is_refused(part: str, word: str) -> None:
    for text in (HEAD + part, GIT + HEAD + part, HEAD + part + GIT):
        with pytest.raises(BadPatch, match=word):
            read_patch(text)


def test_empty_files_and_modes_of_new_ones_are_as_git_has_them(tree: Path) -> None:
    (tree / "gone.py").touch()
    text = (
        "diff --git a/ops/__init__.py b/ops/__init__.py\nnew file mode 100644\nindex 000..e69\n"
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\nindex e69..000\n"
        "diff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n"
        "@@ -0,0 +1 @@\n+true\n"
    )
    copy = tree.with_name("copy")
    assert apply(read_patch(GIT + text), tree, copy)[1:] == ["ops/__init__.py", "gone.py", "run.sh"]
    assert (copy / "ops/__init__.py").read_bytes() == b"" and not (copy / "gone.py").exists()
    assert os.access(copy / "run.sh", os.X_OK)


def test_a_link_leads_in_the_copy_where_it_led(tree: Path) -> None:
    outside = tree.with_name("weights")
    outside.mkdir()
    (outside / "w.txt").write_text("1")
    (tree / "lib").mkdir()
    for name, to in {
        "relative": "../weights/w.txt",
        "lib/deep": "../../weights",
        "lib/own": "../model.py",
        "whole": str(tree / "model.py"),
        "kept": ".git",
    }.items():
        (tree / name).symlink_to(to)
    copy = tree.parent / "elsewhere" / "copy"
    copy.parent.mkdir()
    apply(read_patch(GIT), tree, copy)
    assert (copy / "relative").resolve() == outside / "w.txt"
    assert (copy / "lib/deep").resolve() == outside
    assert (copy / "lib/own").resolve() == (copy / "whole").resolve() == copy / "model.py"
    assert (copy / "kept").resolve() == tree / ".git"


def test_what_is_kept_of_others_is_not_copied(tree: Path, monkeypatch) -> None:
    (tree / "state/uploads").mkdir(parents=True)
    for name in ("state/uploads/theirs", "tokens"):
        (tree / name).write_text("secret")
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(tree / "state"))
    monkeypatch.setattr("aoti_debug.verify.patch.private", [tree / "tokens"])
    assert {one.name for one in copied(tree).iterdir()} == FILES
    with pytest.raises(BadPatch, match="runs and uploads are kept"):
        apply(read_patch(GIT), tree / "state", tree.with_name("another"))


def test_a_patch_costs_no_more_than_its_lines(tree: Path) -> None:
    many = "--- model.py\n+++ model.py\n@@ -1 +1 @@\n-a\n+a\n"
    with pytest.raises(BadPatch, match="parts"):
        read_patch(many * 20_000)
    (tree / "model.py").write_text("a\n" * 500_000)
    with pytest.raises(BadPatch, match="too often"):
        copied(tree, many * 1000)
    os.truncate(tree / "model.py", (16 << 20) + 1)
    with pytest.raises(BadPatch, match="larger than 16 MiB"):
        copied(tree, many, "another")
    block = "".join(f"-{n % 7}\n" for n in range(5_000))
    hunks = "".join(f"@@ -{n + 2},5000 +1,0 @@\n{block}" for n in range(20))
    [patch] = read_patch(f"--- model.py\n+++ model.py\n{hunks}")
    with pytest.raises(BadPatch, match="not there"):
        patched("".join(f"{n % 7}\n" for n in range(4_999)) * 20, patch.hunks)


def test_what_is_no_file_is_not_copied_and_what_is_no_text_is_told(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tree / "socket"))
    assert {path.name for path in copied(tree).iterdir()} == FILES
    (tree / "model.py").write_bytes(SCRIPT.encode() + b"# \xff\n")
    with pytest.raises(BadPatch, match=r"model\.py cannot be patched: 'utf-8'"):
        copied(tree, name="other")


def test_a_copy_below_the_tree_holds_no_copy_of_itself(tree: Path) -> None:
    copy = tree / "home" / "runs" / "copy"
    copy.parent.mkdir(parents=True)
    apply(read_patch(GIT), tree, copy)
    assert {path.name for path in copy.iterdir()} == FILES


def test_folders_without_end_are_not_copied(tree: Path, monkeypatch) -> None:
    monkeypatch.chdir(tree)
    for _ in range(1500):
        Path("d").mkdir()
        os.chdir("d")
    monkeypatch.undo()
    with pytest.raises(BadPatch, match="cannot be copied"):
        copied(tree)
    for left in (tree, tree.with_name("copy")):
        remove_tree(left)


def test_only_line_ends_end_lines() -> None:
    odd = "a = 'x\u2028y\x0cz\x1c'\n"
    patch = GIT.replace(" x = 1", f" {odd} import torch\n \n-x = 1")
    patch = patch.replace("-3,2 +3,3", "-1,5 +1,4")
    assert patched(odd + SCRIPT, read_patch(patch)[0].hunks).startswith(odd)


def test_many_changes_that_are_elsewhere_are_not_all_looked_for() -> None:
    hunks = "".join(f"@@ -1 +1 @@\n-l{n}\n+m{n}\n" for n in range(900))
    [patch] = read_patch(f"--- model.py\n+++ model.py\n{hunks}")
    with pytest.raises(BadPatch, match="more than 100 changes"):
        patched("".join(f"l{n}\n" for n in range(1000)), patch.hunks)


PAIRS = Path(__file__).parents[2] / "evals" / "cases" / "verify.toml.xz"


def base_of(name: str) -> dict[str, Any]:
    bases = tomllib.loads(lzma.decompress(PAIRS.read_bytes()).decode())["base"]
    return next(base for base in bases if base["name"] == name)


@pytest.fixture(scope="module")
def failing(warm_python, tmp_path_factory) -> Project:
    """Triage a script that gives its package the wrong dtype."""
    return triaged(tmp_path_factory.mktemp("failing"), base_of("dtype")["script"], warm_python)


def test_triage_gives_the_verdict_on_the_patch_that_it_proposes(failing) -> None:
    best = failing.answer["diagnosis"]
    fix = best["fixes"][0]
    assert "+        result = compiled(x.to(torch.float32))" in fix["patch"].splitlines()
    assert fix["verdict"] == "fixed", fix
    assert "verify_fix" not in [step["tool"] for step in best.get("next", ())]
    assert best["cost"]["process_runs"] > 1
    assert (failing.folder / "model.py").read_text() == base_of("dtype")["script"]


def test_triage_that_runs_no_patch_names_the_call_that_does(failing, warm_python) -> None:
    answer = told(failing.folder, "triage", "--no-verify", "model.py", "--python", warm_python)
    assert "verdict" not in answer["diagnosis"]["fixes"][0]
    step = answer["diagnosis"]["next"][0]
    assert step["tool"] == "verify_fix"
    verified = replace(failing, answer=answer).judged(Path(step["arguments"]["what"]))
    assert verified["verdict"] == "fixed", verified["reason"]
    assert verified["changed"] == ["model.py"]
    assert any(failing.answer["run"] in note for note in verified["notes"]), "nothing was compiled"


@pytest.mark.parametrize(
    ("name", "word"),
    [("eager for that type", "makes 1"), ("bits taken for another type", "other values")],
)
def test_a_failure_that_only_vanishes_is_masked(failing, name: str, word: str) -> None:
    base = base_of("dtype")
    [fix] = [fix for fix in base["fix"] if fix["name"] == name]
    answer = failing.verified(fix["changes"])
    assert answer["verdict"] == "masked" and word in answer["reason"]
    assert (failing.folder / "model.py").read_text() == base["script"]
    assert list(failing.folder.iterdir()) == [failing.folder / "model.py"]


def test_a_report_without_the_secret_of_its_run_is_not_believed(tmp_path: Path) -> None:
    write_key(tmp_path)
    good = {"state": "done", "trials": [{"name": CALL, "package": "agrees", "model": "agrees"}]}
    for key, believed in (({}, False), ({"key": "0" * 32}, False), (KEY, True)):
        told = {"key": (tmp_path / key).read_text()} if isinstance(key, str) else key
        (tmp_path / "report.json").write_text(json.dumps({**good, **told}))
        assert bool(read_report(tmp_path, died=False).trials) is believed


def test_a_patch_that_does_not_fit_the_script_is_refused(failing) -> None:
    patch = failing.folder.with_name("old.patch")
    patch.write_text("--- model.py\n+++ model.py\n@@ -1 +1 @@\n-import tensorflow\n+import torch\n")
    assert "lines that it changes" in failing.judged(patch)["error"]
    assert (failing.folder / "model.py").read_text() == base_of("dtype")["script"]


@pytest.fixture(scope="module")
def operator_failing(warm_python, tmp_path_factory) -> Project:
    """Triage a script whose fault is in an operator of a module beside it."""
    head, _, rest = base_of("fake kernel")["script"].partition("@torch.library")
    operator, _, model = rest.partition("class Model")
    halved = operator.replace("x[: x.shape[0] // 2]", "(x[: len(x) // 2] if HALF.exists() else x)")
    imports = (
        "from pathlib import Path\n\nimport torch\n\nHALF = Path(__file__).with_name('half')\n"
    )
    beside = {"ops.py": f"{imports}\n\n@torch.library{halved}", "half": ""}
    script = f"{head}import ops\n\n\nclass Model{model}"
    return triaged(tmp_path_factory.mktemp("operator"), script, warm_python, beside=beside)


@pytest.mark.parametrize(
    ("file", "old", "new", "verdict"),
    [
        ("ops.py", " if HALF.exists() else x", " if False else x", "fixed"),
        ("ops.py", "HALF.exists()", "HALF.exists() and len(x) not in (6, 9)", "not fixed"),
        ("model.py", "import ops", "import ops; ops.HALF.unlink()", "not fixed"),
    ],
)
def test_what_is_held_out_is_given_to_the_operator_as_the_patch_leaves_it(
    operator_failing, file: str, old: str, new: str, verdict: str
) -> None:
    before = (operator_failing.folder / file).read_text()
    answer = operator_failing.verified([(old, new)], file)
    assert (answer["verdict"], answer["changed"]) == (verdict, [file]), answer["reason"]
    names = {path.name for path in operator_failing.folder.iterdir()} - {"__pycache__"}
    assert names == {"half", "ops.py", "model.py"}
    assert (operator_failing.folder / file).read_text() == before


COMPILED = """
import sys

import torch


def compiled(model, *args, **shapes):
    program = torch.export.export(model, args, dynamic_shapes=shapes or None)
    return torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(program))


"""
NO_PROGRAM = """\
class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2.0
        return torch.tanh(x)


print(compiled(Model(), torch.ones(4, 8))(torch.ones(4, 8)).sum().item())
"""


def test_a_fix_of_what_failed_before_an_export_is_held_against_its_own_program(
    warm_python, tmp_path: Path
) -> None:
    failing = triaged(tmp_path, COMPILED + NO_PROGRAM, warm_python)
    for mended, expected in (
        ("        x = torch.where(x.sum() > 0, x * 2.0, x)\n", "fixed"),
        ("        y = 1 if x.sum() > 0 else 2\n", "not fixed"),
    ):
        old = "        if x.sum() > 0:\n            x = x * 2.0\n"
        answer = failing.verified([(old, mended)])
        assert answer["verdict"] == expected, answer["reason"]
        assert ("the fixed program itself" in answer["reason"]) == (expected == "fixed")


# A constant row has a variance of rounding alone, which is negative for some in compiled code only.
SPREAD = """\
class Model(torch.nn.Module):
    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = (x * x).mean(-1, keepdim=True) - mean * mean
        return (x - mean) / (torch.sqrt(variance) + 0.1)


def main():
    torch.manual_seed(0)
    model = Model()
    rows = (torch.arange(1, 200).unsqueeze(1) * 0.37).expand(-1, 24).contiguous()
    mean = rows.mean(-1, keepdim=True)
    rows = rows[((rows * rows).mean(-1, keepdim=True) >= mean * mean).squeeze(-1)]
    package = compiled(model, torch.randn(4, 24), x={0: torch.export.Dim("n", min=2, max=512)})
    for x in (torch.randn(6, 24), rows):
        result = package(x)
        if not result.isfinite().all():
            sys.exit("the result is not finite")
        print(result.sum().item())


main()
"""


def test_values_are_not_hidden_where_only_the_compiled_code_gives_them(
    warm_python, tmp_path: Path
) -> None:
    failing = triaged(tmp_path, COMPILED + SPREAD, warm_python)
    for change, expected in (
        ("torch.sqrt(variance).nan_to_num()", "masked"),
        ("torch.sqrt(variance.clamp_min(0.0))", "fixed"),
    ):
        answer = failing.verified([("torch.sqrt(variance)", change)])
        assert answer["verdict"] == expected, answer["reason"]
        assert ("nan_to_num" in answer["reason"]) == (expected == "masked")


REUSED = """\
class Model(torch.nn.Module):
    def forward(self, x):
        return x[:, :4], torch.softmax(x, -1)


def main():
    torch.manual_seed(0)
    model = Model()
    package = compiled(model, torch.randn(8, 16))
    buffer = torch.randn(8, 16)
    expected = [one.clone() for one in model(buffer)]
    head, weights = package(buffer)
    buffer.zero_()
    if not torch.allclose(head, expected[0]) or not torch.allclose(weights, expected[1]):
        sys.exit("the results are not those of eager")


main()
"""


def test_a_fix_of_results_in_memory_that_is_used_again_and_one_of_its_check(
    warm_python, tmp_path: Path
) -> None:
    failing = triaged(tmp_path, COMPILED + REUSED, warm_python)
    zeroed = "    buffer.zero_()\n"
    hidden = ("masked", "not fixed")
    for old, new, verdicts in (
        (zeroed, f"    head = head.clone()\n{zeroed}", ("fixed",)),
        (zeroed, f"{zeroed}    expected[0].copy_(head)\n", hidden),
        (zeroed, f"{zeroed}    expected = [head.clone(), weights.clone()]\n", hidden),
        ("\n\nmain()\n", "\n\ntry:\n    main()\nexcept SystemExit:\n    pass\n", hidden),
    ):
        answer = failing.verified([(old, new)])
        assert answer["verdict"] in verdicts, answer.get("reason") or answer


def test_a_target_whose_tree_is_patched_finds_its_modules_in_the_copy(
    tree: Path, tmp_path: Path
) -> None:
    for name in ("lib", ".venv"):
        (tree / name).mkdir()
    elsewhere = str(tmp_path / "elsewhere")
    words = ("python", "model.py", str(tree / "fixed.py"), "--out", str(tree / ".venv"))
    paths = os.pathsep.join([str(tree / "lib"), elsewhere, "lib"])
    target = Target(words, tree, {"PYTHONPATH": paths, "PWD": str(tree)}, "model.py", None)
    root = tmp_path / "copy"
    found, changed = patched_target(target, PLAIN, root)
    copied = (str(root / "model.py"), str(root / "fixed.py"), "--out", str(tree / ".venv"))
    assert found.argv[1:] == copied and found.cwd == root and changed == ["model.py"]
    assert found.env["PYTHONPATH"].split(os.pathsep) == [str(root / "lib"), elsewhere, "lib"]


def test_operators_are_imported_from_where_the_script_had_them(tmp_path: Path) -> None:
    fixed, original = tmp_path / "fixed", tmp_path / "original"
    place = fixed / "lib" / "store" / "ops.py"
    names = [{"module": "store.ops", "file": str(place), "ops": ["store::look_up"]}]
    seen = events({"event": "custom_ops", "namespaces": names, "libraries": []})
    call = with_custom_ops(Captured(), seen)
    script = fixed / "model.py"
    script.parent.mkdir()
    script.touch()
    target = Target(("python", str(script)), original, {}, "model.py", None)
    words = context_arguments(call, target)
    folders = [folder for word, folder in pairwise(words) if word == "--import-path"]
    assert folders == [str(fixed), str(fixed / "lib"), str(original)]
