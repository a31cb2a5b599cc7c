"""Run the exported program node by node; name the node or weight where a NaN or an infinity of an
output first appears, an index that is out of bounds, each custom operator whose result is not what
its fake kernel promised of such inputs, and each that writes to an input without declaring it."""

from __future__ import annotations

import sys

import shared
from probe.vocabulary import owner


def main() -> int:
    parser = shared.parser(__doc__, package=False)
    shared.take_program(parser, "exported", help="of torch.export.save")
    options = parser.parse_intermixed_args()
    outcome = shared.run("walk", options, "--exported", options.exported)
    report = outcome.report
    if "rows" not in report:
        shared.say_failure(outcome)
        return shared.NOT_DONE
    origin, index, raised = report["origin"], report["index"], report["raised"]
    if origin and origin["kind"] == "inf" and (origin.get("what") or {}).get("kind") == "input":
        origin = None  # a mask
    for bad in (origin, (origin or {}).get("then")):
        if bad:
            say_origin(bad)
    for wrong in report["mismatches"]:
        print(
            f"custom operator {wrong['op']} (node {wrong['node']}), output {wrong['output']}: "
            f"{wrong['property']} promised {wrong['expected']}, got {wrong['got']}"
        )
    for wrote in report["written"]:
        print(
            f"custom operator {wrote['op']} (node {wrote['node']}) writes to its argument "
            f"{wrote['argument']} and does not declare it"
        )
    if index:
        print(
            f"node {index['node']}, {index['op']}: index {index['value']} of "
            f"{index['source']['name']} is out of bounds: "
            f"{index['lower']} <= index < {index['upper']}"
        )
        say_line(index)
    if raised:
        message = f"{raised['type']}: {raised['message'][:500]}"
        print(f"eager raises at node {raised['node']}: {message}")
    print(f"{report['nodes']} nodes, {len(report['rows'])} float values")
    wrong = origin or index or report["mismatches"] or report["written"] or raised
    return shared.FOUND if wrong else shared.CLEAN


def say_origin(bad: shared.Document) -> None:
    """Print where values that are not finite first appear, and the line of the model."""
    word = "NaN" if bad["kind"] == "nan" else "infinity"
    held = bad.get("what")
    place = f"{held['kind']} {held['name']}" if held else f"node {bad['node']}, {bad['op']}"
    print(f"first {word}: {place}: {bad['count']} of {bad['elements']}")
    if reason := bad.get("reason"):
        print(reason["text"])
    if not held:
        say_line(bad)


def say_line(node: shared.Document) -> None:
    """Print the innermost line that is not torch's."""
    lines = [line for line in node["stack"] if owner(line[0]) != "torch"][-1:]
    print("\n".join(f"{file}:{line}: {text}" for file, line, text in lines) or "no line is known")


if __name__ == "__main__":
    sys.exit(main())
