"""Which kernel is the first wrong one, from what was written and read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from aoti_debug.probe import choices
from aoti_debug.probe.places import Place, place_of
from aoti_debug.probe.value_rows import is_moved
from aoti_debug.probe.value_samples import Sample, sampled
from aoti_debug.probe.value_search import Matching, Reference, Written, first_wrong, named_in


@dataclass
class Value:
    """What one launch wrote, in memory of its own."""

    launch: int
    agrees: dict[str, Any] | None
    alike: bool = True
    computed: bool = False
    moved: bool = False
    summed: bool = False
    tied: bool = False

    def strangeness(self) -> tuple[bool, float]:
        return False, 0.5

    @property
    def memory(self) -> Place:
        return own(self.launch)

    def replaces(self, other: Value) -> bool:
        return False


def own(launch: int) -> Place:
    return Place("cuda", 16 * launch, 16 * launch + 16)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def launched(kernel: str, *read: int) -> dict[str, Any]:
    return {"kernel": kernel, "arguments": [{"memory": own(n), "read": True} for n in read]}


def chain(*kernels: str) -> list[dict[str, Any]]:
    """Return launches that each read what the one before wrote."""
    return [launched(name, *([n - 1] * (n > 0))) for n, name in enumerate(kernels)]


def first(*right: bool) -> str | None:
    """Return the first wrong kernel of two layers, each a product and the kernel that adds its
    bias; products alone are no values of the model."""
    names = "aoti_torch_cuda_mm_out", "bias_0", "aoti_torch_cuda_mm_out", "bias_1"
    launches = chain(*names)
    written = [
        Value(n, {"verdict": "agrees"} if n % 2 and right[n // 2] else None) for n in range(4)
    ]
    wrong = blamed(launches, written, {3})
    return names[wrong] if wrong is not None else None


def blamed(
    launches: list[dict[str, Any]], written: Sequence[Any], results: Collection[int]
) -> int | None:
    found = first_wrong(launches, list(written), results)
    return found[0].launch if found is not None else None


def test_a_product_without_its_bias_is_not_blamed_where_others_are_right() -> None:
    assert first(True, False) == "bias_1"
    assert first(True, True) is None


def test_without_another_product_to_judge_by_the_product_is_blamed() -> None:
    assert first(False, False) == "aoti_torch_cuda_mm_out"


def test_a_product_that_is_right_of_what_it_read_is_not_blamed() -> None:
    launches = chain("aoti_torch_cuda_mm_out", "softplus")
    written = [Value(0, None, computed=True), Value(1, None)]
    assert blamed(launches, written, {1}) == 1


def test_a_product_that_a_right_kernel_reads_is_not_blamed_for_a_later_one() -> None:
    launches = [*chain("aoti_torch_cuda_mm_out", "norm", "gelu"), launched("residual", 0, 2)]
    written = [Value(n, {"verdict": "agrees"} if n == 1 else None) for n in range(4)]
    assert blamed(launches, written, {3}) == 2


def wrote(launch: int, place: int, tensor: Any, *nodes: str) -> Written:
    found = Written(
        (launch, place), place_of(tensor), sampled(tensor), "", frozenset(nodes), frozenset(nodes)
    )
    found.fresh = True
    return found


def value(node: str, own: Sample, exact: Sample | None = None, *users: str) -> Reference:
    return Reference({"node": node, "name": node}, own, exact or own, frozenset(users))


def reading(memory: Place, last: int = 1) -> list[dict[str, Any]]:
    """Return launches of which the last reads this memory."""
    reads = [{"memory": memory, "read": True}]
    return [{"kernel": str(n), "arguments": reads * (n == last)} for n in range(last + 1)]


def test_columns_of_one_buffer_do_not_replace_each_other(torch: Any) -> None:
    buffer = torch.arange(12.0).reshape(3, 4)
    columns = [place_of(buffer[:, n : n + 1]) for n in range(4)]
    assert [one.overlaps(columns[1]) for one in columns] == [False, True, False, False]
    assert place_of(buffer).overlaps(columns[1]) and place_of(buffer).covers(columns[1])
    assert not columns[0].covers(columns[1]) and not place_of(buffer[0, 2:]).overlaps(columns[1])

    written = [wrote(n, 0, buffer[:, n : n + 1], f"part_{n}") for n in range(4)]
    written.append(wrote(4, 0, torch.ones(7), "sum"))
    for one in written[2:4]:
        one.agrees = {"verdict": "agrees"}
    assert blamed(reading(place_of(buffer), 4), written, range(5)) == 0


def test_a_value_that_is_read_later_and_nobody_wrote_is_the_one_far_off(
    torch: Any,
) -> None:
    right = {"kept": torch.ones(4), "best": torch.arange(4.0), "next": torch.arange(4.0) + 7}
    written = [
        wrote(0, 0, torch.full((4,), -90.0), "kept", "best"),
        wrote(0, 1, right["kept"].clone(), "kept", "best"),
        wrote(1, 0, torch.full((4,), -83.0), "next"),
    ]
    matching = Matching(written)
    users = {"kept": {"other"}, "best": {"next"}, "next": {"output"}}
    for node, tensor in right.items():
        matching.offer(value(node, sampled(tensor), None, *users[node]))
    found = first_wrong(reading(written[0].memory), written, range(3))
    assert found is not None and (found[0].launch, found[0].like["node"]) == (0, "best")


def test_what_is_like_no_value_of_its_kernel_is_the_last_of_them(torch: Any) -> None:
    one = wrote(0, 0, torch.full((3,), float("-inf")), "add", "reciprocal")
    matching = Matching([one])
    for node, held in ("add", 0.0), ("reciprocal", float("inf")), ("later", 1.0):
        matching.offer(value(node, sampled(torch.full((3,), held))))
    assert one.like["node"] == "reciprocal"


def test_a_copy_of_what_was_read_is_not_blamed_for_the_kernel_beside_it() -> None:
    launches = [launched("pad"), launched("silu"), launched("mm", 0, 1)]
    written = [Value(0, None, alike=False, moved=True), Value(1, None), Value(2, None)]
    assert blamed(launches, written, {2}) == 1


def test_a_sum_and_its_parts_are_known_by_the_mean(torch: Any) -> None:
    mean = sampled(torch.tensor([0.25, -3.0, 1.5]))
    parts = torch.tensor([[1.0, 3.0, 4.0], [-60.0, -40.0, 4.0], [16.0, 32.0, 0.0]])
    others = parts.clone()
    others[2, 2] = 0.5
    for given, summed in (
        (mean.values * 32.0, True),
        (mean.values * 2.5, False),
        (mean.values * -2.0, False),
        (parts, True),
        (others, False),
    ):
        one = wrote(0, 0, given, "mean")
        Matching([one]).offer(value("mean", mean))
        assert one.summed == summed


def test_what_is_right_in_part_is_that_value_and_wrong(torch: Any) -> None:
    """Though its own launch alone uses it, and each row has what is right in the same place."""
    torch.manual_seed(0)
    right = torch.randn(16, 48, 65)
    for other, alike in (
        (right.where(torch.arange(65) < 40, right / 2), True),
        (right.flip(0), False),
    ):
        one = wrote(0, 0, other, "cat")
        one.nodes = frozenset({"cat", "transpose"})
        Matching([one]).offer(value("cat", sampled(right), sampled(right.double()), "transpose"))
        assert one.agrees is None and one.alike == alike


def test_what_a_kernel_reads_where_it_writes_is_no_copy(torch: Any) -> None:
    memory, given = torch.arange(8.0), torch.arange(8.0) * 3
    for source, moved in ((memory, False), (given, True)):
        tensors = [((True, False), source), ((False, True), memory)]
        assert is_moved(tensors, source[2:6].clone()) == moved


def test_of_elements_equal_up_to_rounding_either_may_be_chosen(torch: Any) -> None:
    scores = torch.tensor([[0.25, 0.5, 0.5 + 1e-8], [0.75, 0.25, 0.125]], dtype=torch.float64)
    own = sampled(scores.argmax(-1))
    given = choices.chosen_from("argmax", 0, (scores, -1))
    asked = choices.choice("argmax", (scores, -1), {}, sampled(given.float()))
    # The second is computed from the first: of another choice it cannot be judged.
    for chosen, wrong in (([2, 0], 1), ([1, 0], None), ([0, 0], 0), ([2, 7], 0)):
        label = wrote(0, 0, torch.tensor(chosen), "argmax")
        result = wrote(1, 0, torch.full((2,), 9.0), "gather")
        Matching([label, result]).offer(replace(value("argmax", own), choice=asked))
        assert blamed(reading(label.memory), [label, result], {0, 1}) == wrong


def test_a_wrong_result_is_wrong_where_only_a_tie_is_computed_from_it() -> None:
    launches = chain("a", "b", "c")
    right = {"verdict": "agrees"}
    written = [Value(0, None), Value(1, right, tied=True), Value(2, None)]
    assert blamed(launches, written, {0, 2}) == 0
    assert blamed(launches, written, {2}) is None


def test_operators_are_found_in_the_name_of_a_kernel() -> None:
    found = named_in("cpp_fused__softmax_amax_native_layer_norm_3")
    assert {"_softmax", "amax", "native_layer_norm", "layer_norm"} <= found
    assert "argmax" not in found
