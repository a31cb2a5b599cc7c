"""What each kernel of a package read and wrote in one call, seen where the package calls it; held
against the exported program, or against what another package wrote."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

from . import compare, eager, events, slots, standalone, taps
from .graph_run import Run, on_cpu
from .lazy import torch
from .value_rows import Values, first_nan
from .value_samples import digest
from .value_search import Exact, Matching, Own, first_wrong

_SEEN = 4  # launches after the first wrong one that are named
_LIMIT = 8 << 30  # bytes of a float64 copy
_LIKE = ("node", "op", "stack", "wrong", "first_wrong", "max_abs_error")  # of a comparison


def main() -> int:
    """Call the package once, and report each launch; then compare."""
    parser = standalone.arguments(__doc__, inputs=False, package=True, exported=False)
    parser.add_argument("--against", help="another package, called with the same inputs")
    parser.add_argument("--kernel", help="keep the tensors of its launches: a name or a number")
    parser.add_argument("--launches", help="JSON file: [kernel, ops] of each launch of the source")
    options = parser.parse_args()
    with standalone.started(options) as report:
        inputs = _inputs(options)
        sources = json.loads(Path(options.launches).read_text()) if options.launches else []
        report.update(state="run", inputs=inputs.described)
        seen = Values(report, sources, options.kernel)
        began = time.perf_counter()
        outputs = called(options, inputs, report, seen)
        report.update(
            state="compare",
            launches=seen.launches,
            unseen=seen.unseen,
            outputs=standalone.describe_outputs(outputs),
            nan=first_nan(seen.launches),
            seconds=round(time.perf_counter() - began, 3),
        )
        if options.kernel:
            report.update(kept=seen.keep(Path(options.report or ".").parent))
        if options.against:
            _against(options, inputs, report, seen, outputs)
        elif options.exported and not options.weightless:
            _with_program(options, inputs, report, seen, outputs)
        report.update(state="done")
    return 0


def _inputs(options: Any) -> standalone.Inputs:
    """Return the inputs of the call: those given, else the program's example."""
    if options.inputs:
        return standalone.read_inputs(options.inputs)
    found = standalone.example(standalone.load_program(options)) if options.exported else None
    if found is None:
        raise ValueError("give the inputs of a call, or an exported program that has an example")
    return found


def called(
    options: Any, inputs: standalone.Inputs, report: standalone.Report, seen: Values
) -> list[Any]:
    """Load the package, call it once under the hook, and return its flat outputs.

    Raises:
        Unavailable: it calls its kernels in a way that cannot be seen.
    """
    with taps.watched(seen) as watch:
        model = standalone.load_package(options, inputs, report)
        seen.looks = True
        outputs = [on_cpu(one) for one in standalone.results(model, standalone.copied(inputs))]
        seen.looks = False
    seen.unseen = watch.unseen
    if watch.error is not None:
        raise watch.error
    if not seen.launches:
        raise slots.Unavailable(
            "none of its kernels was seen: the package calls them directly, not by its table of "
            "imported functions, or carries no source that declares them"
        )
    return outputs


def _with_program(
    options: Any,
    inputs: standalone.Inputs,
    report: standalone.Report,
    seen: Values,
    outputs: list[Any],
) -> None:
    """Hold outputs and all that was written against the exported program in float64."""
    program = standalone.load_program(options)
    right = [on_cpu(one) for one in Run(_fresh(program))(standalone.copied(inputs).flat)]
    module = _fresh(program)
    found = compare.results(outputs, right, module, lambda: standalone.copied(inputs), _LIMIT)
    report.update(compared={key: found.get(key) for key in ("verdict", "random", "reference")})
    matching = Matching(seen.written)
    for part in (program, _decomposed(program, report)):
        if part is not None:
            own = Own()
            Run(_fresh(part), own)(standalone.copied(inputs).flat)
            exact = Exact(matching, own)
            eager.in_float64(_fresh(part), standalone.copied(inputs), (), exact)
    _tell(report, seen, outputs, differs=found["verdict"] == "differs")


def _fresh(program: Any) -> Any:
    """Return a program's module, with buffers of its own if it writes to some."""
    module = compare.unguarded(program)
    return copy.deepcopy(module) if program.graph_signature.buffers_to_mutate else module


def _decomposed(program: Any, report: standalone.Report) -> Any:
    """Return the program in the operators that Inductor makes kernels of; None where torch cannot
    make it."""
    try:
        table = __import__("torch._inductor.decomposition", fromlist=["select_decomp_table"])
        return program.run_decompositions(table.select_decomp_table())
    except Exception as error:
        report.update(not_decomposed=events.said(error, 300))
        return None


def _against(
    options: Any,
    inputs: standalone.Inputs,
    report: standalone.Report,
    seen: Values,
    outputs: list[Any],
) -> None:
    """Hold all that was written against what another package writes."""
    other = Values(report, [])
    options.package, options.model = options.against, "model"
    theirs = called(options, inputs, report, other)
    found = compare.outputs(outputs, theirs, None)
    verdict = compare.verdict(found, random=False)
    report.update(compared={"verdict": verdict, "reference": "the other package"})
    matching = Matching(seen.written)
    for one in other.written:
        row = other.launches[one.launch]
        argument = row["arguments"][one.place]["name"]
        what = {"node": f"{argument} of launch {row['number']}", "op": row["kernel"]}
        matching.offer({**what, "name": row["kernel"]}, one.sample, one.sample)
    _tell(report, seen, outputs, differs=verdict == "differs")


def _tell(report: standalone.Report, seen: Values, outputs: list[Any], *, differs: bool) -> None:
    """Report which launches agree, and where the results differ the first that does not."""
    for one in seen.written:
        argument = seen.launches[one.launch]["arguments"][one.place]
        argument["agrees"] = one.agrees is not None
        like = one.agrees or (one.closest[1] if one.closest is not None else {})
        argument["like"] = {name: like.get(name) for name in _LIKE}
    results = {digest(one) for one in outputs if isinstance(one, torch.Tensor)}
    first = first_wrong(seen.launches, seen.written, results) if differs else None
    if first is not None:
        one, after = first
        row = seen.launches[one.launch]
        report.update(
            first={
                "number": row["number"],
                "argument": row["arguments"][one.place]["name"],
                "then": [seen.launches[n]["number"] for n in after[:_SEEN]],
            }
        )
    report.update(launches=seen.launches)
