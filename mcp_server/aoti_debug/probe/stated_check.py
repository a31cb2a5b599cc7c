"""Hold captured inputs against what the package's own source states; nothing is loaded."""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

from pathlib import Path

from . import judge, standalone, stated


def main() -> int:
    """Report what is broken, and what only the compiled check would reject."""
    parser = standalone.arguments(__doc__ or "")
    standalone.add_package_arguments(parser)
    options = parser.parse_args()
    report = standalone.Report(options.report)
    with report.of_failure():
        torch = standalone.prepare(options)
        inputs = standalone.read_inputs(torch, options.inputs)
        contract = stated.contract_in(Path(options.package), options.model)
        found = judge.breaks(contract, inputs.described, options.device_index) if contract else []
        report.update(
            state="done",
            stated=contract is not None and contract.stated,
            breaks=[_line(one) for one in found if not one.harmless],
            harmless=[_line(one) for one in found if one.harmless],
        )
    return 0


def _line(one: judge.Break) -> str:
    where = f"input {one.index}" + (f" ({one.name})" if one.name else "")
    place = f" at dimension {one.dim}" if one.dim is not None else ""
    return f"{where}: {one.property}{place}: expected {one.expected}, got {one.got}: {one.reason}"
