"""Decide whether two results agree as well as their precision allows, and compare a package's with
those of the exported program that it was made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import describe, events, intermediates, marks
from . import eager as plainly
from .describe import dtype_of
from .graph_run import Observer
from .lazy import torch
from .standalone import Inputs, statistics

Document = dict[str, Any]

FACTOR = 8.0  # a package may be this much further from the truth than eager is
# dtype -> (relative, absolute) error that is always granted; the latter beside the largest value,
# where that is below 1
_GRANTED = {
    "float64": (1e-9, 1e-11),
    "float32": (1e-4, 1e-6),
    "float16": (4e-3, 1e-4),
    "bfloat16": (3e-2, 1e-3),
}
_DENORMAL = 1.2e-38  # what kernels may take for zero
_ROUNDINGS = 2
_FAR = 1000.0
_PROBABILITIES = ("p", "dropout", "dropout_p")
_TRAINING = ("train", "training")


def outputs(
    package: list[Any],
    eager: list[Any],
    reference: list[Any] | None,
    shorter: list[Any] | None = None,
) -> list[Document]:
    """Compare output by output; each gets a verdict and the figures behind it. `shorter` is what
    the reference becomes with a precision that the program may use as well."""
    found: list[Document] = []
    for index in range(max(len(package), len(eager))):
        if index >= len(package) or index >= len(eager):
            found.append({"index": index, "verdict": "count"})
            continue
        truth, short = (
            given[index] if given and index < len(given) else None for given in (reference, shorter)
        )
        found.append({"index": index, **_output(package[index], eager[index], truth, short)})
    return found


def verdict(found: list[Document], random: bool) -> str:
    """Sum up: "agrees", "differs", or "random" when nobody can tell."""
    if all(output["verdict"] == "agrees" for output in found):
        return "agrees"
    return "random" if random else "differs"


def agrees(package: list[Any], eager: list[Any], reference: list[Any] | None = None) -> bool:
    """Tell whether all outputs agree, where nothing is random."""
    return verdict(outputs(package, eager, reference), random=False) == "agrees"


def _output(package: Any, eager: Any, truth: Any, short: Any) -> Document:
    if not isinstance(package, torch.Tensor) or not isinstance(eager, torch.Tensor):
        return {"verdict": "agrees" if marks.alike(package, eager) else "value"}
    found: Document = {
        "shape": list(package.shape),
        "dtype": dtype_of(package),
        "package": statistics(package),
        "eager": statistics(eager),
    }
    if package.shape != eager.shape:
        return {**found, "verdict": "shape", "expected": list(eager.shape)}
    if package.dtype != eager.dtype:
        expected = dtype_of(eager)
        return {**found, "verdict": "dtype", "expected": expected}
    if package.stride() != eager.stride():
        found["stride"] = {"package": list(package.stride()), "eager": list(eager.stride())}
    if not package.is_floating_point():
        places = (package != eager).nonzero()
        found.update(wrong=len(places), elements=package.numel())
        if len(places) and not package.is_complex():
            found["first_wrong"] = first(places, package, eager)
        return {**found, "verdict": "differs" if len(places) else "agrees"}
    return {**found, **_floats(package, eager, truth, short)}


def _floats(package: Any, eager: Any, truth: Any, short: Any) -> Document:
    if truth is None or truth.shape != eager.shape or not truth.is_floating_point():
        truth = eager
    relative, absolute = _GRANTED.get(dtype_of(eager), (1e-1, 1e-2))
    wide, plain, exact = (t.to(torch.float64) for t in (package, eager, truth))
    finite = torch.isfinite(exact) & torch.isfinite(plain)
    strange = torch.isfinite(wide) ^ torch.isfinite(plain)
    strange &= finite | ~(torch.isfinite(exact) | torch.isfinite(plain))
    # Where both know no number, the package must have the same NaN or infinity.
    strange |= ~torch.isfinite(plain) & marks.alike(plain, exact) & ~marks.alike(wide, plain)
    known = finite & ~strange
    eager_off = (plain - exact).abs()
    if short is not None and short.shape == exact.shape:
        eager_off = torch.maximum(eager_off, (short.to(torch.float64) - exact).abs())
    eager_off = eager_off[finite]
    off, scale = ((wide - exact).abs(), exact.abs())
    eager_worst = eager_off.max().item() if eager_off.numel() else 0.0
    absolute = max(absolute * _size(scale[known]), _DENORMAL)
    granted = FACTOR * eager_worst + relative * scale + absolute
    wrong = strange | (known & (off > granted))
    off, scale = off[known], scale[known]
    if not bool(strange.any()) and _close(off, eager_off, scale, package, relative):
        wrong = strange
    places = wrong.nonzero()
    between, size = ((wide - plain).abs()[known], plain.abs()[known])
    return {
        "verdict": "differs" if len(places) else "agrees",
        "wrong": len(places),
        "apart": int((between > relative * scale + absolute).sum()) + int(strange.sum()),
        "max_abs_apart": between.max().item() if between.numel() else 0.0,  # from the program
        "max_rel_apart": _relative(between, size),
        "elements": package.numel(),
        "not_finite": int(strange.sum()),
        "max_abs_error": off.max().item() if off.numel() else 0.0,
        "max_rel_error": _relative(off, scale),
        "eager_max_abs_error": eager_worst,
        "first_wrong": first(places, wide, exact),
    }


def first(places: Any, package: Any, expected: Any) -> Document | None:
    """Return the first of these places with what stands there; None where there is none."""
    if not len(places):
        return None
    at = tuple(places[0].tolist())
    return {"at": list(at), "package": package[at].item(), "expected": expected[at].item()}


def _close(off: Any, eager_off: Any, scale: Any, package: Any, tolerance: float) -> bool:
    """Tell what torch's own accuracy check does: is the root of the mean square error at most a
    small multiple of eager's. The rest is granted in proportion where values are small."""
    half = str(package.dtype) in ("torch.float16", "torch.bfloat16")
    multiple = 3.0 if half or package.numel() < 1000 else 2.0
    size = min(1.0, _root_mean_square(scale))
    allowed = multiple * _root_mean_square(eager_off) + tolerance / 10 * size
    return _root_mean_square(off) <= allowed


def _size(values: Any) -> float:
    """Return the largest value, where that is below 1, and 1 where all are zero."""
    return min(1.0, float(values.max()) or 1.0) if values.numel() else 1.0


def _root_mean_square(values: Any) -> float:
    return float((values * values).mean().sqrt()) if values.numel() else 0.0


def _relative(off: Any, scale: Any) -> float:
    """Return the largest relative error, where a value is at least a thousandth of the largest."""
    if not off.numel() or not scale.max():
        return 0.0
    return float((off / scale.clamp(min=scale.max().item() / 1000)).max())


def results(
    package: list[Any], eager: list[Any], module: Any, inputs: Callable[[], Inputs], limit: int
) -> Document:
    """Return the verdict and each output's figures. A float64 reference, which takes another run,
    is made only where the two do not agree without it, and what rounding can make of the results
    is measured only where they do not agree with it."""
    random = random_ops(module)
    found = outputs(package, eager, None)
    said = verdict(found, bool(random))
    more: Document = {}
    if said == "differs":
        reference, more = _reference(module, inputs, limit)
        found, rounded = within_rounding(package, eager, reference, module, inputs())
        more["reference"] += OWN_ROUNDING if rounded else ""
        said = verdict(found, bool(random))
    if said == "random":
        more = {**more, **_drawn(random_nodes(module))}
    return {**more, "random": random, "outputs": found, "verdict": said}


def named(found: list[Document], module: Any, key: str = "index") -> list[Document]:
    """Name the inputs that follow the outputs of an exported module because it writes to them, in
    what was found of its results; `key` tells of which."""
    own = len(torch.utils._pytree.tree_leaves(intermediates.output_of(module.graph).args[0]))
    written = [str(one.target) for _, one, _ in describe.written_inputs(module.graph)]
    for one in found:
        if (place := one.get(key, 0) - own) >= 0:
            one["input"] = written[place]
    return found


def within_rounding(
    package: list[Any], eager: list[Any], reference: list[Any] | None, module: Any, inputs: Inputs
) -> tuple[list[Document], bool]:
    """Compare output by output; those that differ also by what TF32, then any other rounding, can
    make of the program's results. Tell too whether the latter was measured."""
    found, rounded = outputs(package, eager, reference), False
    made = [reference or eager]
    for measure in (in_tf32, rounding):
        far = measure is rounding and reference is not None and beyond_rounding(found)
        if far or verdict(found, random=False) == "agrees":
            break
        more = measure(module, inputs, reference)
        if more is not None:
            made.append(more)
            rounded = measure is rounding
            furthest = [_furthest(leaves) for leaves in zip(*made)]
            found = outputs(package, eager, reference, furthest)
    return found, rounded


def beyond_rounding(found: list[Document]) -> bool:
    """Tell whether no rounding can make such differences: much of an output is off, and a thousand
    times further from float64 than the program is, which rounds as often."""
    return any(
        one["verdict"] == "differs"
        and (one.get("wrong") or 0) > (one.get("elements") or 0) / 4
        and (one.get("max_abs_error") or 0.0) > _FAR * max(one["eager_max_abs_error"], _DENORMAL)
        for one in found
        if one.get("eager_max_abs_error") is not None
    )


def in_tf32(
    module: Any, inputs: Inputs, reference: list[Any] | None, *watching: Observer
) -> list[Any] | None:
    """Return what a module gives in float64 when the factors of its convolutions are rounded to
    TF32; None where they are not, or this cannot be told. torch lets cuDNN do so by itself, and
    the layout decides whether it does: a package may where the program does not."""
    if reference is None or not intermediates.convolves_in_tf32(module):
        return None
    try:
        wide, wider = plainly.widen(module), plainly.widen_inputs(inputs)
        short = wide, wider, intermediates.CONVOLUTIONS, 10, True
        return intermediates.with_short_factors(*short, *watching)
    except Exception:  # without a measure of rounding, float32's own is the measure
        return None


def unguarded(program: Any) -> Any:
    """Return the exported module without its input checks: wrong inputs are what is looked at."""
    try:
        module = program.module(check_guards=False)
    except TypeError:  # older torch has no such argument, and no such guards
        module = program.module()
    module._forward_pre_hooks.clear()
    getattr(module, "_forward_pre_hooks_with_kwargs", {}).clear()
    return module


def random_ops(module: Any) -> list[str]:
    """Return the operators that draw random numbers; their outputs cannot be compared."""
    return sorted({str(node.target) for node in random_nodes(module)})


def random_nodes(module: Any) -> list[Any]:
    tag = torch.Tag.nondeterministic_seeded
    nodes = module.graph.nodes
    return [n for n in nodes if tag in getattr(n.target, "tags", ()) and not _is_off(n)]


def _drawn(nodes: list[Any]) -> Document:
    """Say where an operator draws: one of a layer of torch's first, which the model's mode turns
    off, then any dropout."""

    def layer(node: Any) -> str:
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        return str(stack[-1][1]).removeprefix("<class '") if stack else ""

    def place(node: Any) -> tuple[bool, bool]:
        dropout = "dropout" in str(node.target)
        return not (dropout and layer(node).startswith("torch.nn.")), not dropout

    node = min(nodes, key=place)
    return {"drawn": (node.meta.get("stack_trace") or "")[-2000:], "layer": layer(node)}


def _is_off(node: Any) -> bool:
    """Tell whether a node draws nothing: dropout, recurrent layers and attention with probability
    zero, or not training."""
    schema = getattr(node.target, "_schema", None)
    for place, argument in enumerate(schema.arguments if schema is not None else ()):
        if argument.name not in _PROBABILITIES + _TRAINING:
            continue
        given = node.args[place] if place < len(node.args) else node.kwargs.get(argument.name)
        if given is None:
            given = argument.default_value
        if given is False or (argument.name in _PROBABILITIES and given == 0.0):
            return True
    return False


FLOAT64 = "float64"
OWN_ROUNDING = ", and what its own rounding can do"


def _reference(
    module: Any, inputs: Callable[[], Inputs], limit: int
) -> tuple[list[Any] | None, Document]:
    """Run a float64 copy, and say what the measure is; None where that cannot be, with why not."""
    size = sum(p.numel() * 8 for p in [*module.parameters(), *module.buffers()])
    own = "the program itself"
    if size > limit:
        why_not = f"{size} bytes in float64 are over the limit"
        return None, {"no_reference": why_not, "reference": own}
    try:
        values, refusing = plainly.in_float64(module, inputs(), writes=True)
    except Exception as error:
        return None, {"no_reference": events.describe_error(error), "reference": own}
    found: list[Any] = values["outputs"]
    if not refusing:
        return found, {"reference": FLOAT64}
    named = ", ".join(refusing[:3]) + ", …" * (len(refusing) > 3)
    return found, {"reference": f"{FLOAT64}, but for {named}"}


def rounding(module: Any, inputs: Inputs, reference: list[Any] | None) -> list[Any] | None:
    """Return what rounding can make of a program's results: of two runs with other rounding the
    values that are furthest from the reference, else from one another; None where none runs."""
    try:
        runs = [plainly.rounded_anew(module, inputs, seed) for seed in range(_ROUNDINGS)]
    except Exception:  # it ran before, as it is
        return None
    truth = reference or runs[0]
    return [_furthest(leaves) for leaves in zip(truth, *runs)]


def _furthest(leaves: tuple[Any, ...]) -> Any:
    truth, *others = leaves
    tensors = all(isinstance(one, torch.Tensor) and one.shape == truth.shape for one in leaves)
    if not tensors or not truth.is_floating_point():
        return None
    found, exact = others[0].to(torch.float64), truth.to(torch.float64)
    for other in (one.to(torch.float64) for one in others[1:]):
        found = torch.where((other - exact).abs() > (found - exact).abs(), other, found)
    return found
