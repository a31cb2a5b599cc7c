"""The contract of a compiled model as its package states it, and calls held against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from aoti_debug.model import Category, Confidence, InputFinding
from aoti_debug.package.record import CompiledModel, Wrapper
from aoti_debug.probe.judge import Break, Contract, breaks

Description = Mapping[str, Any]
CATEGORY: dict[str, Category] = {
    "size": "contract_shape", "rank": "contract_shape", "dtype": "contract_dtype",
    "stride": "contract_stride", "device": "contract_device", "guard": "contract_guard",
    "count": "contract_argument", "type": "contract_argument", "value": "contract_argument",
    "alignment": "misaligned_address", "aliasing": "contract_stride",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Violation:
    """A call breaks the contract, or (`false_alarm`) only the compiled check says so."""

    finding: InputFinding
    category: Category
    confidence: Confidence
    reason: str
    false_alarm: bool = False
    relation: str = "equal"  # as in a Break


def contract(model: CompiledModel | Wrapper) -> Contract:
    """Return the contract that a model's wrapper states."""
    wrapper = model.wrapper if isinstance(model, CompiledModel) else model
    if wrapper is None:
        return Contract((), stated=False)
    stated = any(one.dims is not None for one in wrapper.inputs) or not wrapper.inputs
    return Contract(wrapper.inputs, wrapper.symbols, wrapper.leaves, stated)


def check_call(
    contract: Contract, inputs: Sequence[Description], device_index: int | None = None
) -> list[Violation]:
    """Return what is wrong with a call, described by one mapping an argument.

    `device_index` is the one that the package was loaded with, if it was named. Real violations
    come first; what only the compiled checks would reject is marked as a false alarm. Facts that
    a description lacks are not judged.
    """
    return [violation(broken) for broken in breaks(contract, inputs, device_index)]


def violation(broken: Break) -> Violation:
    finding = InputFinding(
        index=broken.index,
        name=broken.name,
        property=broken.property,
        dim=broken.dim,
        expected=broken.expected,
        got=broken.got,
    )
    category = "false_alarm" if broken.harmless else CATEGORY[broken.property]
    confidence = cast("Confidence", broken.confidence)
    return Violation(finding, category, confidence, broken.reason, broken.harmless, broken.relation)
