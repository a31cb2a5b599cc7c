"""Run an exported program on captured inputs, once, and report: which index is out of bounds, where
NaN and Inf first appear, values along the model, custom operators that break their promises."""

from __future__ import annotations

import time
from typing import Any

from . import events, standalone, wide
from .compare import unguarded
from .graph_run import Document, Run, located
from .nonfinite_origins import Origins
from .observers import IndexCheck, Promises, Values, Writes


def main() -> int:
    """Run the graph; an index out of bounds, or a node that raises, ends it."""
    options = standalone.arguments(__doc__, exported=True).parse_args()
    with standalone.started(options) as report:
        module = unguarded(standalone.load_program(options))
        inputs = standalone.read_inputs(options.inputs)
        report.update(state="nodes")
        began = time.perf_counter()
        index, promises, writes = IndexCheck(), Promises(), Writes()
        values, integers = Values(), wide.Origins()
        origins = Origins(values)
        run = Run(module, index, writes, promises, values, origins, integers, asserts=False)
        raised = None
        try:
            run(inputs.flat)
            standalone.synchronize()
        except Exception as error:  # what was seen until then counts
            if index.found is None:
                raised = {**located(run.at), **events.describe_error(error)}
        origin = origins.cause(module.graph)
        meant = origin is not None and bool(origin.get("meant"))
        if origin is not None:
            wrapped = integers.wrapped_behind(origin["node"])
            if wrapped and _finite_without(module, inputs.flat, wrapped, origin["node"]):
                origin = {**origin, "wrapped": wrapped}
        report.update(
            state="done",
            seconds=round(time.perf_counter() - began, 3),
            nodes=len(module.graph.nodes),
            rows=values.rows,
            origin=None if meant else origin,
            meant=meant,
            index=index.found and {**located(run.at), **vars(index.found), "chain": index.chain},
            raised=raised,
            written=writes.found,
            mismatches=promises.mismatches,
        )
    return 0


def _finite_without(module: Any, flat: list[Any], wrapped: Document, node: str) -> bool:
    """Tell whether a node is finite where an integer before it is computed in 64 bits."""

    def compute(_: Any, one: Any, args: Any, kwargs: Any) -> Any:
        if one.name == wrapped["node"]:
            return wide.in_64_bits(one, args, kwargs)
        return one.target(*args, **kwargs)

    values = Values()
    try:
        Run(module, values, asserts=False, compute=compute)(flat)
    except Exception:  # of what takes no 64 bits
        return False
    return node not in values.nan | values.inf
