"""Hold a fixed package against eager and against the model as it was, on inputs it never saw.

For the failing call's inputs, the example's and fresh ones of other sizes: does the package agree
with the program that it was made of, and does that program compute what the original one did?
"""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

from importlib import import_module
from typing import Any

from . import compare, eager, events, standalone

Document = dict[str, Any]
Inputs = standalone.Inputs

_SIZE = 96  # the largest fresh size
# Operators that make a bad value look like a good one; the second kind as the last one only.
_HIDING = ("nan_to_num", "isnan", "isinf", "isfinite")
_LAST = tuple(
    """
    clamp clamp_min clamp_max hardtanh where masked_fill minimum maximum
    """.split()
)


def main() -> int:
    """Try the failing call, the example and fresh inputs; the report is whole after each."""
    parser = standalone.arguments(__doc__ or "", inputs=False)
    standalone.add_package_arguments(parser)
    parser.add_argument("--exported", required=True, help="the fixed program")
    parser.add_argument("--now", help="inputs of the same call of the fixed script")
    parser.add_argument("--before", help="the program as it was; none: there was none")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="load", trials=[])
    with report.of_failure():
        torch = standalone.prepare(options)
        new = standalone.load_program(torch, options)
        old = new
        if options.before:  # with the same weights: the fix may be to load others
            old = standalone.load_program(torch, options, options.before)
        report.update(narrowed=narrowed(old, new), hiding=hiding(old, new))
        first = "the failing call"
        captured = standalone.read_inputs(torch, options.inputs) if options.inputs else None
        if captured is not None and options.now:
            now = standalone.read_inputs(torch, options.now)
            other = differ(torch, captured.flat, now.flat)
            report.update(inputs=other)
            captured = captured if other else now  # as the package is given them now
        elif options.now and not options.before:
            first = "the fixed script's call"
            captured = standalone.read_inputs(torch, options.now)
        found: list[tuple[str, Inputs | None]] = [(first, captured)]
        found += [("the example", _example(torch, old))]
        found += [(f"fresh inputs {n + 1}", fresh(torch, old, n)) for n in range(options.seeds)]
        given = captured or _example(torch, old)
        if given is None:
            raise ValueError("there are neither captured nor example inputs")
        report.update(**_kept(torch, new, given))
        model = standalone.load_package(torch, options, given, report)
        trials: list[Document] = []
        for name, inputs in found:
            if inputs is None:
                continue
            report.update(state=f"trying {name}", trying=name)
            trials.append({"name": name, **_try(torch, old, new, model, inputs)})
            report.update(trials=trials)
        report.update(state="done")
    return 0


def _kept(torch: Any, program: Any, inputs: Inputs) -> Document:
    """Say which promises of fake kernels, and which guards, the failing call still breaks."""
    seen = eager.run(torch, program.module(), inputs)
    wrong = [
        f"{one['op']} returns {one['property']} {one['got']}, its fake kernel promises "
        f"{one['expected']}"
        for one in seen.mismatches
    ]
    return {"unkept": wrong, "refused": seen.broken}


def _try(torch: Any, old: Any, new: Any, model: Any, inputs: Inputs) -> Document:
    found: Document = {"shapes": [list(getattr(leaf, "shape", ())) for leaf in inputs.flat]}
    fixed, fixed_exact, why_fixed = _eager(torch, new, inputs)
    before, exact, why = fixed, fixed_exact, why_fixed
    if old is not new:
        before, exact, why = _eager(torch, old, inputs)
    found.update(original_raises=why, fixed_raises=why_fixed)
    found["finite"] = exact is not None and all(map(_finite, exact))
    try:
        package = _run(torch, model, inputs)
    except Exception as error:
        return {**found, "package_raises": events.describe_error(error)}
    random = bool(compare.random_ops(torch, new))
    module = compare.unguarded(new)
    if fixed is not None:
        outputs, _ = compare.within_rounding(torch, package, fixed, fixed_exact, module, inputs)
        found["package"] = compare.verdict(outputs, random)
        found["figures"] = outputs[:2]
    if old is not new and fixed is not None and before is not None:
        module = compare.unguarded(old)
        outputs, _ = compare.within_rounding(torch, fixed, before, exact, module, inputs)
        found["model"] = compare.verdict(outputs, random)
    found["package_finite"] = all(map(_finite, package))
    if before is not None and exact is not None:
        found["unmended"] = sum(map(_unmended, package, before, exact))
    return found


def _eager(torch: Any, program: Any, inputs: Inputs) -> tuple[Any, Any, Document | None]:
    """Return the outputs as they are and in float64; with the error of a program that raises."""
    module = compare.unguarded(program)
    try:
        plain = _run(torch, module, inputs)
    except Exception as error:
        return None, None, events.describe_error(error)
    try:
        values, _ = eager.in_float64(torch, module, inputs)
    except Exception:
        return plain, None, None
    return plain, values["outputs"], None


def _run(torch: Any, model: Any, inputs: Inputs) -> list[Any]:
    """Call with copies of the inputs, which the model may write to; return flat CPU outputs."""
    pytree = import_module("torch.utils._pytree")
    copy = pytree.tree_map(_copied, (inputs.args, inputs.kwargs))
    with torch.no_grad():
        result = model(*copy[0], **copy[1])
        standalone.synchronize(torch)
    return [
        leaf.detach().cpu() if hasattr(leaf, "detach") else leaf
        for leaf in pytree.tree_leaves(result)
    ]


def _copied(leaf: Any) -> Any:
    return leaf.clone() if hasattr(leaf, "clone") else leaf


def _finite(value: Any) -> bool:
    floating = hasattr(value, "is_floating_point") and value.is_floating_point()
    return not floating or bool(value.isfinite().all())


def _unmended(package: Any, before: Any, exact: Any) -> int:
    """Count the elements that were not finite, are in float64, and are not that value now."""
    floating = hasattr(before, "is_floating_point") and before.is_floating_point()
    if not floating or not package.shape == before.shape == exact.shape:
        return 0
    asked = ~before.isfinite() & exact.isfinite()
    if not asked.any():
        return 0
    now, right = package.double()[asked], exact.double()[asked]
    granted = 1e-2 * (right.abs() + right.abs().mean())
    return int((~((now - right).abs() <= granted)).sum())


def _example(torch: Any, program: Any) -> Inputs | None:
    if program.example_inputs is None:
        return None
    args, kwargs = program.example_inputs
    flat = list(import_module("torch.utils._pytree").tree_leaves((args, kwargs)))
    return Inputs(tuple(args), dict(kwargs or {}), flat, [], False, False)


def fresh(torch: Any, program: Any, number: int) -> Inputs | None:
    """Return inputs with other values, and of other sizes where the program leaves them free."""
    example = _example(torch, program)
    if example is None:
        return None
    values = [
        node.meta.get("val")
        for node, spec in zip(  # noqa: B905 - Python 3.9
            (n for n in program.graph.nodes if n.op == "placeholder"),
            program.graph_signature.input_specs,
        )
        if spec.kind.name == "USER_INPUT"
    ]
    if len(values) != len(example.flat):
        return None
    sizes = {
        str(symbol): _pick(bounds, number) for symbol, bounds in program.range_constraints.items()
    }
    torch.manual_seed(1000 + number)
    flat = [
        _fresh_leaf(torch, leaf, value, sizes)
        for leaf, value in zip(example.flat, values)  # noqa: B905 - Python 3.9
    ]
    pytree = import_module("torch.utils._pytree")
    spec = pytree.tree_structure((example.args, example.kwargs))
    args, kwargs = pytree.tree_unflatten(flat, spec)
    return Inputs(tuple(args), dict(kwargs), flat, [], False, False)


def _pick(bounds: Any, number: int) -> int:
    """Return the lowest size, a large one and one between, in turn."""
    low = max(int(bounds.lower), 2) if _known(bounds.lower) else 2
    high = min(int(bounds.upper), _SIZE) if _known(bounds.upper) else _SIZE
    high = max(low, high)
    return (low, high, (low + high) // 2)[number % 3]


def _known(bound: Any) -> bool:
    try:
        return abs(int(bound)) < 1 << 40
    except (TypeError, ValueError, OverflowError):
        return False


def _fresh_leaf(torch: Any, leaf: Any, value: Any, sizes: dict[str, int]) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    shape = [_size(size, sizes) for size in value.shape]
    if leaf.numel() == 0:
        return leaf.new_zeros(shape)
    taken = leaf.reshape(-1)[torch.randint(0, leaf.numel(), shape or [1])].reshape(shape)
    if leaf.is_floating_point():
        spread = leaf.float().std() if leaf.numel() > 1 else torch.tensor(1.0)
        taken = taken + (0.1 * spread * torch.randn(shape)).to(leaf.dtype).to(leaf.device)
    return taken.contiguous()


def _size(size: Any, sizes: dict[str, int]) -> int:
    node = getattr(size, "node", None)
    if node is None:
        return int(size)
    expression = node.expr
    known = {symbol: sizes[str(symbol)] for symbol in expression.free_symbols}
    return int(expression.subs(known))


def differ(torch: Any, before: list[Any], now: list[Any]) -> str:
    """Say how the values of two calls differ; another dtype, layout or device is no difference."""
    if len(before) != len(now):
        return f"{len(now)} inputs instead of {len(before)}"
    for number, (one, other) in enumerate(zip(before, now)):  # noqa: B905 - Python 3.9
        if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
            if one is not other and one != other:
                return f"input {number} is {other!r} instead of {one!r}"[:200]
            continue
        if one.shape != other.shape:
            return f"input {number} has shape {tuple(other.shape)} instead of {tuple(one.shape)}"
        wide = [t.detach().cpu().to(torch.float64) for t in (one, other)]
        if not torch.allclose(*wide, rtol=1e-2, atol=1e-6, equal_nan=True):
            return f"input {number} has other values"
    return ""


def narrowed(old: Any, new: Any) -> list[str]:
    """Say which sizes of the inputs were free, or freer, before the fix."""
    found = []
    for name, before in _free(old).items():
        after = _free(new).get(name)
        if after is None and name.split("[")[0] in {n.split("[")[0] for n in _inputs(new)}:
            found.append(f"{name} could be {before[0]} to {before[1]} and is fixed now")
        elif after is not None and (after[0] > before[0] or after[1] < before[1]):
            found.append(f"{name}: {before[0]} to {before[1]} is now {after[0]} to {after[1]}")
    return found


def _inputs(program: Any) -> list[str]:
    return [n.name for n in program.graph.nodes if n.op == "placeholder"]


def _free(program: Any) -> dict[str, tuple[int, int]]:
    """Return the bounds of each free dimension of an input, as NAME[DIM]."""
    found = {}
    for node in program.graph.nodes:
        if node.op != "placeholder":
            continue
        for dim, size in enumerate(getattr(node.meta.get("val"), "shape", ())):
            symbol = getattr(getattr(size, "node", None), "expr", None)
            bounds = program.range_constraints.get(symbol) if symbol is not None else None
            if bounds is not None:
                low = int(bounds.lower) if _known(bounds.lower) else 0
                high = int(bounds.upper) if _known(bounds.upper) else 1 << 40
                found[f"{node.name}[{dim}]"] = (low, high)
    return found


def hiding(old: Any, new: Any) -> list[str]:
    """Return operators that the fix added and that can hide a bad value."""
    before, after = _counts(old), _counts(new)
    found = [name for name in _HIDING if after.get(name, 0) > before.get(name, 0)]
    return found + [f"{name} of an output" for name in sorted(_last(new) - _last(old))]


def _last(program: Any) -> set[str]:
    """Return those operators that make an output and can bound it."""
    output = next(node for node in program.graph.nodes if node.op == "output")
    names = {
        str(node.target).split(".")[1:2][0]
        for node in output.all_input_nodes
        if node.op == "call_function" and "." in str(node.target)
    }
    return names & set(_LAST)


def _counts(program: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in program.graph.nodes:
        if node.op == "call_function":
            name = str(node.target).split(".")[1] if "." in str(node.target) else ""
            found[name] = found.get(name, 0) + 1
    return found
