"""What a fix may do to a model: fresh inputs come from all that the original accepts, whatever its
inputs are called now, and what is refused, narrowed or changed is no fix."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import aoti_debug.probe
import pytest
from aoti_debug.read.typed import take
from aoti_debug.verify.judge import Trial
from aoti_debug.vocabulary import Fingerprint
from verify.facts import gone, verdict

PROBE = Path(aoti_debug.probe.__file__).parent
# Each program stands for the package that is made of it: what is compiled is not the subject here.
PROGRAMS = """
import json, sys

import torch

sys.path.insert(0, FOLDER)
from probe import changed, correspondence, held_out, refusals, standalone, tables

Dim = torch.export.Dim


def part(x):
    return x / x.sum(-1, keepdim=True)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table = torch.nn.Embedding(1000, 8)
        self.small = torch.nn.Embedding(10, 8)
        self.out = torch.nn.Linear(8, 4)

    def ids(self, ids):
        return self.out(self.table(ids))

    def renamed(self, tokens):
        return self.out(self.table(tokens))

    def last_for_others(self, ids):
        return self.out(self.table(ids.clamp(0, 999)))

    def another_row(self, ids):
        table = torch.nn.functional.pad(self.table.weight, (0, 0, 0, 1))
        return self.out(torch.nn.functional.embedding(ids.clamp(max=1000), table))

    def mean(self, x, scale):
        return x.mean(1, keepdim=True) * scale

    def mean_of_some(self, scale, rows, mask, count):
        return (rows * mask).sum(1, keepdim=True) / count * scale

    def mean_of_all(self, scale, rows, mask, count):
        return rows.mean(1, keepdim=True) * scale + 0.0 * (mask.sum() + count.sum())

    def clamped(self, ids):
        return self.out(self.table(ids.clamp(0, 99)))

    def refusing(self, ids):
        torch._assert_async((ids == 1000).any() | (ids == 7).any(), "no")
        return self.out(self.table(ids.clamp(0, 999)))

    def last_row(self, ids):
        return self.out(self.table(torch.where(ids == 999, 998, ids.clamp(0, 999))))

    def columns(self, ids):
        return self.small(ids[:, 0]) + self.table(ids[:, 1])

    def columns_right(self, ids):
        return self.small(ids[:, 0].clamp(0, 9)) + self.table(ids[:, 1].clamp(0, 999))

    def columns_clamped(self, ids):
        return self.small(ids[:, 0].clamp(0, 9)) + self.table(ids[:, 1].clamp(0, 499))

    def floats(self, x):
        return torch.tanh(x) * x

    def bounded(self, x):
        return torch.tanh(x) * x.clamp(-20.0, 20.0)

    def floats_right(self, x):
        return x * torch.tanh(x)

    def floats_of_columns(self, columns):
        return torch.tanh(columns.t()) * columns.t()

    def above(self, x):
        return torch.where(x > 3.5, 0.0, torch.tanh(x) * x)

    def two(self, x, y):
        return x.sum(0) + y.sum(0)

    def log(self, x):
        return torch.log(part(x))

    def log_right(self, x):
        return torch.log(part(x).clamp_min(1e-30))

    def entropy(self, x):
        p = part(x)
        return p * torch.log(p)

    def entropy_where(self, x):
        p = part(x)
        return torch.where(p > 0, p * torch.log(p), 0.0)

    def entropy_xlogy(self, x):
        p = part(x)
        return torch.special.xlogy(p, p)

    def entropy_hidden(self, x):
        p = part(x)
        p = p * torch.log(p)
        return torch.where(p == p, p, 0.0)

    def entropy_of_a_place(self, x):
        p = part(x)
        return torch.where((p == 0) & (torch.arange(8) == 3), 0.0, p * torch.log(p))

    def entropy_of_a_value(self, x):
        p = part(x)
        return torch.where((p == 0) & (x[:, :1] == 0.75), 0.0, p * torch.log(p))

    def modulo(self, ids):
        return self.out(self.table(ids % 1000))

    def one_index(self, ids):
        return self.out(self.table(torch.where(ids == 1000, 0, ids)))

    def counts(self, counts):
        return torch.repeat_interleave(torch.arange(4, device=counts.device), counts, output_size=8)

    def scores(self, flags, x):
        return torch.where(flags, x, -x)

    def scores_wrong(self, flags, x):
        return torch.where(flags.any(), x, -x)


def export(name, shapes, *args):
    one = type("One", (Model,), {"forward": vars(Model)[name]})()
    return torch.export.export(one, args, dynamic_shapes=shapes)


def variant(key, name, shapes=None, args=None):
    args = args or EXAMPLES[key]
    return key, export(name, shapes or ({0: N},) * len(args), *args)


def called(*flat):
    return held_out.Inputs(flat, {}, list(flat), [], False, False)


def paired(was, now, *calls):
    match = correspondence.Correspondence(was, now, *(calls or [[]]))
    return match, held_out.Pair(was, now, match)


N = Dim("n", min=2, max=4096)
ids, x = torch.arange(4), torch.randn(4, 8)
pairs = torch.tensor([[1, 2], [3, 4], [5, 6]])
flags = torch.tensor([True, False, True, True])
EXAMPLES = {
    "ids": (ids,),
    "columns": (pairs,),
    "floats": (x,),
    "log": (x.abs() + 0.1,),
    "entropy": (x.abs() + 0.1,),
    "scores": (flags, x[:, 0]),
    "mean": (x[:, :4], x[:, :1]),
    "two": (x, x.clone()),
}
old = {key: variant(key, key)[1] for key in EXAMPLES if key != "two"}
free = {0: Dim("a", max=64)}, {0: Dim("b", max=64)}
old["two"] = variant("two", "two", free)[1]
some, padded = torch.ones(4, 6), torch.nn.functional.pad(x[:, :4], (0, 2))
some[:, 4:] = 0.0
given_now = x[:, :1], padded, some, torch.full((4, 1), 4)
few, M = Dim("m", min=2, max=96), Dim("m", min=2, max=8192)
turned = (x.t().contiguous(),)
variants = {
    "right, another name": ("ids", "renamed", ({0: M},)),
    "right, columns": ("columns", "columns_right"),
    "right, floats": ("floats", "floats_right"),
    "right, transposed": ("floats", "floats_of_columns", ({1: N},), turned),
    "transposed, fewer sizes": ("floats", "floats_of_columns", ({1: few},), turned),
    "right, double": ("ids", "renamed", None, (ids.int(),)),
    "right, log": ("log", "log_right"),
    "right, where": ("entropy", "entropy_where"),
    "right, xlogy": ("entropy", "entropy_xlogy"),
    "hidden": ("entropy", "entropy_hidden"),
    "a place": ("entropy", "entropy_of_a_place"),
    "a value": ("entropy", "entropy_of_a_value"),
    "right, padded": ("mean", "mean_of_some", None, given_now),
    "mask ignored": ("mean", "mean_of_all", None, given_now),
    "the last row for others": ("ids", "last_for_others"),
    "a row of zeros": ("ids", "another_row"),
    "modulo": ("ids", "modulo"),
    "one index": ("ids", "one_index"),
    "rows cut": ("ids", "clamped"),
    "all but one refused": ("ids", "refusing", None, (torch.tensor([7, 1, 2, 3]),)),
    "fewer sizes": ("ids", "renamed", ({0: few},)),
    "one size": ("ids", "renamed", (None,)),
    "even sizes": ("ids", "renamed", ({0: 2 * Dim("h", min=1, max=4096)},)),
    "last row": ("ids", "last_row"),
    "a column cut": ("columns", "columns_clamped"),
    "bounded": ("floats", "bounded"),
    "above": ("floats", "above"),
    "sizes tied": ("two", "two"),
    "any": ("scores", "scores_wrong"),
}
new = {name: variant(*one) for name, one in variants.items()}
edge = x.abs() + 0.1
edge[1, 3], edge[1, 0] = 0.0, 0.75
failing = {"entropy": edge, "ids": torch.tensor([5, 1000, 3, 7, 2])}
report = standalone.Report(None)
for name, (key, program) in new.items():
    one = old[key]
    given = called(failing[key]) if key in failing else None
    calls = [([x[:, :4], x[:, :1]], list(given_now))] if key == "mean" else []
    calls = [([x], [x.t()])] if "transposed" in name else calls
    match, pair = paired(one, program, calls)
    model = lambda: pair.plain_new
    drawn = held_out.drawn_for(match, one, program, given)
    found = [
        {"name": title, **pair.tried(model, inputs)}
        for title, inputs in [("the failing call", given), *held_out.held_out(one, drawn, 3)]
        if inputs is not None
    ]
    like = pair.alike(drawn, given) if given is not None else []
    near = pair.near(model, drawn, given, like, report) if like else {}
    narrowed = changed.narrowed(one, program, match.places())
    said = {"narrowed": narrowed, "hiding": changed.hiding(one, program)}
    said.update(case=name, of=key, trials=found, **near)
    print(json.dumps(said, default=str), flush=True)

rows = "def table():\\n    return {4000 + 10 * row: row for row in range(8)}\\n"
with open(sys.argv[1], "w") as file:
    json.dump(["def table():\\n    return open\\n", rows], file)
drawn = held_out.drawn_for(match, old["ids"], old["ids"], None)
before = torch.tensor([5, 4020, 3, 4070])
for name, now in {
    "rows of a table": [5, 2, 3, 7],
    "another row": [5, 2, 3, 6],
    "one left": [5, 2, 3, 4070],
    "a legal one changed": [5, 2, 4, 7],
}.items():
    found = tables.looked_up(sys.argv[1], drawn, [before], [torch.tensor(now)])
    corrected = tables.corrected(drawn, [before], [torch.tensor(now)])
    told = {"case": name, "looked_up": found, "corrected": corrected}
    print(json.dumps(told), flush=True)
for name, now in {
    "dropped, the bad rows": [5, 3, 8],
    "dropped, all": [8, 9, 1, 2],
    "dropped, a good row": [5, 8, 9, 1],
}.items():
    found = refusals.drops(drawn, [before], [torch.tensor(now)])
    print(json.dumps({"case": name, "drops": found}), flush=True)


def nearer(key, leaf):
    given = called(leaf)
    match, pair = paired(old[key], old[key])
    drawn = held_out.drawn_for(match, old[key], old[key], given)
    return [one.flat[0] for one in pair.nearer(drawn, given)]


found = {
    "indices": [one.tolist() for one in nearer("ids", torch.tensor([5, 50000, 3, -7]))],
    "sizes": [len(one) for one in nearer("ids", torch.zeros(9000, dtype=torch.int64))],
    "floats": [round(float(one[1, 0]), 4) for one in nearer("entropy", edge)],
}
print(json.dumps({"case": "nearer", **found}), flush=True)

linear = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
standalone.give(linear, {"bias": torch.full((1, 3), 7.0), "weight": torch.ones(3, 3)})
print(json.dumps({"case": "given", "bias": linear.state_dict["bias"].tolist()}), flush=True)


class Level(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("level", torch.zeros(4))

    def forward(self, x):
        self.level.mul_(0.5).add_(x)
        return self.level * 1.0, x.sum() > 0


class Given(torch.nn.Module):  # a session's state, by its caller
    def __init__(self, of):
        super().__init__()
        self.of = of

    def forward(self, x, level):
        level = level * self.of + x
        return level * 1.0, x.sum() > 0, level


one, other, again = torch.randn(3, 4)
was = torch.export.export(Level(), (one,))
first = [[one, torch.zeros(4)], [other, torch.zeros(4)], [again, one]]  # two sessions take turns
for name, of in (("by turns", 0.5), ("another state", 0.25)):
    now = torch.export.export(Given(of), (one, other))
    pair = paired(was, now, [([one], first[0])], first)[1]
    found = pair.tried(lambda: pair.plain_new, called(one), None, [called(again)])
    print(json.dumps({"case": name, **found}, default=str), flush=True)


class Step(torch.nn.Module):
    def forward(self, x, dt):
        return x + dt * x


step, half = Step(), torch.tensor(0.5)
was, now = (torch.export.export(step, (one, dt)) for dt in (0.25, torch.tensor(0.25)))
pair = paired(was, now, [([one, 0.5], [one, half])])[1]
found = pair.tried(lambda: pair.plain_new, called(one, 0.5))
near = changed.differ([torch.tensor([1000])], [torch.tensor([999])])  # integers are exact
differ = changed.differ([0.5], [half]), changed.differ([0.25], [half]), near
print(json.dumps({"case": "a number", "differ": differ, **found}, default=str))

imaginary, expanded = torch.fft.fft(torch.randn(4, 8)).imag, torch.randn(1, 8).expand(4, 8)
was = export("two", None, imaginary, expanded)
match, pair = paired(was, was)
strides = []


def package(*args):
    strides.append([leaf.stride() for leaf in args])
    return pair.plain_new(*args)


drawn = held_out.drawn_for(match, was, was, None)
for _, inputs in held_out.held_out(was, drawn, 1):
    pair.tried(lambda: package, inputs)
print(json.dumps({"case": "laid out", "strides": strides}))
"""


@pytest.fixture(scope="module")
def cases(warm_python, tmp_path_factory) -> dict[str, Any]:
    script = tmp_path_factory.mktemp("held-out") / "programs.py"
    script.write_text(PROGRAMS.replace("FOLDER", repr(str(PROBE.parent))))
    words = [warm_python, str(script), str(script.with_name("tables.json"))]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return {case["case"]: case for case in map(json.loads, ran.stdout.splitlines())}


def verdict_on_change(case: dict[str, Any]) -> str:
    """Judge a change of a model of PROGRAMS, whose failure is gone."""
    trials, near = (
        tuple(take(Trial, one) for one in case.get(kind, ())) for kind in ("trials", "near")
    )
    assert len(trials) in (7, 8), [trial.name for trial in trials]
    facts = gone(
        Fingerprint("run", "assert"),
        "nan_or_inf" if case["of"] == "entropy" else "index_out_of_bounds",
        call=1,
        kernels_before=1,
        kernels=1,
        trials=trials,
        near=near,
        invented=case.get("invented", False),
        narrowed=tuple(case["narrowed"]),
        hiding=tuple(case["hiding"]),
    )
    return verdict(facts)


def test_what_is_refused_is_tried_just_beyond_what_the_original_computes(cases) -> None:
    near = cases["nearer"]
    assert near["indices"] == [[5, 1000, 3, -1]]
    assert near["sizes"] == [4097]
    assert near["floats"] == [0.075, 0.0075]


def test_the_package_is_given_the_strides_that_it_was_compiled_for(cases) -> None:
    strides = cases["laid out"]["strides"]
    assert len(strides) > 1
    assert all(one == [[16, 2], [0, 1]] for one in strides), strides


def test_a_model_that_refuses_narrows_or_changes_anything_is_not_fixed_and_all_others_are(
    cases,
) -> None:
    verdicts = {name: verdict_on_change(case) for name, case in cases.items() if "of" in case}
    assert len(verdicts) == 29
    right = [name for name in verdicts if name.startswith("right, ")]
    assert [name for name, given in verdicts.items() if given == "fixed"] == right


def test_only_a_table_of_the_script_tells_which_row_an_index_out_of_bounds_is(cases) -> None:
    told = {name: case["looked_up"] for name, case in cases.items() if "looked_up" in case}
    assert [name for name, found in told.items() if found] == ["rows of a table"]
    assert len(told) == 4
    corrected = [name for name, case in cases.items() if case.get("corrected")]
    assert corrected == ["rows of a table", "another row"]


def test_the_legal_rows_beside_one_that_is_refused_are_not_dropped(cases) -> None:
    told = {name: case["drops"] for name, case in cases.items() if "drops" in case}
    assert [name for name, found in told.items() if found] == ["dropped, a good row"]
    assert len(told) == 3


OPERATORS = """
import torch
from parts import half

@torch.library.custom_op("shop::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return half(x) * 2.0

@scale.register_fake
def _(x):
    return torch.empty_like(x)

library = torch.library.Library("store", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2.0, "CPU")
torch.library.register_fake("store::twice", lambda x: torch.empty_like(x), lib=library)
"""
TAKEN = """
import sys

sys.path.insert(0, PROBE)
from probe import originals

taken = originals.taken([BEFORE])
import torch

assert not hasattr(torch.ops.shop, "scale") and "parts" not in sys.modules
sys.path.insert(0, AFTER)
import ops
"""
OF_OPERATORS = """
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.shop.scale(x) + torch.ops.store.twice(x)

x = torch.arange(4.0)
program = torch.export.export(Model(), (x,))
originals.register(taken)
now = program.module()(x)
originals.put(program, taken)
print([(now / x)[1:].tolist(), (program.module()(x) / x)[1:].tolist()])
"""


def of_operators(python: str, root: Path, program: str, **folders: dict[str, str]) -> Any:
    """Return what a program prints that is given the operators before and after a fix."""
    for folder, modules in folders.items():
        (root / folder).mkdir()
        for name, text in modules.items():
            (root / folder / f"{name}.py").write_text(text)
    words = TAKEN.replace("PROBE", repr(str(PROBE.parent))) + program
    words = words.replace("BEFORE", repr(str(root / "before" / "ops.py")))
    words = words.replace("AFTER", repr(str(root / "after")))
    ran = subprocess.run([python, "-c", words], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_original_computes_with_its_own_operators(warm_python, tmp_path: Path) -> None:
    half = "def half(x):\n    return x * "
    before = {"ops": OPERATORS, "parts": half + "1.5"}
    after = {"ops": OPERATORS.replace("x * 2.0", "x * 7.0"), "parts": half + "5.0"}
    found = of_operators(warm_python, tmp_path, OF_OPERATORS, before=before, after=after)
    assert found == [[17.0] * 3, [5.0] * 3]


SHORT = """
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.shop.head(x)

program = torch.export.export(Model(), (torch.arange(6.0),))
originals.put(program, taken)
print(program.module()(torch.arange(6.0)).tolist())
"""
HEAD = """
import torch

@torch.library.custom_op("shop::head", mutates_args=())
def head(x: torch.Tensor) -> torch.Tensor:
    n = x.shape[0] // 2
    return RETURNED

@head.register_fake
def _(x):
    return torch.empty_like(x)
"""


@pytest.mark.parametrize(
    ("returned", "elements"),
    [
        ("x * 2.0", 6),
        ("torch.cat([x[:n] * 2.0, torch.zeros_like(x[n:])])", 3),
        ("x * 3.0", 3),
        ("x[: n + 1] * 2.0", 3),
    ],
)
def test_the_rest_of_a_result_that_was_too_short_is_that_of_the_operator_as_it_is(
    warm_python, tmp_path: Path, returned: str, elements: int
) -> None:
    before, after = ({"ops": HEAD.replace("RETURNED", one)} for one in ("x[:n] * 2.0", returned))
    found = of_operators(warm_python, tmp_path, SHORT, before=before, after=after)
    assert found == [2.0 * n for n in range(elements)]


def test_a_weight_is_given_whatever_its_dimensions_of_one_element(cases) -> None:
    assert cases["given"]["bias"] == [7.0, 7.0, 7.0]


def test_a_state_that_the_caller_gives_may_be_that_of_sessions_that_take_turns(cases) -> None:
    assert cases["by turns"]["model"] == cases["by turns"]["package"] == "agrees"
    assert (cases["another state"]["model"], cases["another state"]["call"]) == ("differs", 2)


def test_a_number_that_became_a_tensor_is_the_same_input_and_no_more_that_of_the_example(
    cases,
) -> None:
    found = cases["a number"]
    assert found["differ"] == ["", *["input 0 has other values"] * 2]
    assert (found["other_constant"], found["still_other_constant"]) == ("dt = 0.25", "")
    trial = take(Trial, {**found, "name": "the failing call"})
    known: dict[str, Any] = {"trials": (trial,), "call": 1, "kernels": 1}
    facts = gone(Fingerprint("run", "user_code"), "contract_argument", **known)
    assert verdict(facts) == "fixed"
    still = replace(trial, still_other_constant="dt = 0.25")
    assert verdict(facts, trials=(still,)) == "not fixed"
