"""Compare a package's results with those of the exported program that it was made of."""

from __future__ import annotations

from typing import Any

from . import agreement, events, standalone

Document = dict[str, Any]


def results(
    torch: Any, package: list[Any], eager: list[Any], module: Any, inputs: str, limit: int
) -> Document:
    """Return the verdict and each output's figures. A float64 reference, which takes another run,
    is made only where the two do not agree without it."""
    random = random_ops(torch, module)
    found = agreement.outputs(torch, package, eager, None)
    verdict = agreement.verdict(found, bool(random))
    more: Document = {}
    if verdict == "differs":
        reference, more = _reference(torch, module, inputs, limit)
        if reference is not None:
            found = agreement.outputs(torch, package, eager, reference)
            verdict = agreement.verdict(found, bool(random))
    return {**more, "random": random, "outputs": found, "verdict": verdict}


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


def _reference(torch: Any, module: Any, path: str, limit: int) -> tuple[list[Any] | None, Document]:
    """Run a float64 copy; None, with the reason, when that cannot be."""
    size = sum(p.numel() * 8 for p in [*module.parameters(), *module.buffers()])
    if size > limit:
        return None, {"no_reference": f"{size} bytes in float64 are over the limit"}
    try:
        wide = agreement.widen(torch, module)
        inputs = agreement.widen_inputs(torch, standalone.read_inputs(torch, path))
        with torch.no_grad():
            return standalone.flat_outputs(torch, standalone.call(torch, wide, inputs)), {}
    except Exception as error:
        return None, {"no_reference": events.describe_error(error)}
