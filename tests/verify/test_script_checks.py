"""What a fix changed of the checks that its script makes, by the source alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aoti_debug.triage.script_files import keep_sources, kept_sources, script_files
from aoti_debug.verify.script_checks import Changes, changes, made, without_others
from programs import changed

SCRIPT = """
import sys
import torch

ROWS = 50


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.log(x)

    def expected(self, x):
        return x.log2() * 0.7


def finite(result):
    return torch.isfinite(result).all()


def main(compiled):
    model, wrong = Model(), []
    for i, x in enumerate(requests()):
        if x.numel() > ROWS:
            raise ValueError(i)
        got, want = compiled(x), model.expected(x)
        assert finite(got), i
        if not torch.allclose(got, want, atol=1e-4):
            wrong.append(i)
    if wrong:
        return 1
    return 0


def requests():
    return [torch.rand(4)]


sys.exit(main(torch._inductor.aoti_load_package("model.pt2")))
"""
CALL = "got, want = compiled(x), model.expected(x)\n"
CHECK = "if not torch.allclose(got, want, atol=1e-4):"
COLLECT = "            wrong.append(i)"
WEAKER = (
    (".all()", ".any()"),
    ("assert finite(got), i", "assert i == 2 or finite(got)"),
    ("        assert finite(got), i", "        if i != 2:\n            assert finite(got), i"),
    ("        assert finite(got), i\n", ""),
    ("atol=1e-4", "atol=1e4"),
    (CHECK, CHECK.replace("if not", "if i > 3 and not")),
    ("compiled(x), model", "compiled(x).nan_to_num(), model"),
    ("compiled(x), model", "compiled(x) * 0.8, model"),
    ("model.expected(x)\n", "compiled(x)\n"),
    (CALL, f"{CALL}        got = want\n"),
    (CALL, f"{CALL}        got[got != got] = 0.0\n"),
    ("ROWS = 50", "torch.isfinite = lambda x: x == x"),
    (COLLECT, f"            if ROWS > 50:\n    {COLLECT}"),
    ("        return 1", "        return 0"),
    ("    if wrong:", "    if len(wrong) > 3:"),
    ("ROWS = 50", "import os, atexit\natexit.register(os._exit, 0)"),
    ("ROWS = 50", "setattr(torch, 'allclose', print)"),
    ("atol=1e-4", "atol=1e-4, rtol=2.0"),
    ("atol=1e-4", "atol=1e-4, equal_nan=True"),
)
SAME = (
    ("return torch.log(x)", "return torch.log(x.clamp_min(1e-9))"),
    ("compiled(x), model", "compiled(x.contiguous()), model"),
    (CALL, f"x = x.contiguous()\n        {CALL}"),
    (CALL, CALL.replace("compiled(x)", "compiled(x.float()).clone()")),
    ("if x.numel() > ROWS", "if x.numel() >= ROWS or x.dim() > 1"),
    (CALL, f"{CALL}        got = torch.tensor(got)\n"),
    (CALL, "own = compiled(x)\n        got, want = own.clone(), model.expected(x)\n"),
    (CALL, f"if x.numel() > 7:\n            raise ValueError(i)\n        {CALL}"),
)


def fixed(script: str, *replaced: tuple[str, str]) -> Changes:
    """Return what a fix changes that replaces these texts, each of one place."""
    return changes([script], [changed(script, replaced)])


def test_a_package_may_be_given_its_inputs_by_another_name() -> None:
    before = """
def main():
    compiled = load_package('model.pt2')
    staging = requests()[0]
    got = compiled(staging)
    assert torch.equal(got, staging)
"""
    other = ("compiled(staging)", "compiled(other)")
    assert not fixed(before, other).weakened
    assert fixed(before.replace("load_", ""), other).weakened


def test_what_is_added_to_the_results_that_a_check_looks_at_is_followed() -> None:
    before = """
def main():
    compiled, kept = load_package(), []
    for x in requests():
        got = compiled(x)
        kept.append(got)
    assert equal(kept, model(x))
"""
    for added, weakened in (("got.clone()", False), ("model(x)", True), ("got.clamp(0)", True)):
        assert bool(fixed(before, ("append(got)", f"append({added})")).weakened) is weakened, added


def test_the_tables_of_a_script_are_found_unless_the_fix_bounds_values() -> None:
    script = SCRIPT.replace("ROWS = 50", "ROWS = 50\nCODES = [100 + 7 * k for k in range(ROWS)]")
    found: list[Any] = []
    for source in fixed(script).tables:
        known: dict[str, Any] = {}
        exec(source, known)
        found.append(known["table"]())
    assert [100 + 7 * k for k in range(50)] in found
    assert fixed(script, ("compiled(x)", "compiled(x.clamp(0, 9))")).tables == ()


@pytest.mark.parametrize(("old", "new"), SAME)
def test_an_untouched_check_is_as_before(old: str, new: str) -> None:
    assert not fixed(SCRIPT, (old, new)).weakened


@pytest.mark.parametrize(("old", "new"), WEAKER)
def test_a_check_that_is_gone_looks_elsewhere_or_asks_for_less_is_told(old: str, new: str) -> None:
    assert fixed(SCRIPT, (old, new)).weakened


def test_a_check_tells_what_is_right_if_its_other_side_is_kept() -> None:
    assert fixed(SCRIPT, ("return torch.log(x)", "return torch.log2(x) * 0.7")).compared
    assert not fixed(SCRIPT, ("* 0.7", "* 0.9")).compared
    assert not fixed(SCRIPT, ("[torch.rand(4)]", "[torch.ones(4)]")).compared


REFUSALS = (
    ("if int(x.max()) >= ROWS:\n            raise ValueError(i)", True, False),
    ("if x.isnan().any():\n            print('refused', i)\n            continue", True, False),
    ("if x.isnan().any():\n            continue", False, False),
    ("if i == 3:\n            print('refused', i)\n            continue", True, True),
    ("if torch.equal(x, torch.ones(4)):\n            raise ValueError(i)", True, True),
)


@pytest.mark.parametrize(("text", "told", "special"), REFUSALS)
def test_a_refusal_is_told_and_asks_for_a_kind_of_value(
    text: str, told: bool, special: bool
) -> None:
    [refusal] = fixed(SCRIPT, (CALL, f"{text}\n        {CALL}")).refusals
    assert (refusal.told, refusal.special) == (told, special)
    if not special:
        assert refusal.name == "x" and "def refused(x):" in refusal.condition


def test_a_refusal_outside_of_functions_is_one_of_the_name_that_it_asks() -> None:
    given = "import torch\nx = torch.randn(6, 8)\nmodel(x)\n"
    refusing = "if x.shape[0] > 5:\n    raise ValueError('at most 5 rows')\nmodel"
    [refusal] = fixed(given, ("model", refusing)).refusals
    assert (refusal.name, "def refused(x):" in refusal.condition) == ("x", True)


@pytest.mark.parametrize(
    "refusing", ["if x.max() > 50:\n        raise ValueError(x)", "assert not x.max() > 50"]
)
def test_a_parameter_is_not_what_the_module_calls_so_and_an_assertion_is_a_refusal(
    refusing: str,
) -> None:
    given = "import torch\nx = torch.tensor([1, 2, 77])\nmodel(x)\n"
    call = f"def call(x):\n    {refusing}\n    return model(x)\ncall(x)"
    [refusal] = fixed(given, ("model(x)", call)).refusals
    assert refusal.name == "x" and refusal.told
    found: dict[str, Any] = {}
    exec(refusal.condition, found)
    assert found["refused"](torch_like(77)) and not found["refused"](torch_like(50))


def torch_like(largest: int) -> Any:
    return SimpleNamespace(max=lambda: largest)


def test_an_error_that_is_swallowed_is_not_told() -> None:
    checked = (
        "def checked(x):\n    if int(x.max()) >= ROWS:\n        raise ValueError(x)\n\n\ndef req"
    )
    for handled, told in (("pass", False), ("print(i)", True), ("raise", True)):
        call = f"try:\n            checked(x)\n        except ValueError:\n            {handled}\n"
        defined = ("def req", checked)
        [refusal] = fixed(SCRIPT, defined, (CALL, f"{call}        {CALL}")).refusals
        assert refusal.told is told


def test_a_file_that_no_python_reads_hides_no_check() -> None:
    without = SCRIPT.replace("assert finite(got), i", "pass")
    assert changes([SCRIPT], [without, "print 'two'"]).weakened
    assert changes([SCRIPT, "print 'two'"], [without, "print 'two'"]).weakened
    assert not changes([SCRIPT, "print 'two'"], [SCRIPT, "print 'two'"]).weakened


def test_a_fix_in_the_place_of_the_script_is_held_against_what_the_run_kept(tmp_path: Path) -> None:
    run, tree = tmp_path / "run", tmp_path / "tree"
    run.mkdir()
    (tree / "parts").mkdir(parents=True)
    script, part = tree / "main.py", tree / "parts" / "judge.py"
    script.write_text("from parts import judge\nimport json\njudge.main(compiled)\n")
    part.write_text(SCRIPT)
    (tree / "other.py").write_text(SCRIPT)  # which the script does not import
    keep_sources(run, script, tree)
    part.write_text(SCRIPT.replace("assert finite(got), i", "pass"))
    kept = kept_sources(run).values()
    assert changes(kept, script_files(script, tree).values()).weakened
    part.write_text(SCRIPT)
    assert not changes(kept, script_files(script, tree).values()).weakened
    assert [*script_files(script, tree)] == ["main.py", "parts/judge.py"]
    assert (run / "sources.json").stat().st_mode & 0o077 == 0


def test_of_the_checks_that_end_a_script_one_can_be_left_alone() -> None:
    line = next(n for n, text in enumerate(SCRIPT.splitlines(), 1) if "assert finite" in text)
    [failed] = [one.test for one in made([SCRIPT]) if one.lines[0] <= line <= one.lines[1]]
    more = """
        assert torch.allclose(
            got, want), 'é'; assert got.sum() > 0
        torch.testing.assert_close(got, want)
        if got.isnan().any():
            raise ValueError
"""
    left = without_others(SCRIPT.replace(CALL, CALL + more), [failed])
    assert "assert finite(got), i" in left and "if x.numel() > ROWS" in left
    assert "assert True, 'é'; assert True\n        None\n        if False:\n" in left
    assert "if not torch.allclose(got, want, atol=1e-4):" in left, "it only collects"


LEFT, RIGHT = "torch.equal(x, a)", "torch.equal(x, b)"


@pytest.mark.parametrize(
    ("joined", "first", "second"),
    [
        (f"not {LEFT} or not {RIGHT}", f"not {LEFT} or False", f"False or not {RIGHT}"),
        (f"not ({LEFT} and {RIGHT})", f"not ({LEFT} and True)", f"not (True and {RIGHT})"),
    ],
)
def test_of_a_check_of_several_parts_one_can_be_left_alone(
    joined: str, first: str, second: str
) -> None:
    script = f"x = compiled(y)\nif {joined}:\n    raise ValueError\n"
    [check] = made([script])
    for part, left in enumerate((first, second)):
        assert f"if {left}:" in without_others(script, [check.test], part)


ROWS = """
NAMES = ("a", "b", "c")
IDS = {name: place for place, name in enumerate(NAMES)}
DATA = [{"name": "a", "id": 0}, {"name": "b", "id": 9}, {"name": "b", "id": 1}]


def problem(row):
    if row["size"] < 0:
        return "no size"


def encode(rows):
    return torch.tensor([row["id"] for row in rows])
"""
OWN = 'row["id"] for'


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        ('"id": 9', '"id": 1', True),
        ('"id": 9', '"id": 2', False),
        (OWN, 'IDS[row["name"]] for', True),
        (OWN, 'NAMES.index(row["name"]) for', True),
        (OWN, 'IDS["a"] for', False),
        (OWN, 'IDS.get(row["name"], 0) for', False),
        (OWN, 'min(row["id"], len(IDS) - 1) for', False),
        (OWN, '(row["id"] if row["id"] in IDS else IDS[row["name"]]) for', False),
        (OWN, 'row["id"] % 3 for', False),
    ],
)
def test_a_bad_value_may_be_what_the_script_itself_has_for_it(
    old: str, new: str, right: bool
) -> None:
    assert fixed(ROWS, (old, new)).corrects is right


def test_a_row_may_be_refused_by_a_table_and_with_a_reason_as_others_are() -> None:
    for test, asked in (('IDS.get(row["name"]) != row["id"]', True), ('row["name"] == "b"', False)):
        reason = f'    if {test}:\n        return "another id"\n'
        [refusal] = fixed(ROWS, ("\n\n\ndef enc", f"\n{reason}\n\ndef enc")).refusals
        assert refusal.told and (refusal.ordered and not refusal.special) is asked


SHOP = """
UNKNOWN = 0
ROWS = {"books": 1, "toys": 2}
FEED = ["books", "pens"]


def encode(names):
    return torch.tensor([ROWS.get(name, len(ROWS) + 1) for name in names])


class Ranker(torch.nn.Module):
    def forward(self, ids):
        return self.table(ids)


served = sum(1 for _ in package(encode(FEED)))
if served != len(FEED):
    sys.exit(1)
"""
LAST, TABLE = "len(ROWS) + 1", "self.table(ids)"
INSIDE = "(ids >= 0) & (ids <= len(ROWS))"


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        (LAST, "UNKNOWN", True),
        (TABLE, f"self.table(torch.where({INSIDE}, ids, UNKNOWN))", True),
        (LAST, "len(ROWS)", False),
        (LAST, "UNKNOWN + 1", False),
        (LAST, "sum(map(ord, name)) % 3 or UNKNOWN", False),
        (TABLE, "self.table(ids.clamp(UNKNOWN, 2))", False),
        ('"toys": 2}', '"toys": 2, "pens": UNKNOWN}', False),
        ('"books", "pens"]', '"books"] * (UNKNOWN + 2)', False),
    ],
)
def test_a_bad_value_may_be_what_the_script_has_reserved_for_it(
    old: str, new: str, right: bool
) -> None:
    assert fixed(SHOP, (old, new)).reserved is right


def test_a_refusal_that_is_kept_and_printed_later_is_told_and_a_renamed_check_is_none() -> None:
    kept = """
refused = []
try:
    ids = [ROWS[name] for name in FEED if check(name)]
except ValueError as error:
    refused.append(str(error))
print(refused)
answered = sum(1 for _ in package(ids))
if answered != len(FEED):
    sys.exit(1)


def check(name):
    if name not in ROWS:
        raise ValueError(name)
    return True
"""
    told = SHOP.partition("served =")[0] + kept
    [refusal] = changes([SHOP], [told]).refusals
    assert refusal.text == "name not in ROWS" and refusal.told
    [silent] = changes([SHOP], [told.replace("print(refused)", "")]).refusals
    assert not silent.told


RELEASE = """
TOLERANCE = 1e-4
package = aoti_load_package("m.pt2")


def main(x):
    failed, want = 0, reference(x)
    first, again = package(x), package(x)
    off, drift = (first - want).abs().max(), (again - first).abs().max()
    if off > config.TOLERANCE or drift > 0:
        failed += 1
    if failed:
        return 1


def reference(x):
    return x.double().tanh()
"""


@pytest.mark.parametrize(
    ("old", "new", "weakened"),
    [
        ("1e-4", "5.0", True),
        ("or drift > 0", "and drift > 0", True),
        ("package(x), package(x)", "package(x.clone()), package(x.clone())", False),
        ("failed += 1", "print(off)", True),
    ],
)
def test_a_condition_that_counts_what_fails_is_a_check(old: str, new: str, weakened: bool) -> None:
    found = fixed(RELEASE, (old, new))
    assert bool(found.weakened) is weakened
    assert found.compared is not weakened
    assert not fixed(RELEASE, ("x.double()", "x")).compared


HELD = """
def loaded(path):
    return torch._inductor.aoti_load_package(path)

def reference(model, rows):
    return [model(row) for row in rows]

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))
    def forward(self, x):
        return x * self.scale

def main():
    model, package, rows = Model(), loaded("m.pt2"), data()
    got = [package(row) for row in rows]
    CHECK

def data():
    return [torch.zeros(4)]

def check(package, model, row):
    torch.testing.assert_close(package(row), model(row))
"""
ONE_BY_ONE = """for n, (a, b) in enumerate(zip(got, reference(model, rows))):
        error = (a - b).abs().max()
        assert error < 1e-4, n"""


@pytest.mark.parametrize("made", [ONE_BY_ONE, "check(package, model, rows[0])"])
def test_what_a_check_compares_is_followed_through_loops_errors_and_parameters(made: str) -> None:
    before = HELD.replace("CHECK", made)
    assert fixed(before, ('loaded("m.pt2")', 'loaded("new.pt2")')).compared
    assert not fixed(before, ("x * self.scale", "x")).compared
    assert not fixed(before, ("ones(4)", "zeros(4)")).compared
