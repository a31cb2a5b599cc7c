"""Hold a call against all that the package promises: what its source states, the exported
program's guards, and the compiled model's own check."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shared
from probe import judge, wrapper_contract
from probe.vocabulary import Break, Leaf


def main() -> int:
    parser = shared.parser(__doc__)
    said = "of torch.export.save; without it guards and constant arguments are not checked"
    shared.take_program(parser, help=said)
    options = parser.parse_args()
    words = ("--package", options.package)
    outcome = shared.run("replay", options, *words, AOTI_RUNTIME_CHECK_INPUTS="1")
    if "inputs" not in outcome.report:
        shared.say_failure(outcome)
        return shared.NOT_DONE
    found, harmless = stated(options.package, outcome.report["inputs"])
    complaint = compiled(outcome)
    fails = complaint is not None and "input_handles[" not in complaint
    if fails:
        print(f"FAILS   compiled: {complaint}")
    elif complaint and harmless and not found:
        print(f"the compiled check agrees, harmlessly: {complaint}")
    elif complaint:
        found.append(f"compiled: {complaint}")
    for line in found:
        print(f"BROKEN  {line}")
    if options.exported:
        more = exported(options)
        for line in more:
            print(f"BROKEN  {line}")
        found += more
    else:
        print("no --exported: guards and values of constant arguments were not checked")
    if found:
        print(f"{len(found)} broken")
    else:
        print("no promise broken, yet the call fails" if fails else "the call keeps the contract")
    return shared.FOUND if found or fails else shared.CLEAN


def stated(package: str, described: list[shared.Document]) -> tuple[list[str], list[str]]:
    """Compare with the source in the package, not run: what is broken, what harmless."""
    contract = wrapper_contract.contract_in(Path(package))
    if contract is None or not contract.stated:
        print("the package's source does not state its inputs")
    breaks = judge.breaks(contract, list(map(Leaf.of, described))) if contract is not None else []
    harmless = [told(one) for one in breaks if one.harmless]
    for one in harmless:
        print(f"harmless, though the compiled check rejects it: {one}")
    return [f"stated: {told(one)}" for one in breaks if not one.harmless], harmless


def told(one: Break) -> str:
    where = f"input {one.index}" + (f" ({one.name})" if one.name else "")
    place = f" at dimension {one.dim}" if one.dim is not None else ""
    return f"{where}: {one.property}{place}: expected {one.expected}, got {one.got}: {one.reason}"


def compiled(outcome: shared.Outcome) -> str | None:
    """Return what the model says that was called with its own check switched on."""
    if outcome.code == 0:
        return None
    if outcome.state == "load":
        shared.say_failure(outcome)
        raise SystemExit(shared.NOT_DONE)
    marked = [line.strip() for line in outcome.stderr.splitlines() if "input_handles[" in line]
    said = [*marked, outcome.error, outcome.died, shared.first_message(outcome.stderr)]
    return next(line for line in said if line)


def exported(options: argparse.Namespace) -> list[str]:
    """Compare with the exported program, and call it as far as its guards."""
    words = ("--exported", options.exported, "--steps", "guards")
    outcome = shared.run("checks", options, *words)
    report = outcome.report.get("steps", {}).get("guards", {})
    if "passed" not in report:
        shared.say_failure(outcome)
        raise SystemExit(shared.NOT_DONE)
    differences = [
        f"exported: {d.get('name') or d['property']}: {d['property']}"
        + (f" at dimension {d['dim']}" if "dim" in d else "")
        + f": expected {d['expected']}, got {d['got']}"
        for d in report["differences"]
    ]
    error = report.get("exception")
    if error and report.get("where") != "model":
        differences.append(f"exported: {error['message'].strip().splitlines()[0]}")
    elif error:
        reason = error["message"].splitlines()[0][:300]
        print(f"the model itself fails (eager, too): {error['type']}: {reason}")
    return differences


if __name__ == "__main__":
    sys.exit(main())
