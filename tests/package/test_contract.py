"""Calls held against the contract of a package: every violation it can see, no false alarm."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.facts.categories import OF_A_PROPERTY
from aoti_debug.package.contract import Contract, check_call, contract, takes, write_check_inputs
from aoti_debug.package.documents import Sizes
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import CompiledModel, Dim, Input, Symbol
from aoti_debug.package.wrapper import read_wrapper
from aoti_debug.probe.expression import evaluate
from aoti_debug.read.typed import take
from aoti_debug.vocabulary import Leaf

Call = list[Leaf]


def contiguous(shape: tuple[int, ...]) -> list[int]:
    return [prod(max(size, 1) for size in shape[n + 1 :]) for n in range(len(shape))]


def tensor(
    index: int, *shape: int, dtype: str = "float32", stride: list[int] | None = None, **more: Any
) -> Leaf:
    steps = tuple(contiguous(shape) if stride is None else stride)
    return Leaf(index, shape=shape, stride=steps, dtype=dtype, **{"device": "cpu", **more})


def number(value: int) -> Leaf:
    return Leaf(position=2, kind="int", value=value)


def pair(*shape: int, ids: int | None = None, **more: Any) -> Call:
    """Return the two tensors of a call: rows, and as many ids where nothing else is said."""
    count = shape[0] if ids is None else ids
    return [tensor(0, *shape, **more), tensor(1, count, dtype="int64")]


def batch(size: int) -> Call:
    return [*pair(size, 10), number(3)]


ROW = tensor(1, 1, 5)
TRANSPOSED = tensor(3, 4, 3, stride=[1, 4])


def shapes(x: int = 8, z: int = 7, row: Leaf = ROW, last: Leaf = TRANSPOSED) -> Call:
    return [tensor(0, x), row, tensor(2, z, 3), last]


def stated(packages: Path, name: str) -> Contract:
    if name == "shapes":
        text = (packages / NEWEST / "shapes.wrapper.cpp").read_text()
        return contract(read_wrapper("shapes.wrapper.cpp", text))
    return contract(inspect(packages / name / "dyn.pt2").models[0])


NEWEST = "torch-2.13"
HEALTHY: dict[str, tuple[str, Call]] = {
    **{
        f"batch of {n}, torch {r}": (f"torch-{r}", batch(n))
        for n in (2, 3, 17, 63, 64)
        for r in ("2.13", "2.9")
    },
    "a torch prefix in the dtype": (
        NEWEST,
        [tensor(0, 4, 10, dtype="torch.float32"), tensor(1, 4, dtype="torch.int64")],
    ),
    "without the optional argument": (NEWEST, pair(8, 10)),
    "a device with its index": (NEWEST, pair(4, 10, device="cpu:0")),
    "a slice that starts later": (NEWEST, pair(4, 10, storage_offset=40, storage_bytes=4000)),
    "sizes at their lower bounds": ("shapes", shapes(x=4, z=2)),
    "sizes at their upper bounds": ("shapes", shapes(x=32, z=1000)),
    "sizes in between": ("shapes", shapes(x=10, z=500)),
    "a transposed input as exported": ("shapes", shapes()),
    "an input of torch 2.6, which states nothing": ("torch-2.6", batch(8)),
    "a description without strides": (NEWEST, [replace(one, stride=None) for one in batch(8)]),
    "a size of one with its own stride": ("shapes", shapes(row=tensor(1, 1, 5, stride=[5, 1]))),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_call_raises_no_alarm(name: str, packages: Path) -> None:
    which, call = HEALTHY[name]
    assert check_call(stated(packages, which), call) == []


NARROW = [tensor(0, 8, 10), tensor(1, 8, dtype="int32")]
BY_ROWS = shapes(last=tensor(3, 4, 3))
# what is violated → (contract, call, input, property, category)
VIOLATIONS: dict[str, tuple[str, Call, int, str, str]] = {
    "another rank": (NEWEST, pair(80, ids=8), 0, "rank", "contract_shape"),
    "another fixed size": (NEWEST, pair(8, 11), 0, "size", "contract_shape"),
    "another dtype": (NEWEST, NARROW, 1, "dtype", "contract_dtype"),
    "other strides": (NEWEST, pair(8, 10, stride=[1, 8]), 0, "stride", "contract_stride"),
    "two sizes that must be equal": (NEWEST, pair(8, 10, ids=6), 1, "size", "contract_shape"),
    "above the maximum": ("torch-2.9", batch(65), 0, "size", "contract_shape"),
    "not divisible": ("shapes", shapes(x=9), 0, "guard", "contract_guard"),
    "another device": (NEWEST, pair(8, 10, device="cuda:0"), 0, "device", "contract_device"),
    "a tensor too few": (NEWEST, [tensor(0, 8, 10), number(3)], 1, "count", "contract_argument"),
    "a row for a transposed matrix": ("shapes", BY_ROWS, 3, "stride", "contract_stride"),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_violation_is_found_with_input_and_property(name: str, packages: Path) -> None:
    which, call, index, property, category = VIOLATIONS[name]
    found = check_call(stated(packages, which), call)[0]
    assert (found.index, found.property) == (index, property)
    assert (OF_A_PROPERTY[found.property], found.harmless) == (category, False)
    assert found.expected and found.got


@pytest.mark.parametrize(
    ("which", "call"),
    [
        (NEWEST, batch(1)),
        ("torch-2.9", batch(1)),
        ("shapes", shapes(x=2)),
        ("shapes", shapes(row=tensor(1, 1, 5, stride=[7, 1]))),
    ],
)
def test_what_only_the_compiled_check_rejects_is_a_false_alarm(
    which: str, call: Call, packages: Path
) -> None:
    found = check_call(stated(packages, which), call)
    assert found
    assert all(v.harmless and v.reason for v in found)


def test_real_violations_come_before_false_alarms(packages: Path) -> None:
    call = [tensor(0, 1, 10), tensor(1, 1, dtype="int32")]
    found = check_call(stated(packages, NEWEST), call)
    assert [v.harmless for v in found] == [False, True, True]


def test_inputs_on_another_device_than_the_first_or_the_loaded_are_found() -> None:
    two = Contract((Input(0, "a", device="cuda"), Input(1, "b", device="cuda")))
    call = [tensor(0, 4, device="cuda:0"), tensor(1, 4, device="cuda:1")]
    found = check_call(two, call)
    assert [(v.index, v.got, v.property) for v in found] == [(1, "cuda:1", "device")]
    one, call = Contract(two.inputs[:1]), [tensor(0, 4, device="cuda:1")]
    assert check_call(one, call) == check_call(one, call, 1) == []
    (violation,) = check_call(one, call, 0)
    assert (violation.property, violation.expected, violation.got) == ("device", "cuda:0", "cuda:1")


def test_an_input_that_a_kernel_writes_to_shares_no_memory() -> None:
    two = Contract((Input(0, "a", dims=(Dim(4, stride=1),), written=True), Input(1, "b")))
    shared = [tensor(0, 4, overlaps=(1,)), tensor(1, 4, overlaps=(0,))]
    (found,) = check_call(two, shared)
    assert (found.index, found.got) == (0, "shared with input 1")
    expanded = [tensor(0, 4, stride=[0]), tensor(1, 4)]
    assert {v.property for v in check_call(two, expanded)} == {"stride", "aliasing"}
    assert check_call(two, [tensor(0, 4), tensor(1, 4)]) == []


def test_a_misaligned_input_is_copied_hence_no_fault() -> None:
    one = Contract((Input(0, "a", device="cpu", dims=(Dim(4, stride=1),), aligned=16),))
    found = check_call(one, [tensor(0, 4, alignment=4)])
    assert [(v.property, v.harmless) for v in found] == [("alignment", True)]


def test_a_package_without_its_source_states_nothing() -> None:
    assert check_call(contract(CompiledModel("model", "folder")), batch(8)) == []


def test_hostile_descriptions_raise_nothing(packages: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"index": 0, "shape": ["x", None], "stride": "no", "dtype": 7, "device": None},
        {"index": 10**9, "shape": [-1]},
        {"index": "1"},
        {"index": 2, "shape": "no"},
        {},
    ]
    assert check_call(stated(packages, NEWEST), [take(Leaf, one) for one in odd])


def clip(frames: int, tokens: int) -> Call:
    return [tensor(0, frames, 80), tensor(1, tokens, dtype="int64")]


def test_forty_clips_are_wrong_in_both_inputs_and_three_not_divisible(
    warm_python: str,
) -> None:
    """The package alone states it, and the function that is written for serving agrees."""
    frames = Dim(low=8, high=64, symbol="4L*s0", stride=80), Dim(80, stride=1)
    symbols = Symbol("video_size_0", "video_size[0]"), Symbol("s0", "(1.0/4.0)*video_size_0")
    tokens = (Dim(low=2, high=16, symbol="s0", stride=1),)
    video = Input(0, "video", "float32", "cpu", frames)
    package = Contract((video, Input(1, "tokens", "int64", "cpu", tokens)), symbols, 2)
    odd = {5: 70, 17: 81, 33: 99}
    clips = [(odd.get(at, 68 + 4 * at), 17 + at) for at in range(40)]
    assert check_call(package, clip(64, 16)) == []
    for at, call in enumerate(clips):
        found = {(v.index, v.property) for v in check_call(package, clip(*call))}
        assert {(0, "size"), (1, "size")} <= found, call
        assert ((0, "guard") in found) == (at in odd), call
    calls = (
        "*(said(torch.ones(frames, 80), torch.ones(tokens, dtype=torch.int64))"
        f" for frames, tokens in {[(64, 16), *clips]})"
    )
    first, *said = of_function(warm_python, package, calls)
    assert first is None
    assert all("input 0" in text and "input 1" in text for text in said)
    assert {at for at, text in enumerate(said) if "= 4*s0" in text} == set(odd)


SAID = """
import json, sys, torch
exec(sys.stdin.read())
def said(*inputs):
    try:
        check_inputs(*inputs)
    except ValueError as error:
        return str(error)
x, ids = torch.ones(8, 10), torch.zeros(8, dtype=torch.int64)
print(json.dumps([{}]))
"""
CALLS = """
    said(x, ids, 3), said(x[:1], ids[:1]), said([x, ids]),
    said(x.double(), ids), said(x[:, :9], ids), said(x.t().contiguous().t(), ids),
    said(x, ids[:6]), said(x), said(x[0], ids),
    said(torch.ones(65, 10), torch.zeros(65, dtype=torch.int64)),
"""


def of_function(python: str, contract: Contract, calls: str) -> list[Any]:
    """Return what the written `check_inputs` says of each call."""
    argv, source = [python, "-W", "ignore", "-c", SAID.format(calls)], write_check_inputs(contract)
    done = subprocess.run(argv, input=source, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_the_written_check_accepts_good_and_rejects_bad_calls(
    packages: Path, warm_python: str
) -> None:
    said = of_function(warm_python, stated(packages, NEWEST), CALLS)
    assert said[:3] == [None, None, None]
    broken = (
        "dtype is float64",
        "size at dim 1 is 9",
        "stride at dim 0 is 1, expected 10",
        "as another dimension says",
        "count is 1 tensors, expected 2",
        "rank is 1, expected 2",
        "size at dim 0 is 65, expected <= 64",
    )
    for words, text in zip(broken, said[3:], strict=True):
        assert words in text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x_size[0]", 12),
        ("c10::div_floor_integer(static_cast<int64_t>(x_size_0), 5L) + 1L", 3),
        ("(1.0/2.0)*x_size_0", 6),
        ("-7 / 2", -3),
        ("std::max<int64_t>(3L, x_size_0)", 12),
        ("x_size_0 % 5", 2),
        ("unknown + 1", None),
        ("x_size_0 / 0", None),
        ("__import__('os').system('true')", None),
        ("9**9**9", None),
        ("(" * 190 + ")" * 190, None),
        ("1" * 500, None),
        ("max(1, 2, 3)", None),
        ("True", None),
    ],
)
def test_only_arithmetic_is_evaluated(text: str, value: int | None) -> None:
    assert evaluate(text, {"x_size__0": 12, "x_size_0": 12}) == value


ASKED = Sizes(
    inputs=(("x", ("s0", 4)), ("more_0", ("s0", "s1"))),
    bounds={"s0": (2, 64), "s1": (2, None)},
    guards=(
        "((6*L['x'].size()[0]) % 12) == 0",
        "L['more'][0].size()[0] == L['x'].size()[0]",
        "(L['more'][0].size()[1] // 4) != 1 or not L['x'].size()[0] > 8",
    ),
)


@pytest.mark.parametrize(
    ("guard", "x", "more", "taken"),
    [
        ("", (8, 4), (8, 5), True),
        ("", (10, 4), (10, 9), True),
        ("", (10, 4), (10, 5), False),
        ("", (7, 4), (7, 5), False),
        ("", (66, 4), (66, 9), False),
        ("", (8, 4), (6, 5), False),
        ("", (8, 5), (8, 5), False),
        ("", (8,), (8, 5), False),
        ("", (8, 4), None, False),
        *(
            (guard, (8, 4), (8, 5), False)
            for guard in (
                "L['x'].stride()[0] == 4",
                "L['y'].size()[0] == 4",
                "L['x'].size()[9] == 4",
                "__import__('os').system('true') == 0",
                "1 % (L['x'].size()[0] - 8) == 0",
                "(" * 900 + "1" + ")" * 900,
            )
        ),
    ],
)
def test_sizes_are_held_against_guards_and_the_unknown_counts_as_broken(
    guard: str, x: tuple[int, ...], more: tuple[int, ...] | None, taken: bool
) -> None:
    asked = replace(ASKED, guards=(*ASKED.guards, *([guard] if guard else [])))
    assert takes(asked, [x, more]) is taken
    assert takes(asked, [x]) is False
