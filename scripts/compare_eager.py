"""Compare a package with the exported program that it was made of, eager and in float64."""

from __future__ import annotations

import sys

import shared


def main() -> int:
    parser = shared.parser(__doc__)
    shared.take_program(parser, required=True, help="of torch.export.save")
    options = parser.parse_args()
    words = ("--package", options.package, "--exported", options.exported)
    outcome = shared.run("checks", options, *words, "--steps", "compare")
    report = outcome.report.get("steps", {}).get("compare", {})
    if "verdict" not in report:
        shared.say_failure(outcome)
        ran = outcome.state == "compare"
        return shared.FOUND if ran else shared.NOT_DONE
    if report.get("random"):
        print(f"random operators, so outputs cannot agree: {', '.join(report['random'])}")
    if report.get("no_reference"):
        print(f"no float64 reference: {report['no_reference']}")
    if report.get("reference"):
        print(f"measured against: {report['reference']}")
    for output in report["outputs"]:
        print(f"output {output['index']}: {output['verdict']}" + figures(output))
    print(
        {
            "agrees": "the package agrees with eager",
            "differs": "the package differs from eager",
            "random": "unknown: random operators",
        }[report["verdict"]]
    )
    return shared.FOUND if report["verdict"] == "differs" else shared.CLEAN


def figures(output: shared.Document) -> str:
    """Return the figures behind a verdict."""
    if output["verdict"] in ("shape", "dtype"):
        return f": {output['shape']} {output['dtype']}, eager {output['expected']}"
    if "max_abs_error" not in output:
        return f": {output['wrong']} wrong" if "wrong" in output else ""
    return (
        f": {output['wrong']} of {output['elements']} wrong, "
        f"largest error {output['max_abs_error']:.3g} "
        f"(eager itself: {output['eager_max_abs_error']:.3g}), "
        f"{output['not_finite']} not finite where eager is"
        + (f", first: {output['first_wrong']}" if output["first_wrong"] else "")
    )


if __name__ == "__main__":
    sys.exit(main())
