"""Compile an exported program with settings that leave out a trial of Inductor's own, on data that
it made up; say which indices such data takes out of bounds, and whether the package is right."""

from __future__ import annotations

import json
import time
from functools import partial
from importlib import import_module
from typing import Any

from . import compare, describe, eager, events, indices, standalone
from .graph_run import Run, base, located, on_cpu, reached
from .lazy import torch
from .observers import IndexCheck

Document = dict[str, Any]
_FEW = 8


def main() -> int:
    """Run the program on the export's own example inputs, compile, call, compare."""
    parser = standalone.arguments(__doc__, inputs=False, exported=True)
    parser.add_argument("--settings", default="{}", help="Inductor's, a JSON object")
    parser.add_argument("--upper", type=int, help="the bound of the index in question")
    options = parser.parse_args()
    with standalone.started(options) as report:
        program = standalone.load_program(options)
        found = computed(program, options.upper)
        if len(found) > 1:
            leaves = left_by_made_up(program, example(program))
            found.sort(key=lambda one: one["node"] != leaves)
        report.update(computed=found, state="example inputs")
        report.update(outside=outside(program, example(program)), state="compile")
        began = time.perf_counter()
        inductor: Any = import_module("torch._inductor")
        settings = json.loads(options.settings)
        package = inductor.aoti_compile_and_package(program, inductor_configs=settings)
        report.update(state="call", seconds=round(time.perf_counter() - began, 1))
        standalone.skip_isa_probe()
        model = inductor.aoti_load_package(package)
        expected = eager.run(program.module(), example(program)).outputs or []
        module, given = compare.unguarded(program), partial(example, program)
        written = describe.written_places(module)
        result = list(map(on_cpu, standalone.results(model, given(), written)))
        compared = compare.results(result, expected, module, given, 1 << 31)
        report.update(state="done", verdict=compared["verdict"])
    return 0


def example(program: Any) -> standalone.Inputs:
    """Return the inputs of the export with values of their own: a model may write to them."""
    given = standalone.example(program)
    assert given is not None  # what is compiled ahead of time was exported with some
    return standalone.copied(given)


def computed(program: Any, upper: int | None) -> list[Document]:
    """Return the operators whose indices the model computes, of a size if one is asked for: from
    which inputs, by which operators."""
    found: list[Document] = []
    for node in compare.unguarded(program).graph.nodes:
        if not indices.is_indexing(node) or len(found) >= _FEW:
            continue
        for size, place in indices.sizes_indexed(node):
            if upper in (None, size) and indices.root(place) is None:
                inputs, _ = indices.ancestors(place)
                found.append({**located(node), "upper": size, "inputs": sorted(inputs)[:_FEW]})
                found[-1]["by"] = behind(place)
    return found


def behind(place: Any) -> list[str]:
    """Return the operators that make an index of floats, the last first."""

    def onward(node: Any) -> list[Any]:
        value = node.meta.get("val")
        whole = isinstance(value, torch.Tensor) and not value.is_floating_point()
        return node.all_input_nodes if whole else []

    nodes = reached([place] if hasattr(place, "op") else [], onward)
    names = (base(node) for node in nodes if node.op == "call_function")
    return list(dict.fromkeys(names))[:_FEW]


def left_by_made_up(program: Any, given: standalone.Inputs) -> str:
    """Return the node whose index leaves its bounds first when inputs are what a trial makes up:
    floats of a normal distribution, integers that are 0."""

    def made_up(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return torch.randn_like(leaf) if leaf.is_floating_point() else torch.zeros_like(leaf)

    index = IndexCheck()
    try:
        Run(compare.unguarded(program), index, asserts=False)(list(map(made_up, given.flat)))
    except Exception as error:
        if index.found is None:
            events.note("run the program on made-up data", error)
    return index.found.node if index.found is not None else ""


def outside(program: Any, given: standalone.Inputs) -> str | None:
    """Return how the export's own inputs leave the bounds of an index; "" where they keep all of
    them, None where that was not seen."""
    index = IndexCheck()
    try:
        Run(compare.unguarded(program), index)(given.flat)
        standalone.synchronize()
    except Exception as error:
        events.note("run the program on its example inputs", error)
        return str(index.found)[:300] if index.found is not None else None
    return ""
