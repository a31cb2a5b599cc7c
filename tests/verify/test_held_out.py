"""What a fix may do to a model: fresh inputs come from all that the original accepts, whatever its
inputs are called now, and what is refused, narrowed or changed is no fix."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import aoti_debug.probe
import pytest
from aoti_debug.read.typed import take
from aoti_debug.verify.judge import Trial, judge
from aoti_debug.vocabulary import Fingerprint
from verify.facts import gone

PROBE = Path(aoti_debug.probe.__file__).parent
# Each program stands for the package that is made of it: what is compiled is not the subject here.
PROGRAMS = """
import json, sys

import torch

sys.path.insert(0, {folder!r})
from probe import changed, correspondence, held_out, refusals, standalone, tables

Dim = torch.export.Dim


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
        return torch.log(x / x.sum(-1, keepdim=True))

    def log_right(self, x):
        return torch.log((x / x.sum(-1, keepdim=True)).clamp_min(1e-30))

    def entropy(self, x):
        p = x / x.sum(-1, keepdim=True)
        return p * torch.log(p)

    def entropy_where(self, x):
        p = x / x.sum(-1, keepdim=True)
        return torch.where(p > 0, p * torch.log(p), 0.0)

    def entropy_xlogy(self, x):
        p = x / x.sum(-1, keepdim=True)
        return torch.special.xlogy(p, p)

    def entropy_hidden(self, x):
        p = x / x.sum(-1, keepdim=True)
        p = p * torch.log(p)
        return torch.where(p == p, p, 0.0)

    def entropy_of_a_place(self, x):
        p = x / x.sum(-1, keepdim=True)
        return torch.where((p == 0) & (torch.arange(8) == 3), 0.0, p * torch.log(p))

    def entropy_of_a_value(self, x):
        p = x / x.sum(-1, keepdim=True)
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
    class One(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = Model()

    One.forward = vars(Model)[name]
    one = One.__new__(One)
    torch.nn.Module.__init__(one)
    for key, value in Model().named_children():
        setattr(one, key, value)
    return torch.export.export(one, args, dynamic_shapes=shapes)


N = Dim("n", min=2, max=4096)
ids, x = torch.arange(4), torch.randn(4, 8)
pairs = torch.tensor([[1, 2], [3, 4], [5, 6]])
flags = torch.tensor([True, False, True, True])
old = {{
    "ids": export("ids", ({{0: N}},), ids),
    "columns": export("columns", ({{0: N}},), pairs),
    "floats": export("floats", ({{0: N}},), x),
    "two": export("two", ({{0: Dim("a", max=64)}}, {{0: Dim("b", max=64)}}), x, x.clone()),
    "log": export("log", ({{0: N}},), x.abs() + 0.1),
    "entropy": export("entropy", ({{0: N}},), x.abs() + 0.1),
    "scores": export("scores", ({{0: N}}, {{0: N}}), flags, x[:, 0]),
    "mean": export("mean", ({{0: N}}, {{0: N}}), x[:, :4], x[:, :1]),
}}
some, padded = torch.ones(4, 6), torch.nn.functional.pad(x[:, :4], (0, 2))
some[:, 4:] = 0.0
given_now = x[:, :1], padded, some, torch.full((4, 1), 4)
few, M = Dim("m", min=2, max=96), Dim("m", min=2, max=8192)
new = {{
    "right, another name": ("ids", export("renamed", ({{0: M}},), ids)),
    "right, columns": ("columns", export("columns_right", ({{0: N}},), pairs)),
    "right, floats": ("floats", export("floats_right", ({{0: N}},), x)),
    "right, transposed": ("floats", export("floats_of_columns", ({{1: N}},), x.t().contiguous())),
    "transposed, fewer sizes": (
        "floats", export("floats_of_columns", ({{1: few}},), x.t().contiguous())
    ),
    "right, double": ("ids", export("renamed", ({{0: N}},), ids.int())),
    "right, log": ("log", export("log_right", ({{0: N}},), x.abs() + 0.1)),
    "right, where": ("entropy", export("entropy_where", ({{0: N}},), x.abs() + 0.1)),
    "right, xlogy": ("entropy", export("entropy_xlogy", ({{0: N}},), x.abs() + 0.1)),
    "hidden": ("entropy", export("entropy_hidden", ({{0: N}},), x.abs() + 0.1)),
    "a place": ("entropy", export("entropy_of_a_place", ({{0: N}},), x.abs() + 0.1)),
    "a value": ("entropy", export("entropy_of_a_value", ({{0: N}},), x.abs() + 0.1)),
    "right, padded": ("mean", export("mean_of_some", ({{0: N}},) * 4, *given_now)),
    "mask ignored": ("mean", export("mean_of_all", ({{0: N}},) * 4, *given_now)),
    "the last row for others": ("ids", export("last_for_others", ({{0: N}},), ids)),
    "a row of zeros": ("ids", export("another_row", ({{0: N}},), ids)),
    "modulo": ("ids", export("modulo", ({{0: N}},), ids)),
    "one index": ("ids", export("one_index", ({{0: N}},), ids)),
    "rows cut": ("ids", export("clamped", ({{0: N}},), ids)),
    "all but one refused": ("ids", export("refusing", ({{0: N}},), torch.tensor([7, 1, 2, 3]))),
    "fewer sizes": ("ids", export("renamed", ({{0: few}},), ids)),
    "one size": ("ids", export("renamed", (None,), ids)),
    "even sizes": ("ids", export("renamed", ({{0: 2 * Dim("h", min=1, max=4096)}},), ids)),
    "last row": ("ids", export("last_row", ({{0: N}},), ids)),
    "a column cut": ("columns", export("columns_clamped", ({{0: N}},), pairs)),
    "bounded": ("floats", export("bounded", ({{0: N}},), x)),
    "above": ("floats", export("above", ({{0: N}},), x)),
    "sizes tied": ("two", export("two", ({{0: N}}, {{0: N}}), x, x.clone())),
    "any": ("scores", export("scores_wrong", ({{0: N}}, {{0: N}}), flags, x[:, 0])),
}}
edge = x.abs() + 0.1
edge[1, 3], edge[1, 0] = 0.0, 0.75
failing = {{"entropy": edge, "ids": torch.tensor([5, 1000, 3, 7, 2])}}
report = standalone.Report(None)
for name, (key, program) in new.items():
    one = old[key]
    given = None
    if key in failing:
        given = held_out.Inputs((failing[key],), {{}}, [failing[key]], [], False, False)
    calls = [([x[:, :4], x[:, :1]], list(given_now))] if key == "mean" else []
    calls = [([x], [x.t()])] if "transposed" in name else calls
    match = correspondence.Correspondence(one, program, calls)
    pair = held_out.Pair(one, program, match)
    model = lambda: pair.plain_new
    drawn = held_out.drawn_for(match, one, program, given)
    found = [
        {{"name": title, **pair.tried(model, inputs)}}
        for title, inputs in [("the failing call", given), *held_out.held_out(one, drawn, 3)]
        if inputs is not None
    ]
    like = pair.alike(drawn, given) if given is not None else []
    near = pair.near(model, drawn, given, like, report) if like else {{}}
    narrowed = changed.narrowed(one, program, match.places())
    said = {{"narrowed": narrowed, "hiding": changed.hiding(one, program)}}
    said.update(case=name, of=key, trials=found, **near)
    print(json.dumps(said, default=str), flush=True)

rows = "def table():\\n    return {{4000 + 10 * row: row for row in range(8)}}\\n"
with open(sys.argv[1], "w") as file:
    json.dump(["def table():\\n    return open\\n", rows], file)
drawn = held_out.drawn_for(match, old["ids"], old["ids"], None)
before = torch.tensor([5, 4020, 3, 4070])
for name, now in {{
    "rows of a table": [5, 2, 3, 7],
    "another row": [5, 2, 3, 6],
    "one left": [5, 2, 3, 4070],
    "a legal one changed": [5, 2, 4, 7],
}}.items():
    found = tables.looked_up(sys.argv[1], drawn, [before], [torch.tensor(now)])
    corrected = tables.corrected(drawn, [before], [torch.tensor(now)])
    told = {{"case": name, "looked_up": found, "corrected": corrected}}
    print(json.dumps(told), flush=True)
for name, now in {{
    "dropped, the bad rows": [5, 3, 8],
    "dropped, all": [8, 9, 1, 2],
    "dropped, a good row": [5, 8, 9, 1],
}}.items():
    found = refusals.drops(drawn, [before], [torch.tensor(now)])
    print(json.dumps({{"case": name, "drops": found}}), flush=True)


def nearer(key, leaf):
    given = held_out.Inputs((leaf,), {{}}, [leaf], [], False, False)
    match = correspondence.Correspondence(old[key], old[key], [])
    pair = held_out.Pair(old[key], old[key], match)
    drawn = held_out.drawn_for(match, old[key], old[key], given)
    return [one.flat[0] for one in pair.nearer(drawn, given)]


found = {{
    "indices": [one.tolist() for one in nearer("ids", torch.tensor([5, 50000, 3, -7]))],
    "sizes": [len(one) for one in nearer("ids", torch.zeros(9000, dtype=torch.int64))],
    "floats": [round(float(one[1, 0]), 4) for one in nearer("entropy", edge)],
}}
print(json.dumps({{"case": "nearer", **found}}), flush=True)

linear = torch.export.export(torch.nn.Linear(2, 3), (torch.ones(1, 2),))
standalone.give(linear, {{"bias": torch.full((1, 3), 7.0), "weight": torch.ones(3, 3)}})
print(json.dumps({{"case": "given", "bias": linear.state_dict["bias"].tolist()}}), flush=True)


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


def called(*flat):
    return held_out.Inputs(flat, {{}}, list(flat), [], False, False)


one, other, again = torch.randn(3, 4)
was = torch.export.export(Level(), (one,))
first = [[one, torch.zeros(4)], [other, torch.zeros(4)], [again, one]]  # two sessions take turns
for name, of in (("by turns", 0.5), ("another state", 0.25)):
    now = torch.export.export(Given(of), (one, other))
    match = correspondence.Correspondence(was, now, [([one], first[0])], first)
    pair = held_out.Pair(was, now, match)
    found = pair.tried(lambda: pair.plain_new, called(one), None, [called(again)])
    print(json.dumps({{"case": name, **found}}, default=str), flush=True)


class Step(torch.nn.Module):
    def forward(self, x, dt):
        return x + dt * x


step, half = Step(), torch.tensor(0.5)
was, now = (torch.export.export(step, (one, dt)) for dt in (0.25, torch.tensor(0.25)))
match = correspondence.Correspondence(was, now, [([one, 0.5], [one, half])])
pair = held_out.Pair(was, now, match)
found = pair.tried(lambda: pair.plain_new, called(one, 0.5))
near = changed.differ([torch.tensor([1000])], [torch.tensor([999])])  # integers are exact
differ = changed.differ([0.5], [half]), changed.differ([0.25], [half]), near
print(json.dumps({{"case": "a number", "differ": differ, **found}}, default=str))

imaginary, expanded = torch.fft.fft(torch.randn(4, 8)).imag, torch.randn(1, 8).expand(4, 8)
was = export("two", None, imaginary, expanded)
match = correspondence.Correspondence(was, was, [])
pair, strides = held_out.Pair(was, was, match), []


def package(*args):
    strides.append([leaf.stride() for leaf in args])
    return pair.plain_new(*args)


drawn = held_out.drawn_for(match, was, was, None)
for _, inputs in held_out.held_out(was, drawn, 1):
    pair.tried(lambda: package, inputs)
print(json.dumps({{"case": "laid out", "strides": strides}}))
"""


@pytest.fixture(scope="module")
def cases(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    script = tmp_path_factory.mktemp("held-out") / "programs.py"
    script.write_text(PROGRAMS.format(folder=str(PROBE.parent)))
    words = [warm_python, str(script), str(script.with_name("tables.json"))]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return {case["case"]: case for case in map(json.loads, ran.stdout.splitlines())}


@pytest.fixture(scope="module")
def verdict(cases: dict[str, Any]) -> Callable[[str], str]:
    """Judge a change of a model by its name in PROGRAMS, whose failure is gone."""

    def judged(name: str) -> str:
        case: dict[str, Any] = cases[name]
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
        return judge(facts).verdict

    return judged


def test_what_is_refused_is_tried_just_beyond_what_the_original_computes(
    cases: dict[str, Any],
) -> None:
    near = cases["nearer"]
    assert near["indices"] == [[5, 1000, 3, -1]]
    assert near["sizes"] == [4097]
    assert near["floats"] == [0.075, 0.0075]


def test_the_package_is_given_the_strides_that_it_was_compiled_for(cases: dict[str, Any]) -> None:
    strides = cases["laid out"]["strides"]
    assert len(strides) > 1
    assert all(one == [[16, 2], [0, 1]] for one in strides), strides


RIGHT = (
    "another name",
    "columns",
    "transposed",
    "floats",
    "double",
    "log",
    "where",
    "xlogy",
    "padded",
)
WRONG = tuple(
    "rows cut|all but one refused|fewer sizes|one size|even sizes|last row|a column cut|"
    "bounded|above|sizes tied|any|hidden|a place|a value|modulo|one index|mask ignored|"
    "the last row for others|a row of zeros|transposed, fewer sizes".split("|")
)


@pytest.mark.parametrize("name", RIGHT)
def test_a_model_that_computes_the_same_wherever_the_original_does_is_fixed(
    verdict: Callable[[str], str], name: str
) -> None:
    assert verdict(f"right, {name}") == "fixed"


@pytest.mark.parametrize("name", WRONG)
def test_a_model_that_refuses_narrows_or_changes_anything_is_not(
    verdict: Callable[[str], str], name: str
) -> None:
    assert verdict(name) != "fixed"


def test_only_a_table_of_the_script_tells_which_row_an_index_out_of_bounds_is(
    cases: dict[str, Any],
) -> None:
    told = {name: case["looked_up"] for name, case in cases.items() if "looked_up" in case}
    assert [name for name, found in told.items() if found] == ["rows of a table"]
    assert len(told) == 4
    corrected = [name for name, case in cases.items() if case.get("corrected")]
    assert corrected == ["rows of a table", "another row"]


def test_the_legal_rows_beside_one_that_is_refused_are_not_dropped(cases: dict[str, Any]) -> None:
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
OF_OPERATORS = """
import sys

sys.path.insert(0, {folder!r})
from probe import originals

taken = originals.taken([{before!r}])
import torch

assert not hasattr(torch.ops.shop, "scale") and "parts" not in sys.modules
sys.path.insert(0, {after!r})
import ops

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.shop.scale(x) + torch.ops.store.twice(x)

x = torch.arange(4.0)
program = torch.export.export(Model(), (x,))
originals.register(taken)
now = program.module()(x)
originals.put(program, taken)
print((now / x)[1:].tolist(), (program.module()(x) / x)[1:].tolist())
"""


def test_the_original_computes_with_its_own_operators(warm_python: str, tmp_path: Path) -> None:
    for name, operators, part in (
        ("before", OPERATORS, "x * 1.5"),
        ("after", OPERATORS.replace("x * 2.0", "x * 7.0"), "x * 5.0"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ops.py").write_text(operators)
        (tmp_path / name / "parts.py").write_text(f"def half(x):\n    return {part}\n")
    before, after = str(tmp_path / "before" / "ops.py"), str(tmp_path / "after")
    words = OF_OPERATORS.format(folder=str(PROBE.parent), before=before, after=after)
    ran = subprocess.run([warm_python, "-c", words], capture_output=True, text=True)
    assert ran.stdout.split("] ")[0].strip("[]") == "17.0, 17.0, 17.0", ran.stderr
    assert ran.stdout.split("] ")[1].strip("[]\n") == "5.0, 5.0, 5.0"


SHORT = """
import sys

sys.path.insert(0, {folder!r})
from probe import originals

taken = originals.taken([{before!r}])
import torch

sys.path.insert(0, {after!r})
import ops

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
    return {returned}

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
    warm_python: str, tmp_path: Path, returned: str, elements: int
) -> None:
    for name, one in (("before", "x[:n] * 2.0"), ("after", returned)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ops.py").write_text(HEAD.format(returned=one))
    before, after = str(tmp_path / "before" / "ops.py"), str(tmp_path / "after")
    words = SHORT.format(folder=str(PROBE.parent), before=before, after=after)
    ran = subprocess.run([warm_python, "-c", words], capture_output=True, text=True)
    assert json.loads(ran.stdout) == [2.0 * n for n in range(elements)], ran.stderr


def test_a_weight_is_given_whatever_its_dimensions_of_one_element(cases: dict[str, Any]) -> None:
    assert cases["given"]["bias"] == [7.0, 7.0, 7.0]


def test_a_state_that_the_caller_gives_may_be_that_of_sessions_that_take_turns(
    cases: dict[str, Any],
) -> None:
    assert cases["by turns"]["model"] == cases["by turns"]["package"] == "agrees"
    assert (cases["another state"]["model"], cases["another state"]["call"]) == ("differs", 2)


def test_a_number_that_became_a_tensor_is_the_same_input_and_no_more_that_of_the_example(
    cases: dict[str, Any],
) -> None:
    found = cases["a number"]
    assert found["differ"] == ["", *["input 0 has other values"] * 2]
    assert (found["other_constant"], found["still_other_constant"]) == ("dt = 0.25", "")
    trial = take(Trial, {**found, "name": "the failing call"})
    facts = gone(Fingerprint("run", "user_code"), "contract_argument", trials=(trial,), call=1)
    assert judge(replace(facts, kernels=1)).verdict == "fixed"
    still = replace(trial, still_other_constant="dt = 0.25")
    assert judge(replace(facts, kernels=1, trials=(still,))).verdict == "not fixed"
