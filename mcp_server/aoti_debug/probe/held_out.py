"""Hold a fixed package against eager and against the model as it was, on inputs it never saw.

For the failing call's inputs, the example's and fresh ones of other sizes: does the package agree
with the program that it was made of, and does that program compute what the original one did?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from . import (
    changed,
    compare,
    eager,
    events,
    fakes,
    fresh,
    limits,
    neighbours,
    refusals,
    standalone,
)

Document = dict[str, Any]
Inputs = standalone.Inputs

_TRIALS_A_SEED = 2


def main() -> int:
    """Try the failing call, the example and fresh inputs; the report is whole after each."""
    parser = standalone.arguments(__doc__ or "", inputs=False)
    standalone.add_package_arguments(parser)
    parser.add_argument("--exported", required=True, help="the fixed program")
    parser.add_argument("--now", help="inputs of the same call of the fixed script")
    parser.add_argument("--parts", type=int, nargs="+", help="rows of the calls it is split over")
    parser.add_argument("--before", help="the program as it was; none: there was none")
    parser.add_argument("--refusals", help="conditions under which the fixed script refuses")
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
        report.update(narrowed=changed.narrowed(old, new), hiding=changed.hiding(old, new))
        first = "the failing call"
        captured = standalone.read_inputs(torch, options.inputs) if options.inputs else None
        now = standalone.read_inputs(torch, options.now) if options.now else None
        if captured is not None and now is not None:
            wanted, given = changed.by_name(torch, captured, now)
            if options.parts:
                wanted = [changed.part(torch, leaf, options.parts) for leaf in wanted]
            other = changed.differ(torch, wanted, given)
            report.update(inputs=other)
            captured = captured if other else now  # as the package is given them now
        elif now is not None and not options.before:
            first, captured = "the fixed script's call", now
        drawn = drawn_for(torch, old, new, captured)
        found = [(first, captured), *held_out(torch, old, drawn, options.seeds)]
        some = next((inputs for _, inputs in found if inputs is not None), None)
        if some is None:
            raise ValueError("there are neither captured nor example inputs")
        pair = Pair(torch, old, new)
        like: list[Inputs] = []
        if captured is not None and options.before:
            like = pair.alike(torch, drawn, captured)
            legal = [one for _, one in found[1:] if one and not pair.fails(torch, one)]
            asked = refusals.Asked(captured, legal, like)
            if options.refusals and like:
                report.update(wrong_refusals=refusals.wrong(torch, old, options.refusals, asked))
        report.update(**_kept(torch, new, some))
        model = standalone.load_package(torch, options, some, report)
        trials: list[Document] = []
        for name, inputs in found:
            if inputs is None:
                continue
            report.update(state=f"trying {name}", trying=name)
            trials.append({"name": name, **pair.tried(torch, model, inputs)})
            report.update(trials=trials)
        if captured is now and like:
            report.update(**pair.near(torch, model, drawn, captured, like, report))
        report.update(state="done")
    return 0


def drawn_for(torch: Any, old: Any, new: Any, captured: Inputs | None) -> fresh.Fresh:
    """Return what draws inputs from all over what the original accepts."""
    others = [inputs for inputs in (captured, fresh.example(torch, new)) if inputs is not None]
    return fresh.Fresh(torch, old, others, [*limits.constants(new), *limits.constants(old)])


def held_out(
    torch: Any, old: Any, drawn: fresh.Fresh, seeds: int
) -> Iterator[tuple[str, Inputs | None]]:
    """Yield the example's inputs and fresh ones."""
    yield "the example", fresh.example(torch, old)
    for number in range(_TRIALS_A_SEED * seeds):
        yield f"fresh inputs {number + 1}", drawn.draw(number)


def _kept(torch: Any, program: Any, inputs: Inputs) -> Document:
    """Say which promises of fake kernels, and which guards, the failing call still breaks."""
    seen = eager.run(torch, program.module(), inputs)
    wrong = [
        f"{one['op']} returns {one['property']} {one['got']}, its fake kernel promises "
        f"{one['expected']}"
        for one in seen.mismatches
    ]
    return {"unkept": wrong, "refused": seen.broken}


class Pair:
    """The program as it was and as it is now, each with and without its guards."""

    def __init__(self, torch: Any, old: Any, new: Any) -> None:
        self.old, self.new = old, new
        self.same = old is new
        self.plain_old, self.plain_new = compare.unguarded(old), compare.unguarded(new)
        self.guarded_old, self.guarded_new = old.module(), new.module()
        self.random = bool(compare.random_ops(torch, new))

    def tried(self, torch: Any, model: Any, inputs: Inputs) -> Document:
        """Say how the package and the programs did on these inputs."""
        found: Document = {"shapes": [list(getattr(leaf, "shape", ())) for leaf in inputs.flat]}
        given = inputs if self.same else as_declared(torch, self.new, inputs)
        fixed, fixed_exact, why_fixed = _eager(torch, self.plain_new, given)
        before, exact, why = fixed, fixed_exact, why_fixed
        if not self.same:
            before, exact, why = _eager(torch, self.plain_old, inputs)
            accepted = eager.run(torch, self.guarded_old, eager.copied(torch, inputs)).exception
            refused = eager.run(torch, self.guarded_new, eager.copied(torch, given)).exception
            found["refused"] = refused if accepted is None else None
        found.update(original_raises=why, fixed_raises=why_fixed)
        found["finite"] = before is not None and all(map(_finite, exact or before))
        try:
            package = _run(torch, model, given)
        except Exception as error:
            return {**found, "package_raises": events.describe_error(error)}
        if fixed is not None:
            outputs, _ = compare.within_rounding(
                torch, package, fixed, fixed_exact, self.plain_new, given
            )
            found["package"] = compare.verdict(outputs, self.random)
            found["figures"] = outputs[:2]
        if not self.same and fixed is not None and before is not None:
            judged = where_finite(torch, fixed, before, exact)
            outputs, _ = compare.within_rounding(
                torch, judged, before, exact, self.plain_old, inputs
            )
            found["model"] = compare.verdict(outputs, self.random)
            found["model_figures"] = outputs[:2]
        found["package_finite"] = all(map(_finite, package))
        if before is not None:
            found.update(nonfinite_before=_nonfinite(before), nonfinite=_nonfinite(package))
        if before is not None and exact is not None:
            found["still_nonfinite"] = sum(map(_still_nonfinite, package, before, exact))
        return found

    def near(
        self,
        torch: Any,
        model: Any,
        drawn: fresh.Fresh,
        failing: Any,
        like: list[Inputs],
        report: standalone.Report,
    ) -> Document:
        """Say how the package does on inputs that are like the failing ones; nothing where it still
        fails on those."""
        if self.same or self._done(torch, model, failing) is None:
            return {}
        found = []
        for number, inputs in enumerate(like, 1):
            name = f"inputs like the failing call's, {number}"
            report.update(state=f"trying {name}", trying=name)
            found.append({"name": name, **self.tried(torch, model, inputs)})
        done = [self._done(torch, model, one) for one in self.beyond(torch, drawn, failing)]
        outputs = [one for one in done if one is not None]
        wrapped = any(changed.differ(torch, outputs[0], one) for one in outputs)
        return {"near": found, "wrapped": wrapped, "trying": None}

    def alike(self, torch: Any, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs on which the original fails as on the failing ones."""
        if not self.fails(torch, failing):
            return []
        given = [*self.beyond(torch, drawn, failing), *neighbours.moved(torch, drawn, failing)]
        return [one for one in given if self.fails(torch, one)]

    def beyond(self, torch: Any, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs with indices further out of bounds; none where the fix changed a table,
        which has another end then."""
        same = limits.indexed(torch, self.old) == limits.indexed(torch, self.new)
        return neighbours.beyond(drawn, failing) if same else []

    def _done(self, torch: Any, model: Any, inputs: Inputs) -> list[Any] | None:
        """Return what the package gives; None where it raises."""
        try:
            return _run(torch, model, as_declared(torch, self.new, inputs))
        except Exception:
            return None

    def fails(self, torch: Any, inputs: Inputs) -> bool:
        """Tell whether the original raises, or returns what is not finite."""
        before, exact, why = _eager(torch, self.plain_old, inputs)
        return why is not None or not all(map(_finite, [*before, *(exact or ())]))


def where_finite(torch: Any, now: list[Any], before: list[Any], exact: Any) -> list[Any]:
    """Return the results of now, with what was before where that is not finite, in float64 too:
    what takes the place of those is judged apart."""

    def kept(one: Any, was: Any, truth: Any) -> Any:
        tensors = isinstance(one, torch.Tensor) and isinstance(was, torch.Tensor)
        if not tensors or not was.is_floating_point() or one.shape != was.shape:
            return one
        finite = was.isfinite() & (truth.isfinite() if truth is not None else True)
        return torch.where(finite, one, was.to(one.dtype))

    if len(now) != len(before):
        return now
    return [
        kept(one, was, exact[place] if exact is not None else None)
        for place, (one, was) in enumerate(zip(now, before))  # noqa: B905 - Python 3.9
    ]


def as_declared(torch: Any, program: Any, inputs: Inputs) -> Inputs:
    """Return inputs as a program wants them: nested like its own, each in the declared dtype and
    layout, on the declared device.

    Raises:
        ValueError: it takes another number of inputs.
    """
    placeholders = standalone.user_inputs(program)
    if len(placeholders) != len(inputs.flat):
        raise ValueError(
            f"the fixed program takes {len(placeholders)} inputs, the original {len(inputs.flat)}"
        )
    symbols: dict[Any, int] = {}
    flat = []
    for node, leaf in zip(placeholders, inputs.flat):  # noqa: B905 - Python 3.9
        value = node.meta.get("val")
        fakes.learn(torch, value, leaf, symbols)
        flat.append(_as_one(torch, value, leaf, symbols))
    pytree = import_module("torch.utils._pytree")
    args, kwargs = pytree.tree_unflatten(flat, program.call_spec.in_spec)
    return replace(inputs, args=tuple(args), kwargs=dict(kwargs), flat=flat)


def _as_one(torch: Any, value: Any, leaf: Any, symbols: dict[Any, int]) -> Any:
    if not isinstance(value, torch.Tensor) or not isinstance(leaf, torch.Tensor):
        return leaf
    leaf = leaf.to(value.device, value.dtype)
    if value.layout != torch.strided or leaf.dim() != value.dim():
        return leaf
    wanted = fakes.sizes(value.stride(), symbols)
    if wanted is None or 0 in wanted or list(leaf.stride()) == wanted:
        return leaf
    return leaf.new_empty_strided(leaf.shape, wanted).copy_(leaf)


def _eager(torch: Any, module: Any, inputs: Inputs) -> tuple[Any, Any, Document | None]:
    """Return the outputs as they are and in float64; with the error of a program that raises."""
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


def _nonfinite(values: list[Any]) -> list[int]:
    """Return how many elements are NaN, and how many are infinite."""
    floating = [v for v in values if hasattr(v, "is_floating_point") and v.is_floating_point()]
    return [sum(int(getattr(v, test)().sum()) for v in floating) for test in ("isnan", "isinf")]


def _still_nonfinite(package: Any, before: Any, exact: Any) -> int:
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
