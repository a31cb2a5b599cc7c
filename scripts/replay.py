"""Repeat a call in a fresh process: package and inputs, no compilation."""

from __future__ import annotations

import sys

import shared


def main() -> int:
    parser = shared.parser(__doc__)
    parser.add_argument(
        "--check-inputs", action="store_true", help="with AOTI_RUNTIME_CHECK_INPUTS=1"
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="fresh processes, to be compared with each other",
    )
    parser.add_argument("--calls", type=int, default=1, metavar="N", help="calls in each process")
    parser.add_argument("--device-index", type=int, help="GPU to load the package on")
    options = parser.parse_args()
    words = ["--package", options.package, "--call-repeat", str(options.calls)]
    if options.device_index is not None:
        words += ["--device-index", str(options.device_index)]
    environment = {"AOTI_RUNTIME_CHECK_INPUTS": "1"} if options.check_inputs else {}
    seen = []
    for _ in range(max(1, options.processes)):
        outcome = shared.run("replay", options, *words, **environment)
        if outcome.code:
            shared.say_failure(outcome)
            return shared.FOUND if outcome.state != "start" else shared.NOT_DONE
        seen.append(outcome.report["outputs"])
    for index, output in enumerate(seen[0]):
        print(f"output {index}: {output}")
    for change in outcome.report.get("changes", ()):
        print(f"not as it was in the failing process: {change}")
    if any(other != seen[0] for other in seen[1:]):
        print("the processes disagree: a race, uninitialized memory, or random numbers")
        return shared.FOUND
    return shared.CLEAN


if __name__ == "__main__":
    sys.exit(main())
