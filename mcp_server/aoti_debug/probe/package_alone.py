"""Hold a call of a fixed script against the package alone, where no program of it is kept: its
contract, the integers that its code takes, and its good calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import changed, describe, events, judge, limits, neighbours, refusals, standalone, tables
from .describe import is_float, is_integer
from .lazy import torch
from .vocabulary import Break, Leaf
from .wrapper_contract import contract_in

Document = dict[str, Any]
Inputs = standalone.Inputs

_PROBING_S = 5.0  # of looking for the limits of integers
_ANY = (1 << 31) - 1  # a limit that is none


def hold(options: Any, report: standalone.Report) -> None:
    """Say how the call differs from the failing one, and what the package makes of both."""
    if not options.inputs:
        return
    captured = standalone.read_inputs(options.inputs)
    now = [standalone.read_inputs(path) for path in (options.now, *options.rest) if path]
    other = differ(captured, now, options.parts) if now else None
    report.update(inputs=other)
    good = [standalone.read_inputs(was) for n, was, _ in options.call if int(n) < options.number]
    package = Package(options, report, captured)
    takes = package.limits_of(good, captured)
    if other and len(now) == 1:
        report.update(**_said(options, takes, captured, now[0]))
    if options.refusals:
        legal = [one for one in (*good, *takes.at_limits()) if package.accepts(one)]
        near = [*neighbours.beyond(takes, captured), *takes.beyond_limits(captured)]
        near = [one for one in near if not package.accepts(one)]
        wrong = refusals.wrong([], options.refusals, captured, legal, near)
        if other and len(now) == 1 and refusals.drops(takes, captured.flat, now[0].flat):
            wrong.append("it drops rows that the package computes")
        report.update(wrong_refusals=wrong)
    name = "the failing call"
    report.update(state=f"trying {name}", trying=name if now else None)
    found = package.tried(now[0], "package_raises", "nonfinite", "package_finite") if now else {}
    report.update(trials=[{"name": name, **found}], trying=None)
    if package.on_cpu:  # an index out of bounds ends the use of a GPU
        before = package.tried(captured, "original_raises", "nonfinite_before", "finite")
        report.update(trials=[{"name": name, **found, **before}])


def differ(captured: Inputs, now: list[Inputs], parts: Any) -> str:
    """Say how a call, or those that its rows are split over, differs from the failing one."""
    if not parts:
        return changed.differ(*changed.by_name(captured, now[0]))
    for number, one in enumerate(now):
        flat = [changed.part(leaf, parts, number) for leaf in captured.flat]
        given = standalone.with_leaves(captured, flat)
        if other := changed.differ(*changed.by_name(given, one)):
            return other
    return ""


def _said(options: Any, takes: Takes, captured: Inputs, now: Inputs) -> Document:
    """Say why other inputs than the failing ones may stand in their place, where they may."""
    before, after = captured.flat, now.flat
    known = options.tables and tables.looked_up(options.tables, takes, before, after)
    if known or (options.corrects and tables.corrected(takes, before, after)):
        return {"inputs": "", "looked_up": True}
    if changed.repaired(before, after):
        return {"inputs": "", "repaired": True}
    left = list(before)
    for leaf in after:
        same = (n for n, one in enumerate(left) if not changed.differ([one], [leaf]))
        if (place := next(same, None)) is not None:
            left.pop(place)
    if not left and len(before) == len(after):
        return {"inputs": "", "reordered": True}
    return {"kept": len(before) - len(left)}


class Takes:
    """The lowest and the highest integers that a package takes, of each input."""

    def __init__(self, example: Inputs | None, searched: limits.Limits | None) -> None:
        self.example = example
        self.limits: neighbours.Ends = {}
        if example is not None and searched is not None:
            places = [n for n, leaf in enumerate(example.flat) if is_integer(leaf) and leaf.numel()]
            self.limits = {place: searched.of(place) for place in places}

    def at_limits(self) -> list[Inputs]:
        """Return the example with integers at either limit."""
        pairs = [(place, n) for place, (_, ends) in self.limits.items() for n in ends[0]]
        return [self._with(place, n) for place, n in pairs if abs(n) < _ANY]

    def beyond_limits(self, failing: Inputs) -> list[Inputs]:
        """Return the example with integers just beyond a limit, of the inputs that lie beyond it in
        a call that failed."""
        found = []
        for place, (_, [(low, high)]) in self.limits.items():
            bad = neighbours.outside(self, place, failing.flat[place])
            found += [self._with(place, high + 1)] if bad is not None and bad.max() > 0 else []
            found += [self._with(place, low - 1)] if bad is not None and bad.min() < 0 else []
        return found

    def _with(self, place: int, value: int) -> Inputs:
        assert self.example is not None
        flat = list(self.example.flat)
        flat[place] = torch.full_like(flat[place], value)
        return standalone.with_leaves(self.example, flat)


class Package:
    """The package, and its contract."""

    def __init__(self, options: Any, report: standalone.Report, known: Inputs) -> None:
        self.contract = contract_in(Path(options.package), options.model)
        self.model = standalone.load_package(options, known, report)
        self.on_cpu = standalone.device_of(known.flat) == "cpu"

    def limits_of(self, good: list[Inputs], failing: Inputs) -> Takes:
        """Look for the integers that the package takes, on a call that it takes."""
        if not self.on_cpu:
            return Takes(None, None)
        zeros = [torch.zeros_like(x) if is_integer(x) else x for x in failing.flat]
        given = (*good, standalone.with_leaves(failing, zeros))
        example = next((one for one in given if self.accepts(one)), None)
        if example is None:
            return Takes(None, None)
        return Takes(example, limits.Limits(None, example, self.accepts, [], _PROBING_S))

    def accepts(self, inputs: Inputs) -> bool:
        """Tell whether a call keeps the contract and returns."""
        return self.on_cpu and "raises" not in self.tried(inputs, "raises", "counts", "finite")

    def tried(self, inputs: Inputs, raises: str, counts: str, finite: str) -> Document:
        """Say under these names what the package makes of inputs, in the dtype and layout that it
        declares; it is not called where they break the contract."""
        given = self.declared(inputs)
        broken = [one for one in self.breaks(given) if not one.harmless]
        if broken:
            one = broken[0]
            said = f"{one.name}: {one.property} {one.got}, compiled for {one.expected}"
            return {raises: {"type": "contract", "message": said}}
        try:
            with torch.no_grad():
                outputs = standalone.results(self.model, standalone.copied(given))
        except Exception as error:
            return {raises: events.describe_error(error)}
        floats = list(filter(is_float, outputs))
        found = [sum(int(getattr(v, test)().sum()) for v in floats) for test in ("isnan", "isinf")]
        return {counts: found, finite: not any(found)}

    def breaks(self, inputs: Inputs) -> list[Break]:
        if self.contract is None:
            return []
        described = describe.leaves(inputs.flat, [])
        return judge.breaks(self.contract, list(map(Leaf.of, described)))

    def declared(self, inputs: Inputs) -> Inputs:
        """Return inputs in the dtypes and the layout that the contract states."""
        tensors = [n for n, leaf in enumerate(inputs.flat) if isinstance(leaf, torch.Tensor)]
        flat = list(inputs.flat)
        for one in self.contract.inputs if self.contract is not None else ():
            dtype = getattr(torch, one.dtype or "", None)
            if one.index < len(tensors) and dtype is not None:
                flat[tensors[one.index]] = flat[tensors[one.index]].to(dtype)
        wrong = {one.index for one in self.breaks(standalone.with_leaves(inputs, flat))}
        for index in (n for n in wrong if n is not None and n < len(tensors)):
            flat[tensors[index]] = flat[tensors[index]].contiguous()
        return standalone.with_leaves(inputs, flat)
