"""Rows of all launches of a call: what each kernel read before it ran, and wrote after."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from . import standalone, taps
from .describe import is_float
from .graph_run import Document, on_cpu
from .lazy import torch
from .places import Place, place_of
from .prototypes import Param
from .value_samples import Summaries, held_against, nearby, sampled
from .value_search import LIBRARY, Written, named_in

_LAUNCHES = 20_000
_ROWS = 16  # of a product
_FACTOR = 1 << 24  # elements of one, copied as float64
_COPIED = 1 << 20  # elements of a copy
_KEPT = 8  # launches whose tensors are kept
_INTO_SECOND = "aoti_torch_tensor_copy_"


class Values(taps.Hook):
    """Look at each launch; `sources` are kernel, nodes and operators of each of the source, `held`
    whether what is written is held against a reference."""

    kinds = ("generated", "launch", "extern", "check")

    def __init__(
        self,
        report: standalone.Report,
        sources: Any,
        kernel: str | None = None,
        *,
        held: bool = False,
    ) -> None:
        self.looks = False
        self.launches: list[Document] = []
        self.unseen: list[str] = []
        self.outputs: list[Any] = []  # of the call
        self.results: list[Place] = []  # where they lie
        self.written: list[Written] = []
        self._report, self._kernel, self._sources, self._held = report, kernel, sources, held
        self._summaries = Summaries()
        self._at = 0  # of the sources
        self._open: dict[int, Document] = {}
        self._kept: dict[int, tuple[list[Any], dict[int, Any]]] = {}

    def before(self, call: taps.Call) -> None:
        if call.kind == "check":
            self._refused(call)
        elif self.looks and len(self.launches) < _LAUNCHES:
            self._begin(call)

    def _begin(self, call: taps.Call) -> None:
        source, nodes, ops = self._source(call.name)
        row: Document = {
            "number": len(self.launches) + 1,
            "kernel": call.name,
            "kind": call.kind,
            "source": source,
            "nodes": nodes,
            "ops": ops,
            "grid": list(call.grid or ()),
            "sizes": {
                param.name: value
                for param, value in zip(call.params, call.args)
                if isinstance(value, (int, float)) and not _points(param)
            },
            "arguments": [],
        }
        self.launches.append(row)
        self._open[id(call)] = row
        for param, tensor in call.tensors():
            read, writes = _role(call, param)
            there = tensor is not None
            argument = {"name": param.name, "read": read and there, "writes": writes or not there}
            if there:
                argument["memory"] = place = place_of(tensor)
                if read:
                    argument["before"] = self._summaries.of(tensor, place, nearby(tensor))
            row["arguments"].append(argument)
        if self._asked(row):
            self._given(row, call)

    def after(self, call: taps.Call) -> None:
        row = self._open.pop(id(call), None)
        if row is None:
            return
        arguments = iter(list(row["arguments"]))
        for param, tensor in call.tensors():
            argument = None if taps.returned(param) else next(arguments, None)
            if argument is None:
                argument = {"name": param.name, "read": False, "writes": True}
                row["arguments"].append(argument)
            if tensor is None or not argument["writes"]:
                continue
            values, memory = nearby(tensor), place_of(tensor)
            now = self._summaries.of(tensor, memory, values)
            if now["digest"] == argument.get("before", {}).get("digest"):
                argument["writes"] = False
                continue
            argument["after"], argument["memory"] = now, memory
            place = row["arguments"].index(argument)
            if self._asked(row):
                kept = [one.name for one in call.params].index(param.name)
                self._kept[row["number"]][1][kept] = on_cpu(tensor)
            if not self._held:
                continue
            nodes, ops = frozenset(row["nodes"]), frozenset(row["ops"])
            if call.kind != "extern" and not (nodes or ops):
                ops = named_in(row["kernel"])
            if nodes or ops:  # another package's value has the name of its kernel
                ops |= {row["kernel"]}
            at = row["number"] - 1, place
            wrote = Written(at, memory, sampled(values), now["digest"], ops, nodes)
            wrote.fresh = not argument["read"]
            wrote.read = frozenset(
                one["before"]["digest"] for one in row["arguments"] if one["read"]
            )
            wrote.computed = row["kernel"] in LIBRARY and _is_product(call)
            if call.kind != "extern":
                tensors = [(_role(call, p), t) for p, t in call.tensors() if t is not None]
                wrote.moved = is_moved(tensors, tensor)
            self.written.append(wrote)

    def _source(self, name: str) -> tuple[int | None, list[str], list[str]]:
        """Return number, nodes and operators of the launch of the source that this is: the next of
        its name, which is an earlier one where the source has a loop."""
        order = [*range(self._at, len(self._sources)), *range(self._at)]
        found = next((n for n in order if self._sources[n][0] == name), None)
        if found is None:
            return None, [], []
        self._at = found + 1
        return self._at, *self._sources[found][1:]

    def _refused(self, call: taps.Call) -> None:
        """End the process where a kernel's own check fails: C++ could not pass Python by."""
        if not call.args[0] and self._open:
            row = next(reversed(self._open.values()))
            said = ctypes.string_at(call.args[4]).decode("utf-8", "replace")
            refused = {"kernel": row["kernel"], "number": row["number"], "said": said[:500]}
            self._report.update(launches=self.launches, refused=refused, state="done")
            os._exit(0)

    def _asked(self, row: Document) -> bool:
        return self._kernel in (row["kernel"], str(row["number"])) and len(self._kept) <= _KEPT

    def _given(self, row: Document, call: taps.Call) -> None:
        """Keep the arguments of a launch as it was given them, and what would launch it again."""
        tensors = {param.name: tensor for param, tensor in call.tensors()}
        values = zip(call.params, call.args)
        given = [tensors.get(p.name, value if not _points(p) else None) for p, value in values]
        self._kept[row["number"]] = list(map(on_cpu, given)), {}
        row["given"] = {
            "names": [param.name for param in call.params],
            "types": [f"{'const ' if p.const else ''}{p.type}" for p in call.params],
            "devices": [str(getattr(one, "device", "")) for one in given],
        }

    def keep(self, folder: Path) -> None:
        """Save the arguments of the launches that were asked for, as given and as written."""
        for number, (given, wrote) in self._kept.items():
            torch.save(given, folder / f"launch-{number}.pt")
            torch.save(wrote, folder / f"launch-{number}-wrote.pt")


def _points(param: Param) -> bool:
    return param.type.endswith(("*", "Handle"))


def _role(call: taps.Call, param: Param) -> tuple[bool, bool]:
    """Return whether an argument may be read, and whether it may be written; what may be both has
    been written where its digest is another afterwards."""
    name = param.name
    if name.startswith("in_out"):
        return True, True
    if call.kind == "extern":
        if name in ("out", "out0", "out1") or taps.returned(param):
            return False, True
        own = name == "self" and (call.name.endswith("_") or "_out" not in call.name)
        proxied = call.name.startswith(taps.PROXIED)
        into_second = proxied or call.name == _INTO_SECOND
        return True, into_second or (own and call.name.endswith("_"))
    if param.const or name.startswith("in_ptr"):
        return True, False
    if name.startswith("out_ptr") or call.kind == "generated":
        return False, True
    return True, True


def _is_product(call: taps.Call) -> bool:
    """Tell whether a product is right, given what it read: some of its rows, in float64."""
    given = dict(zip((param.name for param in call.params), call.args))
    given |= {param.name: tensor for param, tensor in call.tensors()}
    out, bias = given["out"], given["self"]
    factors = [given[name] for name in ("mat1", "batch1", "mat2", "batch2") if name in given]
    one, other = factors if len(factors) == 2 else (bias, factors[0])
    if not is_float(out) or not out.numel() or other.numel() > _FACTOR:
        return False
    step = -(-out.shape[-2] // _ROWS)
    with torch.no_grad():
        exact = one[..., ::step, :].double() @ other.double()
        if one is not bias:
            added = bias.expand(out.shape)[..., ::step, :].double()
            exact = given["beta"] * added + given["alpha"] * exact
        plain = exact.to(out.dtype)
        rows = (sampled(each) for each in (out[..., ::step, :], plain, exact))
        return bool(held_against(*rows)["verdict"] == "agrees")


def is_moved(tensors: list[tuple[tuple[bool, bool], Any]], written: Any) -> bool:
    """Tell whether each element is one that the kernel only read, or zero: a copy, with padding.
    Each tensor has its role before it; what is read where the kernel writes is its own."""
    own = [place_of(t) for (_, writes), t in tensors if writes]
    given = [t for role, t in tensors if role == (True, False) and t.dtype == written.dtype]
    given = [t.reshape(-1) for t in given if not any(map(place_of(t).overlaps, own))]
    if not given or max(t.numel() for t in (*given, written)) > _COPIED:
        return False
    some = torch.cat([*given, written.new_zeros(1)])
    few = sampled(written).values[:_ROWS].to(some.device)
    return bool(torch.isin(few, some).all()) and bool(torch.isin(written, some).all())


def first_nan(launches: list[Document]) -> Document | None:
    """Return the first launch that writes NaN though it reads none."""
    for row in launches:
        read = any(one.get("before", {}).get("nan") for one in row["arguments"])
        wrote = [one for one in row["arguments"] if one.get("after", {}).get("nan")]
        if wrote and not read:
            return {"number": row["number"], "argument": wrote[0]["name"]}
    return None
