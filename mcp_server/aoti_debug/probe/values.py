"""What each kernel of a package read and wrote in one call, seen where the package calls it; held
against the exported program, or against what another package wrote."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from . import compare, slots, standalone, taps
from .graph_run import Document, Run, on_cpu
from .value_reference import first_of, fresh, hold_against_package, hold_against_program
from .value_rows import Values, first_nan

_LIMIT = 8 << 30  # bytes of a float64 copy
_LIKE = ("node", "op", "stack", "wrong", "first_wrong", "max_abs_error")  # of a comparison


def main() -> int:
    """Call the package once, and report each launch; then compare."""
    parser = standalone.arguments(__doc__, inputs=False, package=True, exported=False)
    parser.add_argument("--against", help="another package, called with the same inputs")
    parser.add_argument("--kernel", help="keep the tensors of its launches: a name or a number")
    parser.add_argument("--launches", help="JSON file: [kernel, names] of each launch")
    options = parser.parse_args()
    with standalone.started(options) as report:
        inputs = standalone.reader_of_call(options)()
        report.update(state="run", inputs=inputs.described)
        seen = Values(report, _sources(options), options.kernel)
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
            seen.keep(Path(options.report or ".").parent)
        if options.against:
            _against(options, inputs, report, seen, outputs)
        elif options.exported and not options.weightless:
            _with_program(options, inputs, report, seen, outputs)
        report.update(state="done")
    return 0


def _sources(options: Any) -> Any:
    return json.loads(Path(options.launches).read_text()) if options.launches else []


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


def first_in(options: Any, inputs: standalone.Inputs, program: Any) -> Document | None:
    """Return the first wrong value of a package whose results are wrong: which launch wrote it into
    which argument, and the program's value that it should be; None where that cannot be told."""
    report = standalone.Report(None)
    seen = Values(report, _sources(options))
    outputs = called(options, inputs, report, seen)
    hold_against_program(program, inputs, seen.written, report)
    found = first_of(seen, outputs)
    if found is None or found["then"] or not found["like"]:
        return None
    return {**found, "kernel": seen.launches[found["number"] - 1]["kernel"]}


def _with_program(
    options: Any,
    inputs: standalone.Inputs,
    report: standalone.Report,
    seen: Values,
    outputs: list[Any],
) -> None:
    """Hold outputs and all that was written against the exported program in float64."""
    program = standalone.load_program(options)
    right = [on_cpu(one) for one in Run(fresh(program))(standalone.copied(inputs).flat)]
    module = fresh(program)
    found = compare.results(outputs, right, module, lambda: standalone.copied(inputs), _LIMIT)
    report.update(compared={key: found.get(key) for key in ("verdict", "random", "reference")})
    hold_against_program(program, inputs, seen.written, report)
    _tell(report, seen, outputs, differs=found["verdict"] == "differs")


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
    verdict = compare.verdict(compare.outputs(outputs, theirs, None), random=False)
    report.update(compared={"verdict": verdict, "reference": "the other package"})
    hold_against_package(other, seen.written)
    _tell(report, seen, outputs, differs=verdict == "differs")


def _tell(report: standalone.Report, seen: Values, outputs: list[Any], *, differs: bool) -> None:
    """Report which launches agree, and where the results differ the first that does not."""
    for one in seen.written:
        argument = seen.launches[one.launch]["arguments"][one.place]
        argument["agrees"] = one.agrees is not None
        argument["like"] = {name: one.like.get(name) for name in _LIKE}
    if differs and (first := first_of(seen, outputs)) is not None:
        report.update(first=first)
    report.update(launches=seen.launches)
