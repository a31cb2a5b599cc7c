"""Repeat a captured call in a fresh process: package + inputs, no compilation."""

from __future__ import annotations

import time
from typing import Any

from . import standalone


def main() -> int:
    """Load, call, describe the outputs; the process ends as the call ends."""
    parser = standalone.arguments(__doc__, package=True)
    parser.add_argument("--call-repeat", type=int, default=1, metavar="N")
    parser.add_argument("--device-sync", action="store_true", help="wait after each call")
    options = parser.parse_args()
    files = {"package": options.package, "inputs_file": options.inputs}
    with standalone.started(options, **files) as report:
        report.update(state="inputs")
        inputs = standalone.read_inputs(options.inputs)
        report.update(state="load", inputs=inputs.described, changes=standalone.changes(inputs))
        model = standalone.load_package(options, inputs, report)
        result = _call(model, options, report)
        report.update(state="synchronize")
        standalone.synchronize()
        report.update(state="outputs")
        outputs = standalone.describe_outputs(result)
        report.update(state="done", outputs=outputs)
    return 0


def _call(model: Any, options: Any, report: standalone.Report) -> Any:
    result = None
    for number in range(1, options.call_repeat + 1):
        # Read again each time: the model may write to its inputs.
        inputs = standalone.read_inputs(options.inputs)
        report.update(state="run", call=number)
        began = time.perf_counter()
        with inputs.mode():
            result = standalone.call(model, inputs)
        if options.device_sync:
            standalone.synchronize()
        report.update(seconds=round(time.perf_counter() - began, 6))
    return result
