"""A fix in a project that only loads a package is held against that package: its contract, the
integers that its code takes, its good calls."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace

import pytest
from aoti_debug.verify.judge import CALL, Facts, Trial
from aoti_debug.verify.script_checks import Changes, changes
from aoti_debug.vocabulary import Fingerprint
from verify.facts import Project, gone, triaged, verdict

BUILD = """
import sys

import torch


class Scorer(torch.nn.Module):
    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.table = torch.nn.Embedding(50, 8)

    def forward(self, ids, x):
        return self.table(ids) + torch.tanh(x)


n = torch.export.Dim("n", min=2, max=64)
for seed, name in enumerate(("scorer.pt2", "other.pt2")):
    example = torch.arange(6), torch.randn(6, 8)
    program = torch.export.export(Scorer(seed), example, dynamic_shapes=({0: n}, {0: n}))
    torch._inductor.aoti_compile_and_package(program, package_path=f"{sys.argv[1]}/{name}")
"""
SERVE = """
import torch

ROWS = [4000 + 10 * row for row in range(50)]


def normal(x):
    return ((x - x.mean(0)) / x.std(0))


def requests():
    torch.manual_seed(0)
    for count in (6, 9):
        yield torch.arange(count), torch.randn(count, 8)
    yield LAST


def main():
    model = torch._inductor.aoti_load_package("scorer.pt2")
    for ids, x in requests():
        result = model(ids, x)
        if not result.isfinite().all():
            raise SystemExit("the result is not finite")
        print(result.sum().item())


main()
"""
CALLED = "result = model(ids, x)"
CATCHING = """try:
            result = model(ids, x)
        except RuntimeError:
            continue"""
REFUSING = """if ids.min() < 0 or ids.max() >= LEAST:
            raise ValueError("an id is outside the table")
        result = model(ids, x)"""
HALVES = "result = torch.cat([model(*one) for one in zip(ids.split(50), PARTS)])"
GIVEN, PACKAGE = "(ids, x)\n", 'package("scorer.pt2")'
OTHER = 'package("other.pt2")'
LOOKED_UP = "(ids.apply_(lambda one: ROWS.index(one) if one in ROWS else one), x)\n"
ZEROED = "(ids, x if x.isfinite().all() else torch.zeros_like(x))\n"
# What is given last, and the verdict on each fix
CASES: dict[str, tuple[str, list[tuple[str, list[tuple[str, str]]]]]] = {
    "stride": (
        "torch.arange(7), torch.randn(8, 7).T",
        [
            ("fixed", [("randn(8, 7).T", "randn(8, 7).T.contiguous()")]),
            ("masked", [("randn(8, 7).T", "randn(8, 7).T.contiguous() * 0")]),
            ("undecided", [("(ids, x)", "(ids, x.contiguous())"), (PACKAGE, OTHER)]),
        ],
    ),
    "index": (
        "torch.arange(4000, 4070, 10), torch.randn(7, 8)",
        [
            ("fixed", [(GIVEN, LOOKED_UP)]),
            ("fixed", [(CALLED, REFUSING.replace("LEAST", "50"))]),
            ("masked", [(CALLED, REFUSING.replace("LEAST", "60"))]),
            ("masked", [(GIVEN, "(ids.clamp(0, 49), x)\n")]),
            ("masked", [(CALLED, CATCHING)]),
        ],
    ),
    "not finite": (
        "torch.arange(7), normal(torch.cat([torch.randn(7, 7), torch.ones(7, 1)], 1))",
        [
            ("fixed", [("x.std(0)", "x.std(0).clamp_min(1e-6)")]),
            ("masked", [("/ x.std(0)", "/ x.std(0)).nan_to_num(")]),
            ("masked", [(GIVEN, ZEROED)]),
        ],
    ),
    "size": (
        "torch.arange(100) % 50, torch.randn(100, 8)",
        [
            ("fixed", [(CALLED, HALVES.replace("PARTS", "x.split(50)"))]),
            ("masked", [(CALLED, HALVES.replace("PARTS", "x[:50].expand(2, 50, 8)"))]),
        ],
    ),
}


@pytest.fixture(scope="module")
def project(warm_python, tmp_path_factory) -> Callable[[str, str], Project]:
    """Return what triages a project that only loads a package."""
    root = tmp_path_factory.mktemp("alone")
    subprocess.run([warm_python, "-c", BUILD, str(root)], check=True, capture_output=True)

    def made(name: str, last: str) -> Project:
        script, packages = SERVE.replace("LAST", last), root.glob("*.pt2")
        return triaged(root / name, script, warm_python, "--no-verify", packages=packages)

    return made


@pytest.mark.parametrize("name", CASES)
def test_a_fix_of_the_caller_is_fixed_and_what_hides_the_failure_is_not(project, name: str) -> None:
    last, fixes = CASES[name]
    failing = project(name, last)
    for expected, fix in fixes:
        answer = failing.verified(fix)
        assert answer["verdict"] == expected, (fix, answer.get("reason") or answer)
        assert ("could not be compared" in answer["reason"]) == (expected == "fixed")
        assert answer["cost"][0].startswith("this verification: compiles: 0,")


def test_a_run_stops_at_the_failing_call_where_that_is_bad_again(project) -> None:
    endless = "print(result.sum().item())\n        while len(ids) == 7:\n            model(ids, x)"
    failing = project("endless", CASES["stride"][0])
    answer = failing.verified([("print(result.sum().item())", endless)])
    assert answer["verdict"] == "not fixed"
    assert answer["reason"] == "still there: call 3 breaks the contract again: stride"


ALONE = gone(
    Fingerprint("run", "wrong result"),
    "contract_stride",
    trials=(Trial(CALL, reference_finite=True),),
    own_reference=True,
    alone=True,
    good_calls=4,
)
BY_CHECK = replace(
    ALONE,
    category="user_code",
    checked=True,
    inputs="input 0 has other values",
    changes=Changes(compared=True),
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (ALONE, "fixed"),
        (replace(ALONE, breaks=("stride",)), "not fixed"),
        (replace(ALONE, inputs="input 0 has other values"), "masked"),
        (replace(ALONE, inputs=None), "undecided"),
        (replace(ALONE, other_values=(3,)), "undecided"),
        (replace(ALONE, other_package=True), "undecided"),
        (replace(ALONE, alone=False, trials=(), why_no_trials="no program"), "undecided"),
        (replace(ALONE, trials=(Trial(CALL, package_raises="RuntimeError: no"),)), "not fixed"),
        (replace(ALONE, reordered=True), "fixed"),
        (replace(ALONE, repaired=True), "fixed"),
        (replace(ALONE, repaired=True, changes=Changes(hides=("where",))), "masked"),
        (BY_CHECK, "fixed"),
        (replace(BY_CHECK, other_values=(1,)), "fixed"),
        (replace(BY_CHECK, changes=Changes(compared=True, selects=True)), "masked"),
        (replace(BY_CHECK, kept=1, changes=Changes(compared=True, selects=True)), "fixed"),
    ],
)
def test_a_package_alone_tells_by_its_contract_and_good_calls(facts: Facts, expected: str) -> None:
    assert verdict(facts) == expected


def test_what_a_fix_chooses_and_puts_in_the_place_of_values_is_seen() -> None:
    before = "y = model(x)\nassert y.isfinite().all()\n"
    for line, hides, selects in (
        ("x = x + 1\n", (), False),
        ("x = x.nan_to_num()\n", ("nan_to_num",), False),
        ("x[x != x] = 0\n", ("NotEq",), False),
        ("x = x if len(x) else None\n", (), True),
        ("rows = [one for one in rows if one]\n", (), True),
    ):
        found = changes([before], [line + before])
        assert (found.hides, found.selects) == (hides, selects), line
    for line, by_value in (
        ("x = x - 1 if x.max() > 9 else x\n", "x.max() > 9"),
        ("if x.min() < 0:\n    raise ValueError(x)\n", ""),
    ):
        assert changes([before], [line + before]).by_value == by_value
