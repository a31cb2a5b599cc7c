"""Hold what a package wrote against an exported program, or against what another package wrote."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

from . import compare, eager, events, standalone
from .graph_run import Document, Observer, Run, base, located
from .lazy import torch
from .marks import tensors
from .value_rows import Values
from .value_samples import Sample, digest, sampled
from .value_search import Matching, Written, first_wrong

_SEEN = 4  # launches after the first wrong one that are named


class Own(Observer):
    """Samples of the values of all nodes, as the program computes them."""

    def __init__(self) -> None:
        self.samples: dict[tuple[str, int], Sample] = {}

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        for place, tensor in enumerate(tensors(value)):
            if tensor.layout == torch.strided:
                self.samples[node.name, place] = sampled(tensor)


class Exact(Observer):
    """Hold the values of a run in float64 against what was written; `decomposed`: of a program
    whose nodes are made of those of another."""

    def __init__(self, matching: Matching, own: Own, *, decomposed: bool) -> None:
        self._matching, self._own, self._decomposed = matching, own.samples, decomposed

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        made_of = node.meta.get("from_node") if self._decomposed else None
        name = made_of[-1].name if made_of else node.name
        for place, tensor in enumerate(tensors(value)):
            own = self._own.pop((node.name, place), None)
            if own is not None:
                what = {**located(node), "node": name, "name": base(node)}
                self._matching.offer(what, own, sampled(tensor))


def hold_against_program(
    program: Any, inputs: standalone.Inputs, written: list[Written], report: standalone.Report
) -> None:
    """Hold all that was written against the values of a program, and of what Inductor makes its
    kernels of, each in float64 and as the program itself computes it."""
    matching = Matching(written)
    _hold(matching, program, inputs, decomposed=False)
    try:
        table = import_module("torch._inductor.decomposition").select_decomp_table()
        parts = program.run_decompositions(table)
        _hold(matching, parts, inputs, decomposed=True)
    except Exception as error:  # it is the same program, in smaller parts
        report.update(not_decomposed=events.said(error, 300))


def _hold(matching: Matching, program: Any, inputs: standalone.Inputs, *, decomposed: bool) -> None:
    own = Own()
    Run(fresh(program), own)(standalone.copied(inputs).flat)
    exact = Exact(matching, own, decomposed=decomposed)
    eager.in_float64(fresh(program), standalone.copied(inputs), (), exact)


def fresh(program: Any) -> Any:
    """Return a program's module, with buffers of its own if it writes to some."""
    module = compare.unguarded(program)
    return copy.deepcopy(module) if program.graph_signature.buffers_to_mutate else module


def hold_against_package(other: Values, written: list[Written]) -> None:
    """Hold all that was written against what another package wrote."""
    matching = Matching(written)
    for one in other.written:
        row = other.launches[one.launch]
        argument = row["arguments"][one.place]["name"]
        what = {"node": f"{argument} of launch {row['number']}", "op": row["kernel"]}
        matching.offer({**what, "name": row["kernel"]}, one.sample, one.sample)


def first_of(seen: Values, outputs: list[Any]) -> Document | None:
    """Return the first wrong value: launch, argument, the reference's value that it should be, and
    the launches that may be wrong in its place."""
    results = {digest(one) for one in outputs if isinstance(one, torch.Tensor)}
    found = first_wrong(seen.launches, seen.written, results)
    if found is None:
        return None
    one, after = found
    row = seen.launches[one.launch]
    return {
        "number": row["number"],
        "argument": row["arguments"][one.place]["name"],
        "like": one.like,
        "then": [seen.launches[n]["number"] for n in after[:_SEEN]],
    }
