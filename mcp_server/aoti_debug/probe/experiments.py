"""Experiments on captured calls: a call repeated against the exported program as it was given, and
again with what it breaks taken away (cast, copied, sliced or padded)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from . import (
    compare,
    custom_ops,
    describe,
    eager,
    events,
    graph_run,
    inside,
    marks,
    observers,
    operator_source,
    standalone,
)
from .children import in_child
from .container import Container
from .describe import is_float
from .lazy import torch
from .standalone import Inputs
from .state import State

Document = dict[str, Any]
_DRAWS = 8
_FORKED_S = 20.0  # a call that takes longer in a child than in its parent hangs
_RESHAPES = ("size",)  # changes after which results have other shapes


class Bench:
    """What all experiments share: the program, and how to have a model without input checks."""

    def __init__(self, program: Any, model: Callable[[], Any], limit: int) -> None:
        self.program, self.limit = program, limit
        self._model = model
        self._latest: list[Any] = []  # what the package gave last
        known = program is not None
        self._written = describe.written_places(compare.unguarded(program)) if known else []

    def trial(self, one: Document, known: Document | None = None) -> Document:
        """Hold a captured call against the program: as given, unless that is `known`, then with
        `changes` made to it."""

        def given() -> Inputs:
            return standalone.read_inputs(one["inputs"])

        outcome = self.held(given) if known is None else outcome_of(known)
        found: Document = {"pid": one["pid"], "call": one["call"], "given": outcome}
        if one.get("values") and outcome["verdict"] in ("agrees", "differs"):
            given_here = self.called(given()) if known is not None else self._latest
            found["recorded"] = self.recorded(one["values"], given_here)
        changes = one.get("changes") or []
        if not changes:
            return found

        def without() -> Inputs:
            return changed(given(), changes)

        try:
            without()
        except Exception as error:
            found["without"] = {"verdict": "failed", "why": said(error)}
            return found
        found["without"] = self.held(without)
        if not any(change["property"] in _RESHAPES for change in changes):
            # What the package makes of the call as it was given, held against the call meant.
            found["meant"] = self.held(without, package=given)
        return found

    def recorded(self, values: list[Any], outputs: list[Any]) -> Document | None:
        """Hold a few elements of what a call gave in the script against what it gives here."""
        tensors = marks.tensors(outputs)
        now = [marks.shown(marks.few(one)) for one in tensors[: len(values)]]
        pairs = [(one, was) for one, was in zip(now, values) if one and was]
        mine, theirs = ([torch.tensor(numbers(pair[n])) for pair in pairs] for n in (0, 1))
        return marks.apart(mine, theirs)

    def pair(self, path: str) -> Document:
        """Give a package loaded anew what a reference in the script was given, and the program;
        then both with the weights of the reference; hold each against what the reference gave."""
        kept = torch.load(path, weights_only=True)
        weights = kept["weights"]

        def held(call: Callable[[Inputs], list[Any]]) -> Document | None:
            outputs = call(standalone.read_inputs(path))
            tensors = marks.tensors(outputs)
            return marks.apart([marks.held(one) for one in tensors], kept["outputs"])

        found: Document = {"call": kept["call"], "anew": held(self.called)}
        model = self._model()  # the call before may have changed its state
        names = set(model.get_constant_fqns())
        if own := {name: one for name, one in weights.items() if name in names}:
            model.load_constants(own, check_full_update=False)
            self._model = lambda: model
            found.update(weights=len(own), given=held(self.called))
        found["left"] = [name for name in weights if name not in names]
        if self.program is not None:
            found["own"] = held(self.plainly)
            if kept.get("inside"):
                flat = standalone.read_inputs(path).flat
                found["leaves"] = inside.leaves_at(self.program, flat, kept["inside"])
            standalone.give(self.program, weights)
            found["program"] = held(self.plainly)
        return found

    def in_order(self, calls: list[Document], seconds: float) -> list[Document]:
        """Repeat calls in a row for so long, package and program each with the state of its own
        calls."""
        module, found = compare.unguarded(self.program), list[Document]()
        until = time.monotonic() + seconds
        for one in calls:
            if found and time.monotonic() > until:
                break
            row = self.against(module, partial(standalone.read_inputs, one["inputs"]))
            values = one.get("values")
            more = {"recorded": self.recorded(values, self._latest)} if values else {}
            found.append({"pid": one["pid"], "call": one["call"], "given": row, **more})
        return found

    def sequence(
        self, inputs: Callable[[], Inputs], count: int
    ) -> tuple[list[Document], list[str]]:
        """Compare a package and a program call by call, each with the state of its own calls.
        Return the outcomes, and what of the state the package does not keep."""
        module = compare.unguarded(self.program)
        first, found, lost = State(module).now(), list[Document](), list[str]()
        for before in range(count):
            found.append(self.against(module, inputs))
            if before and not lost and found[-1]["verdict"] == "differs":
                lost = self.lost(module, inputs, first, before)
        return found, lost

    def lost(
        self, module: Any, inputs: Callable[[], Inputs], first: list[Any], before: int
    ) -> list[str]:
        """Return the tensors of the state with which, put back alone to what they were `first`, the
        program gives what the package gave last, after so many calls."""
        state, given, found = State(module), self._latest, list[str]()
        with state.kept():
            for place, name in enumerate(describe.own_state(module)):
                state.put(first)
                for left in reversed(range(before + 1)):
                    call = module, inputs().flat
                    right = graph_run.outputs_of(*call, advances=True, writes=not left)
                    now = state.now()
                    state.put([*now[:place], first[place], *now[place + 1 :]])
                if compare.agrees(given, right):
                    found.append(name)
        return found

    def kept_wrong(
        self, held: Container, inputs: Callable[[], Inputs], count: int
    ) -> Document | None:
        """Return the first tensor of the state that a package's own calls leave with other values
        than the program's calls do, after which call, and the elements."""
        module = compare.unguarded(self.program)
        for call in range(1, count + 1):
            held.call(inputs().flat)
            graph_run.outputs_of(module, inputs().flat, advances=True)
            own = held.held()
            for name, right in zip(describe.own_state(module), State(module).now()):
                if name not in own:
                    continue
                row = compare.outputs(
                    [graph_run.on_cpu(own[name])], [graph_run.on_cpu(right)], None
                )
                if row[0]["verdict"] == "differs":
                    found = outcome_of({"verdict": "differs", "outputs": row})
                    return {**found, "name": name, "call": call}
        return None

    def against(self, module: Any, inputs: Callable[[], Inputs]) -> Document:
        """Hold one call of the package against one of a module that may keep its state."""
        right = graph_run.outputs_of(module, inputs().flat, advances=True, writes=True)
        outputs = compare.named(compare.outputs(self.called(inputs()), right, None), module)
        verdict = compare.verdict(outputs, bool(compare.random_ops(module)))
        return outcome_of({"verdict": verdict, "outputs": outputs})

    def draws(self, inputs: Callable[[], Inputs]) -> list[Document]:
        """Have each random operator of the program draw other numbers, the others the same; say
        how far the results move."""
        module = compare.unguarded(self.program)
        nodes = compare.random_nodes(module)
        places = {node.name: place for place, node in enumerate(nodes)}
        kinds = {str(node.target): node for node in reversed(nodes)}  # one of each first
        tried = list(dict.fromkeys((*kinds.values(), *nodes)))[:_DRAWS]

        def outputs(other: Any) -> list[Any]:
            def compute(run: Any, node: Any, args: Any, kwargs: Any) -> Any:
                if node.name in places:
                    torch.manual_seed(places[node.name] + (len(nodes) if node is other else 0))
                return node.target(*args, **kwargs)

            values = graph_run.outputs_of(module, inputs().flat, compute)
            return [marks.held(one) for one in marks.tensors(values)]

        plain = outputs(None)
        found: list[Document] = []
        for node in tried:
            moved = marks.apart(outputs(node), plain) or {"apart": 0.0}
            found.append({**graph_run.about(node), "node": node.name, "apart": moved["apart"]})
        return found

    def rounding(self, inputs: Callable[[], Inputs]) -> list[float]:
        """Return how far the program's and the package's results are from float64."""
        module = compare.unguarded(self.program)
        exact = eager.in_float64(module, inputs(), writes=True)[0]["outputs"]
        found: list[float] = []
        for outputs in (self.plainly(inputs()), self.called(inputs())):
            floats = [n for n, one in enumerate(outputs) if is_float(one)]
            mine, right = ([given[n].reshape(-1) for n in floats] for given in (outputs, exact))
            held = marks.apart(mine, right)
            found.append(held["apart"] if held else 0.0)
        return found

    def forked(self, inputs: Callable[[], Inputs]) -> Document:
        """Call here, then in a forked child; then in another one that has one thread."""

        def alone() -> None:
            torch.set_num_threads(1)
            self.called(inputs())

        self.called(inputs())
        forked = in_child(lambda: self.called(inputs()), _FORKED_S)
        return {"forked": forked, "forked_alone": in_child(alone, _FORKED_S)}

    def writes(self, inputs: Callable[[], Inputs], calls: list[Document]) -> Document:
        """Find what custom operators write or return undeclared; compare with copies given. Where
        a constant is written, hold `calls` with copies against what they gave in the script."""
        found = dict[str, Document]()
        module, watch = compare.unguarded(self.program), observers.Writes()
        others = [partial(standalone.read_inputs, one["inputs"]) for one in calls]
        cases: list[Callable[[], Inputs]] = [inputs, *others]
        for given in cases:  # what some calls write depends on their inputs
            graph_run.Run(module, watch)(given().flat)
            if watch.found or watch.aliases:
                inputs = given
                break
        nodes = {node.name: node for node in module.graph.nodes}
        for wrote in (*watch.found, *watch.aliases):
            node = nodes[wrote["node"]]
            places = custom_ops.places(node.target)
            find = operator_source.writing_line
            if wrote.get("again") or wrote.get("aliased"):
                find = operator_source.returning_line
            line = find(node.target, wrote["argument"])
            if line is not None and "real" in places:
                places["real"] = places["real"][0], line
            found.setdefault(wrote["op"], {**wrote, "places": places, **graph_run.about(node)})
        if not found:
            return {"wrote": []}

        def copies(run: Any, node: Any, args: Any, kwargs: Any) -> Any:
            if str(node.target) not in found:
                return node.target(*args, **kwargs)
            args, kwargs = graph_run.copied((args, kwargs))
            return graph_run.copied(node.target(*args, **kwargs))

        with copying(set(found)):
            outcome = self.held(inputs, right=partial(self.plainly, compute=copies))
            kept = any("constant" in one for one in found.values())
            again = [*map(self.as_recorded, calls)] if kept else []
        return {"wrote": list(found.values()), "copied": outcome, "calls": again}

    def as_recorded(self, one: Document) -> Document:
        """Repeat a call; hold it against what it gave in the script."""
        outputs = self.called(standalone.read_inputs(one["inputs"]))
        held = self.recorded(one["values"], outputs)
        return {"call": one["call"], "recorded": held}

    def held(
        self, inputs: Callable[[], Inputs], package: Any = None, right: Any = None
    ) -> Document:
        """Compare the package with the program on inputs; `package` gives the package others,
        `right` runs the program in its own way."""
        try:
            module = compare.unguarded(self.program)
            expected = (right or self.plainly)(inputs())
        except Exception as error:
            return {"verdict": "refused", "why": said(error)}
        try:
            result = self.called((package or inputs)())
        except Exception as error:
            return {"verdict": "failed", "why": said(error)}
        found = compare.results(result, expected, module, inputs, self.limit)
        return outcome_of({**found, "outputs": compare.named(found["outputs"], module)})

    def plainly(self, inputs: Inputs, compute: Any = None) -> list[Any]:
        module = compare.unguarded(self.program)
        return graph_run.outputs_of(module, inputs.flat, compute, writes=True)

    def called(self, inputs: Inputs) -> list[Any]:
        model = self._model()
        torch.manual_seed(0)
        leaves = standalone.results(model, inputs, self._written)
        self._latest = [graph_run.on_cpu(leaf) for leaf in leaves]
        return self._latest


def mixing(program: Any, inputs: Callable[[], Inputs]) -> Document | None:
    """Give one row of a batch in place of all, to the program; where its result is another, name
    the first node that gives it another value. Empty where no row's result is; None where there
    are no rows."""
    module, given = compare.unguarded(program), inputs()
    tensors = [leaf for leaf in given.flat if isinstance(leaf, torch.Tensor)]
    sizes = {one.shape[0] if one.dim() else 0 for one in tensors}
    count = sizes.pop() if len(sizes) == 1 else 0
    if count < 2 or compare.random_ops(module):
        return None
    for row in (0, count - 1):
        flat = [
            leaf[row : row + 1].expand_as(leaf).contiguous()
            if isinstance(leaf, torch.Tensor)
            else leaf
            for leaf in inputs().flat
        ]
        plain, alone = _Row(count, row), _Row(count, row)
        outputs = [graph_run.Run(module, plain)(inputs().flat)]
        outputs.append(graph_run.Run(module, alone)(flat))
        mine, theirs = ([plain.part(one) for one in some] for some in outputs)
        if (moved := _far(mine, theirs)) is None:
            continue
        for (node, value), (_, other) in zip(plain.values, alone.values):
            if _far([value], [other]) is not None:
                return {**graph_run.about(node), "row": row, "apart": moved}
    return {}


class _Row(graph_run.Observer):
    """What each operator gives for one row of a batch, a few elements of it."""

    def __init__(self, count: int, row: int) -> None:
        self.values: list[tuple[Any, Any]] = []
        self._count, self._row = count, row

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        if node.op == "call_function" and isinstance(value, torch.Tensor):
            self.values.append((node, self.part(value)))

    def part(self, value: Any) -> Any:
        """Return elements of the row; of all where no dimension is that of the batch."""
        if not isinstance(value, torch.Tensor):
            return None
        sizes = [*value.shape]
        among = [n for n, size in enumerate(sizes) if size == self._count]
        among += [n for n, size in enumerate(sizes) if size and size % self._count == 0]
        if among:
            each = sizes[among[0]] // self._count
            value = value.narrow(among[0], self._row * each, each)
        return marks.read(marks.held(value.contiguous()))


def _far(some: list[Any], others: list[Any]) -> float | None:
    """Return how far values are apart where that is more than rounding."""
    found = marks.apart(some, others)
    return float(found["apart"]) if found is not None and marks.far(found) else None


def numbers(values: list[Any]) -> list[float]:
    return [float("nan") if one is None else float(one) for one in values]


def copying(names: set[str]) -> Any:
    """Return a mode in which these operators are given copies of tensors, and return copies."""
    mode_class: Any = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Copying(mode_class):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = args, kwargs or {}
            if str(func) not in names:
                return func(*given[0], **given[1])
            args, kwargs = graph_run.copied(given)
            return graph_run.copied(func(*args, **kwargs))

    return Copying()


def outcome_of(results: Document) -> Document:
    """Return the verdict of a comparison and the figures of the output that is furthest off."""
    outputs = results["outputs"]
    bad = [one for one in outputs if one["verdict"] != "agrees"] or outputs
    if not bad:
        return {"verdict": results["verdict"]}
    one = max(bad, key=lambda output: output.get("wrong") or 0)
    statistics = one.get("eager") or {}
    sizes = [abs(statistics.get(key) or 0.0) for key in ("min", "max")]
    keys = ("index", "input", "wrong", "elements", "first_wrong", "max_abs_apart")
    figures = {key: one.get(key) for key in keys}
    return {"verdict": results["verdict"], **figures, "largest": max(sizes)}


def said(error: BaseException) -> str:
    found = events.describe_error(error)
    return events.bounded(f"{found['type']}: {found['message']}", 300)


def changed(inputs: Inputs, changes: list[Document]) -> Inputs:
    """Return the inputs with what each change names taken away; leaves that no change names stay
    the very tensors that they are."""
    order = next((one["to"] for one in changes if one["property"] == "order"), None)
    if order is not None:  # nested as the package's own call spec says
        return replace(inputs, flat=[inputs.flat[n] for n in order], args=None, kwargs={})
    flat = list(inputs.flat)
    places = [n for n, leaf in enumerate(flat) if isinstance(leaf, torch.Tensor)]
    for change in changes:
        at = places[change["index"]]
        flat[at] = _changed(flat[at], change)
    return standalone.with_leaves(inputs, flat)


def _changed(leaf: Any, change: Document) -> Any:
    what, to = change["property"], change["to"]
    if what == "dtype":
        return leaf.to(getattr(torch, to))
    if what in ("stride", "bit"):
        return leaf.new_empty_strided(leaf.shape, tuple(to or leaf.stride())).copy_(leaf)
    if what == "size":
        dim, size = change["dim"], leaf.shape[change["dim"]]
        if to > size:  # rows like the last, which keep every index within its bounds
            more = leaf.narrow(dim, size - 1, 1).expand(
                *(to - size if n == dim else -1 for n in range(leaf.dim()))
            )
            return torch.cat([leaf, more], dim)
        return leaf.narrow(dim, 0, to).clone(memory_format=torch.preserve_format)
    return leaf.clone(memory_format=torch.contiguous_format)
