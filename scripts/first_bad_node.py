"""Run the exported program node by node; name the first node that makes a NaN or an infinity,
each custom operator whose result is not what its fake kernel promised of such inputs, and each that
writes to an input without declaring it."""

from __future__ import annotations

import sys

import shared


def main() -> int:
    parser = shared.parser(__doc__, package=False)
    parser.add_argument("exported", metavar="MODEL.ep.pt2", help="of torch.export.save")
    options = parser.parse_intermixed_args()
    shared.existing(options.exported, options.inputs)
    outcome = shared.run("nodes", options, "--exported", options.exported)
    report = outcome.report
    if "bad" not in report:
        shared.say_failure(outcome)
        return shared.NOT_DONE
    for bad in report["bad"]:
        count = f"{bad['count']} of {bad['elements']}"
        print(f"first {bad['kind']}: node {bad['node']}, {bad['op']}: {count}")
        print(bad["stack"].rstrip() or "no line of the model is known")
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
    if error := report.get("exception"):
        print(f"eager raises at node {report['at']}: {error['type']}: {error['message'][:500]}")
    print(f"{report['nodes']} nodes run")
    wrong = report["bad"] or report["mismatches"] or report["written"] or error
    return shared.FOUND if wrong else shared.CLEAN


if __name__ == "__main__":
    sys.exit(main())
