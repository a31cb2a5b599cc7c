"""Call a package and its program as a fix leaves them, and the program as it was, on inputs of the
original: how each does, in a session of calls where there is a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import (
    changed,
    compare,
    correspondence,
    eager,
    events,
    fresh,
    graph_run,
    limits,
    neighbours,
    standalone,
)
from .describe import is_float
from .lazy import torch
from .state import State

Document = dict[str, Any]
Inputs = standalone.Inputs
Load = Callable[[], Any]  # returns a model in its first state


class Pair:
    """The program as it was and as it is now, each with and without its guards."""

    def __init__(self, old: Any, new: Any, match: correspondence.Correspondence) -> None:
        self.old, self.new, self.match = old, new, match
        self.same = old is new
        self.plain_old, self.plain_new = compare.unguarded(old), compare.unguarded(new)
        self.guarded_old, self.guarded_new = old.module(), new.module()
        self.random = bool(compare.random_ops(new))

    def tried(
        self, load: Load, inputs: Inputs, now: Inputs | None = None, later: Sequence[Inputs] = ()
    ) -> Document:
        """Say how the package and the programs did on these inputs, which the fixed script gives as
        `now`, and on those of `later` calls in a row, each with the state of its own calls: of the
        first of these calls that is not right, with its number, else of the first."""
        model, first = load(), Document()
        last = Called()
        old, new = State(self.plain_old), State(self.plain_new)
        with old.kept(), new.kept():
            for number, one in enumerate((inputs, *later)):
                given = self.given(one, now, number, last.fixed.plain)
                own = self.given(one, now, number, last.package)
                last = self.called(model, one, given, own)
                if number and last.before.why:
                    break  # its state does not allow the call: a session ends there
                first = first or last.found
                if _wrong(last.found):
                    return {**last.found, "call": number + 1}
                if last.before.why:
                    break
                new.put(last.fixed.after)
                if not self.same:
                    old.put(last.before.after)
        return first

    def called(self, model: Any, inputs: Inputs, given: Inputs, own: Inputs) -> Called:
        """Make a call with the original's inputs, the fixed program's and the package's."""
        found: Document = {"shapes": shapes(inputs.flat)}
        fixed = before = called_eagerly(self.plain_new, given)
        if not self.same:
            before = called_eagerly(self.plain_old, inputs)
            with State(self.guarded_old).kept(), State(self.guarded_new).kept():
                accepted = eager.run(self.guarded_old, standalone.copied(inputs)).exception
                refused = eager.run(self.guarded_new, standalone.copied(given)).exception
            found["refused"] = refused if accepted is None else None
        found.update(original_raises=before.why, fixed_raises=fixed.why)
        found["finite"] = before.finite
        found["other_constant"] = other_constant(self.old, inputs)
        found["still_other_constant"] = other_constant(self.new, given)
        try:
            package = _run(model, own)
        except Exception as error:
            raised = events.describe_error(error)
            return Called(fixed, before, None, {**found, "package_raises": raised})
        if fixed.plain is not None:
            held = self.held(package, fixed.plain, fixed.exact, self.plain_new, given)
            found["package"], found["figures"] = held
        was, exact = before.plain, before.exact
        shared = self.match.shared(package, was)
        if not self.same and fixed.plain is not None and was is not None:
            now = self.unpadded(self.match.shared(fixed.plain, was), was)
            judged = where_finite(now, was, exact)
            held = self.held(judged, was, exact, self.plain_old, inputs)
            found["model"], found["model_figures"] = held
        found["package_finite"] = all(map(_finite, package))
        if was is not None:
            found.update(nonfinite_before=_nonfinite(was), nonfinite=_nonfinite(shared))
        if was is not None and exact is not None:
            found["still_nonfinite"] = sum(map(_still_nonfinite, shared, was, exact))
        return Called(fixed, before, package, found)

    def given(
        self, inputs: Inputs, now: Inputs | None = None, number: int = 0, last: Any = None
    ) -> Inputs:
        """Return inputs of the original as the fixed program takes them, in a call of this number
        of a session (from 0); `last` are the results of the call before."""
        if now is not None and not self.same and not number and not self.match.carried:
            return self.match.declared(now)
        return inputs if self.same else self.match.made(inputs, number, last)

    def unpadded(self, now: list[Any], before: list[Any]) -> list[Any]:
        """Return results of padded inputs in the sizes of those of the inputs without."""
        if not self.match.padded or len(now) != len(before):
            return now
        return [
            one[tuple(map(slice, was.shape))] if getattr(was, "ndim", 0) == one.ndim else one
            for one, was in zip(now, before)
        ]

    def answered(self, load: Load, inputs: Inputs, now: Inputs) -> bool:
        """Tell whether the package gives for other inputs what the original does for these."""
        before = called_eagerly(self.plain_old, inputs)
        if not before.finite or not any(map(is_float, before.plain)):
            return False
        try:
            package = _run(load(), self.given(inputs, now))
        except Exception:
            return False
        held = self.held(package, before.plain, before.exact, self.plain_old, inputs)
        return held[0] == "agrees"

    def held(
        self, given: Any, right: Any, exact: Any, module: Any, inputs: Inputs
    ) -> tuple[str, list[Document]]:
        """Hold results against what a program gives; return the verdict, and a few figures."""
        outputs, _ = compare.within_rounding(given, right, exact, module, inputs)
        return compare.verdict(outputs, self.random), outputs[:2]

    def near(
        self,
        load: Load,
        drawn: fresh.Fresh,
        failing: Any,
        like: list[Inputs],
        report: standalone.Report,
    ) -> Document:
        """Say how the package does on inputs that are like the failing ones; nothing where it still
        fails on those."""
        if self.same or self._done(load(), failing) is None:
            return {}
        found = []
        for number, inputs in enumerate(like, 1):
            name = f"inputs like the failing call's, {number}"
            report.update(state=f"trying {name}", trying=name)
            found.append({"name": name, **self.tried(load, inputs)})
        invented = bool(self.beyond(drawn, failing))
        return {"near": found, "invented": invented, "trying": None}

    def alike(self, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs on which the original fails as on the failing ones."""
        if not self.fails(failing):
            return []
        given = [*self.beyond(drawn, failing), *neighbours.moved(drawn, failing)]
        return [one for one in given if self.fails(one)]

    def nearer(self, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs nearer to what the original computes than the failing ones, which it does
        not compute either."""
        if limits.grown(self.old, self.new):
            return []
        given = neighbours.nearer(drawn, failing)
        return [one for one in given if self.fails(one) or not drawn.accepts(one)]

    def beyond(self, drawn: fresh.Fresh, failing: Inputs) -> list[Inputs]:
        """Return inputs with indices further out of bounds; none where the fix gave a table more
        rows of its own, which has another end then."""
        return [] if limits.grown(self.old, self.new) else neighbours.beyond(drawn, failing)

    def _done(self, model: Any, inputs: Inputs) -> list[Any] | None:
        """Return what the package gives; None where it raises."""
        try:
            return _run(model, self.given(inputs))
        except Exception:
            return None

    def fails(self, inputs: Inputs) -> bool:
        """Tell whether the original raises, or returns what is not finite."""
        before = called_eagerly(self.plain_old, inputs)
        return before.why is not None or not all(map(_finite, before.plain)) or not before.finite


def where_finite(now: list[Any], before: list[Any], exact: Any) -> list[Any]:
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
        for place, (one, was) in enumerate(zip(now, before))
    ]


class Ran(NamedTuple):
    """What a program made of a call."""

    plain: Any = None  # the flat outputs; None: it raised
    exact: Any = None  # in float64; None: an operator refuses that
    why: Document | None = None  # the error of a program that raises
    after: Any = ()  # its state

    @property
    def finite(self) -> bool:
        """Tell whether all is finite, in float64 where that is known."""
        return self.plain is not None and all(map(_finite, self.exact or self.plain))


class Called(NamedTuple):
    """What both programs and the package made of a call, and how they did."""

    fixed: Ran = Ran()
    before: Ran = Ran()
    package: Any = None  # the flat outputs; None: it raised
    found: Document = {}  # noqa: RUF012 - never written to


def called_eagerly(module: Any, inputs: Inputs) -> Ran:
    """Call a program, which is left in its state."""
    state = State(module)
    try:
        with state.kept():
            plain, after = _run(module, inputs), state.now()
    except Exception as error:
        return Ran(why=events.describe_error(error))
    exact = eager.exact(module, inputs)
    return Ran(plain, exact["outputs"] if exact is not None else None, None, after)


def other_constant(program: Any, inputs: Inputs) -> str:
    """Say which number or text a program was exported for, and uses whatever it is given."""
    for node, leaf in zip(standalone.user_inputs(program), inputs.flat):
        value = node.meta.get("val")
        fixed = isinstance(value, (bool, int, float, str))
        like = isinstance(leaf, (type(value), torch.Tensor))  # which a fix made of a number
        if fixed and like and changed.differ([value], [leaf]):
            return f"{node.name} = {value!r}"
    return ""


def _wrong(found: Document) -> bool:
    """Tell whether a call did not go as in the original."""
    raises = "package_raises" in found and found["fixed_raises"] is None
    differs = found.get("package") != "agrees" or found.get("model", "agrees") != "agrees"
    return bool(raises or differs or found.get("refused") or found.get("still_nonfinite"))


def _run(model: Any, inputs: Inputs) -> list[Any]:
    """Call with copies of the inputs, which the model may write to; return flat CPU outputs."""
    with torch.no_grad():
        return list(map(graph_run.on_cpu, standalone.results(model, standalone.copied(inputs))))


def _finite(value: Any) -> bool:
    return not is_float(value) or bool(value.isfinite().all())


def _nonfinite(values: list[Any]) -> list[int]:
    """Return how many elements are NaN, and how many are infinite."""
    floating = list(filter(is_float, values))
    return [sum(int(getattr(v, test)().sum()) for v in floating) for test in ("isnan", "isinf")]


def _still_nonfinite(package: Any, before: Any, exact: Any) -> int:
    """Count the elements that were not finite, are in float64, and are not that value now."""
    if not is_float(before) or not package.shape == before.shape == exact.shape:
        return 0
    asked = ~before.isfinite() & exact.isfinite()
    if not asked.any():
        return 0
    now, right = package.double()[asked], exact.double()[asked]
    granted = 1e-2 * (right.abs() + right.abs().mean())
    return int((~((now - right).abs() <= granted)).sum())


def shapes(flat: list[Any]) -> list[Any]:
    return [list(getattr(leaf, "shape", ())) for leaf in flat]
