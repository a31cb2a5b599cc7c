"""Say what is wrong with a constant of a container that was given new weights, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import marks, update_steps
from .constants import Constant
from .describe import dtype_of
from .lazy import torch
from .update_steps import Finding, Step

NEW, OLD, OTHER, NULL = "new", "old", "other", "null"
WRITES_PAST = ("dtype", "shape", "view")  # misfits that can write over a neighbor
_SHORT = ("float16", "bfloat16")


@dataclass
class Played:
    """What a step left: the status of each constant in the buffer that calls use, and in the
    other one."""

    step: Step
    given: dict[str, Any] = field(default_factory=dict)
    active: dict[str, str] = field(default_factory=dict)
    inactive: dict[str, str] = field(default_factory=dict)
    error: str = ""


def same(one: Any, other: Any) -> bool:
    """Tell whether two tensors hold the same values; NaN is like NaN."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    other = other.to(one.device)
    return bool(torch.equal(one, other)) or bool(marks.alike(one, other).all())


def as_compiled(tensor: Any, constant: Constant) -> Any:
    """Return a constant as the kernels read it, which keep to the strides of the compile."""
    if tensor.layout != torch.strided:  # packed for a library
        return tensor.to_dense()
    try:
        return tensor.as_strided(constant.shape, constant.stride)
    except RuntimeError:  # its memory ends before
        return tensor


def statuses(
    held: Mapping[str, Any],
    known: Mapping[str, Constant],
    wanted: Mapping[str, Any],
    old: Mapping[str, Any],
) -> dict[str, str]:
    """Return what a buffer holds of each constant."""
    found = {}
    for name, constant in known.items():
        if name not in held:
            found[name] = NULL
            continue
        value = as_compiled(held[name], constant)
        if same(value, wanted[name]):
            found[name] = NEW
        else:
            found[name] = OLD if name in old and same(value, old[name]) else OTHER
    return found


def misfit(tensor: Any, constant: Constant) -> tuple[str, str] | None:
    """Return why a tensor does not fit a constant whose bytes it is copied over, and how."""
    dtype, shape = dtype_of(tensor), tuple(tensor.shape)
    if constant.dtype and dtype != constant.dtype:
        return "dtype", f"{dtype} for {constant.dtype}"
    if shape != constant.shape:
        return "shape", f"{list(shape)} for {list(constant.shape)}"
    if tensor.untyped_storage().nbytes() > max(constant.bytes, 1):
        return "view", f"{tensor.untyped_storage().nbytes()} bytes for {constant.bytes}"
    if constant.reordered(tensor.stride()):
        return "stride", f"{list(tensor.stride())} for {list(constant.stride)}"
    return None


class Reasons:
    """Why constants are not as they should be after these steps."""

    def __init__(
        self,
        played: Sequence[Played],
        known: Mapping[str, Constant],
        wanted: Mapping[str, Any],
        tied: Mapping[str, str],
    ) -> None:
        self._played, self._known, self._wanted, self._tied = played, known, wanted, tied

    def findings(self, held: Mapping[str, Any]) -> list[Finding]:
        """Return what is wrong with each constant in the buffer that calls use."""
        last = self._played[-1].active
        return [self._of(name, held) for name in self._known if last.get(name) != NEW]

    def _of(self, name: str, held: Mapping[str, Any]) -> Finding:
        status = self._played[-1].active.get(name, NULL)
        if status == NULL:
            return Finding(name, status, self._since(name, status), "null")
        if status == OLD:
            return self._stale(name)
        return self._spoilt(name, held.get(name))

    def _since(self, name: str, status: str) -> int:
        """Return the number of the step since which a constant has this status."""
        number = len(self._played)
        while number > 1 and self._played[number - 2].active.get(name) == status:
            number -= 1
        return number

    def _given(self, name: str) -> list[int]:
        """Return the numbers of the steps that gave a constant's new value."""
        return [
            number
            for number, one in enumerate(self._played, 1)
            if name in one.given and not one.error and one.step.values == "new"
        ]

    def _stale(self, name: str) -> Finding:
        loads = [n for n, one in enumerate(self._played, 1) if one.step.do == update_steps.LOAD]
        first = loads[0] if loads else 0
        failed = next((n for n, one in enumerate(self._played, 1) if one.error), None)
        given = self._given(name)
        if not given:
            if failed is not None and name in (one := self._played[failed - 1]).given:
                return Finding(name, OLD, failed, "refused", self._lacking(one))
            if name in self._tied:
                return Finding(name, OLD, first, "tied", self._tied[name])
            return Finding(name, OLD, first, "not_given")
        since = self._since(name, OLD)
        if by_owner := self._by_owner(name, OLD, since):
            return by_owner
        if self._played[since - 1].step.do == update_steps.SWAP and since > given[0]:
            return Finding(name, OLD, since, "swapped_away")
        if self._played[-1].inactive.get(name) == NEW:
            return Finding(name, OLD, given[-1], "not_swapped")
        return Finding(name, OLD, since, "not_given")

    def _by_owner(self, name: str, status: str, since: int) -> Finding | None:
        do = self._played[since - 1].step.do
        wrote = do in (update_steps.OVERWRITE, update_steps.RELEASE)
        return Finding(name, status, since, do) if wrote else None

    def _lacking(self, one: Played) -> str:
        """Say what a full update was not given, or else what was raised."""
        needed = (c for c in self._known.values() if c.kind == "Parameter" and c.bytes)
        names = [c.fqn or c.name for c in needed if (c.fqn or c.name) not in one.given]
        return ", ".join(names[:3]) if one.step.full and names else one.error

    def _spoilt(self, name: str, held: Any | None) -> Finding:
        since = self._since(name, OTHER)
        if by_owner := self._by_owner(name, OTHER, since):
            return by_owner
        given = self._given(name)
        if given and (found := misfit(self._played[given[-1] - 1].given[name], self._known[name])):
            return Finding(name, OTHER, given[-1], *found)
        for number in given:
            for neighbor, tensor in self._played[number - 1].given.items():
                found = misfit(tensor, self._known[neighbor])
                if found is not None and neighbor != name and found[0] in WRITES_PAST:
                    return Finding(name, OTHER, number, "neighbor", neighbor)
        value = as_compiled(held, self._known[name]) if held is not None else None
        swapped = self._played[since - 1].step.do == update_steps.SWAP
        if value is not None and swapped and self._was_given(name, value):
            return Finding(name, OTHER, since, "swapped_away")
        reason, detail = self._changed_on_the_way(name, value)
        return Finding(name, OTHER, given[-1] if given else since, reason, detail)

    def _was_given(self, name: str, value: Any) -> bool:
        given = [one.given[name] for one in self._played if name in one.given and not one.error]
        known = self._known[name]
        return any(same(value, as_compiled(one, known).to(value.device)) for one in given)

    def _changed_on_the_way(self, name: str, value: Any) -> tuple[str, str]:
        """Say what was done to a weight before it was given."""
        if value is None:
            return "unknown", ""
        wanted = self._wanted[name].to(value.device)
        for dtype in _SHORT:
            rounded = wanted.to(getattr(torch, dtype)).to(wanted.dtype)
            if wanted.is_floating_point() and same(value, rounded):
                return "rounded", dtype
        if wanted.dim() == 2 and wanted.shape[0] == wanted.shape[1] and same(value, wanted.t()):
            return "transposed", ""
        for other, tensor in self._wanted.items():
            if other != name and tensor.shape == value.shape and same(value, tensor):
                return "other_name", other
        return "unknown", ""
