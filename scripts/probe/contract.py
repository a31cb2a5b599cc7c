"""Hold captured inputs against what the exported program says it takes."""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

import linecache
import traceback
from collections.abc import Iterator
from typing import Any

from . import events, expectations, standalone

_GUARD = "Guard failed: "
_STACK_CHARACTERS = 2000


def main() -> int:
    """Report declared inputs, what differs, and whether the exported module takes the call."""
    parser = standalone.arguments(__doc__ or "")
    parser.add_argument("--exported", required=True, help="the exported program (.pt2)")
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="import")
    with report.of_failure():
        torch = standalone.prepare(options)
        report.update(state="load", torch=str(torch.__version__))
        program = torch.export.load(options.exported)
        inputs = standalone.read_inputs(torch, options.inputs)
        expected = expectations.declared(torch, program)
        report.update(
            state="compare",
            inputs=expectations.documents(expected),
            ranges=expectations.ranges(program),
            differences=expectations.differences(torch, program, expected, inputs.flat),
        )
        module = program.module()
        report.update(state="run", guards=guards(module))
        passed = run(torch, module, inputs, report)
        report.update(state="done", passed=passed)
    return 0


def run(torch: Any, module: Any, inputs: standalone.Inputs, report: standalone.Report) -> bool:
    """Call the exported module; report what it raises and where: signature, guards or model."""
    try:
        with torch.no_grad():
            result = standalone.call(torch, module, inputs)
            standalone.synchronize(torch)
    except Exception as error:
        report.update(
            exception=events.describe_error(error),
            where=where(error),
            node=failing_node(module, error),
        )
        return False
    report.update(outputs=standalone.describe_outputs(torch, result))
    return True


def guards(module: Any) -> list[str]:
    """Return the text of each guard that the module checks; only newer torch has them."""
    function = getattr(getattr(module, "_guards_fn", None), "forward", None)
    texts = [text for text in _constants(function, 3) if text.startswith(_GUARD)]
    return [text[len(_GUARD) :] for text in texts][:200]


def _constants(function: Any, depth: int) -> Iterator[str]:
    """Yield the strings in the code of a function and of those that it wraps."""
    code = getattr(function, "__code__", None)
    yield from (c for c in getattr(code, "co_consts", ()) if isinstance(c, str))
    for cell in getattr(function, "__closure__", None) or ():
        if depth > 0 and callable(cell.cell_contents):
            yield from _constants(cell.cell_contents, depth - 1)


def where(error: BaseException) -> str:
    """Tell from its traceback what raised: "signature", "guards" or "model"."""
    names = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    if _GUARD in str(error) or names & {
        "_check_input_constraints_for_graph",
        "_check_input_constraints",
    }:
        return "guards"
    if names & {"_check_inputs_match", "reorder_kwargs"} or "_assert" in names:
        return "signature"
    return "model"


def failing_node(module: Any, error: BaseException) -> dict[str, Any] | None:
    """Find the graph node that raised, and the user's line it came from."""
    lines = [
        linecache.getline(frame.filename, frame.lineno or 0)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith("<eval_with_key>")
    ]
    name = lines[-1].split("=")[0].strip() if lines else None
    for node in module.graph.nodes:
        if node.name == name and node.op == "call_function":
            stack = node.meta.get("stack_trace") or ""
            return {"name": name, "op": str(node.target), "stack": stack[-_STACK_CHARACTERS:]}
    return None
