"""Compare a package with the exported program it was made of, on captured inputs."""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

from importlib import import_module
from typing import Any

from . import agreement, events, standalone

_REFERENCE_BYTES = 2 * 1024 * 1024 * 1024


def main() -> int:
    """Run eager, a float64 reference where it fits, and the package; report each output."""
    parser = standalone.arguments(__doc__ or "")
    standalone.add_package_arguments(parser)
    parser.add_argument("--exported", required=True, help="the exported program (.pt2)")
    parser.add_argument("--reference-bytes", type=int, default=_REFERENCE_BYTES)
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="import")
    with report.of_failure():
        torch = standalone.prepare(options)
        report.update(state="load", torch=str(torch.__version__))
        program = torch.export.load(options.exported)
        module = unguarded(program)
        report.update(random=random_ops(torch, module))
        report.update(state="eager")
        eager = run(torch, module, standalone.read_inputs(torch, options.inputs))
        report.update(state="reference")
        reference = _reference(torch, module, options, report)
        report.update(state="load package")
        inputs = standalone.read_inputs(torch, options.inputs)
        model = standalone.load_package(torch, options, inputs, report)
        report.update(state="run")
        package = run(torch, model, inputs)
        outputs = agreement.outputs(torch, package, eager, reference)
        verdict = agreement.verdict(outputs, bool(report.content["random"]))
        report.update(state="done", outputs=outputs, verdict=verdict)
    return 0


def run(torch: Any, model: Any, inputs: standalone.Inputs) -> list[Any]:
    """Call and return the flat outputs, on the CPU."""
    with torch.no_grad():
        result = standalone.call(torch, model, inputs)
        standalone.synchronize(torch)
    flat = import_module("torch.utils._pytree").tree_leaves(result)
    return [leaf.detach().cpu() if isinstance(leaf, torch.Tensor) else leaf for leaf in flat]


def unguarded(program: Any) -> Any:
    """Return the exported module without its input checks: wrong inputs are what is looked at."""
    try:
        module = program.module(check_guards=False)
    except TypeError:  # older torch has no such argument, and no such guards
        module = program.module()
    module._forward_pre_hooks.clear()
    getattr(module, "_forward_pre_hooks_with_kwargs", {}).clear()
    return module


def random_ops(torch: Any, module: Any) -> list[str]:
    """Return the operators that draw random numbers; their outputs cannot be compared."""
    tag = torch.Tag.nondeterministic_seeded
    return sorted(
        {
            str(node.target)
            for node in module.graph.nodes
            if tag in getattr(node.target, "tags", ()) and not _is_off(node)
        }
    )


def _is_off(node: Any) -> bool:
    """Tell whether a dropout node does nothing (probability zero, or not training)."""
    return "dropout" in str(node.target) and (0.0 in node.args or False in node.args)


def _reference(
    torch: Any, module: Any, options: Any, report: standalone.Report
) -> list[Any] | None:
    """Run a float64 copy; None, with the reason in the report, when that cannot be."""
    size = sum(p.numel() * 8 for p in [*module.parameters(), *module.buffers()])
    if size > options.reference_bytes:
        report.update(no_reference=f"{size} bytes in float64 are over the limit")
        return None
    try:
        wide = agreement.widen(torch, module)
        inputs = standalone.read_inputs(torch, options.inputs)
        return run(torch, wide, agreement.widen_inputs(torch, inputs))
    except Exception as error:
        report.update(no_reference=events.describe_error(error))
        return None
