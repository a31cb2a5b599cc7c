"""Which kernel is the first wrong one, from what was written and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aoti_debug.probe.value_search import first_wrong


@dataclass
class Value:
    """What one launch wrote, in memory of its own."""

    launch: int
    agrees: dict[str, Any] | None
    alike: bool = True
    computed: bool = False

    @property
    def digest(self) -> str:
        return str(self.launch)

    def strangeness(self) -> tuple[bool, float]:
        return False, 0.5

    def overlaps(self, device: str, begin: int, end: int) -> bool:
        return begin == self.launch

    def replaces(self, other: Value) -> bool:
        return False


def launched(kernel: str, *read: int) -> dict[str, Any]:
    return {"kernel": kernel, "arguments": [{"memory": ("cuda", n, n), "read": True} for n in read]}


def first(*right: bool) -> str | None:
    """Return the first wrong kernel of two layers, each a product and the kernel that adds its
    bias; products alone are no values of the model."""
    names = "aoti_torch_cuda_mm_out", "bias_0", "aoti_torch_cuda_mm_out", "bias_1"
    launches = [launched(name, *([n - 1] * (n > 0))) for n, name in enumerate(names)]
    written = [
        Value(n, {"verdict": "agrees"} if n % 2 and right[n // 2] else None) for n in range(4)
    ]
    found = first_wrong(launches, written, {"3"})  # type: ignore[arg-type]
    return names[found[0].launch] if found is not None else None


def test_a_product_whose_bias_is_added_later_is_not_blamed_where_others_like_it_are_right() -> None:
    assert first(True, False) == "bias_1"
    assert first(True, True) is None


def test_without_another_product_to_judge_by_the_product_is_the_first_that_has_no_value() -> None:
    assert first(False, False) == "aoti_torch_cuda_mm_out"


def test_a_product_that_is_right_of_what_it_read_is_not_blamed() -> None:
    launches = [launched("aoti_torch_cuda_mm_out"), launched("softplus", 0)]
    written = [Value(0, None, computed=True), Value(1, None)]
    found = first_wrong(launches, written, {"1"})  # type: ignore[arg-type]
    assert found is not None and found[0].launch == 1


def test_a_product_that_a_right_kernel_reads_is_not_blamed_for_a_later_one_that_reads_it_too() -> (
    None
):
    names = "aoti_torch_cuda_mm_out", "norm", "gelu", "residual"
    launches = [
        launched(name, *read) for name, read in zip(names, ((), (0,), (1,), (0, 2)), strict=True)
    ]
    written = [Value(n, {"verdict": "agrees"} if n == 1 else None) for n in range(4)]
    found = first_wrong(launches, written, {"3"})  # type: ignore[arg-type]
    assert found is not None
    assert names[found[0].launch] == "gelu"
