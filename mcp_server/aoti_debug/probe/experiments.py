"""Experiments on captured calls: a call repeated against the exported program as it was given, and
again with what it breaks taken away (cast, copied, sliced or padded)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from . import compare, custom_ops, eager, events, graph_run, observers, standalone
from .standalone import Inputs

Document = dict[str, Any]
_RESHAPES = ("size",)  # changes after which results have other shapes


class Bench:
    """What all experiments share: the program, and how to have a model without input checks."""

    def __init__(self, torch: Any, program: Any, model: Callable[[], Any], limit: int) -> None:
        self.torch, self.program, self.limit = torch, program, limit
        self._model = model

    def trial(self, one: Document, known: Document | None = None) -> Document:
        """Hold a captured call against the program: as given, unless that is `known`, then with
        `changes` made to it."""

        def given() -> Inputs:
            return standalone.read_inputs(self.torch, one["inputs"])

        outcome = self.held(given) if known is None else outcome_of(known)
        found: Document = {"pid": one["pid"], "call": one["call"], "given": outcome}
        changes = one.get("changes") or []
        if not changes:
            return found

        def without() -> Inputs:
            return changed(self.torch, given(), changes)

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

    def writes(self, inputs: Callable[[], Inputs]) -> Document:
        """Find what custom operators write undeclared; compare with copies given to them."""
        torch, found = self.torch, dict[str, Document]()
        module, watch = compare.unguarded(self.program), observers.Writes(torch)
        graph_run.Run(torch, module, watch)(inputs().flat)
        nodes = {node.name: node for node in module.graph.nodes}
        for wrote in watch.found:
            node = nodes[wrote["node"]]
            places = {"places": custom_ops.places(torch, node.target)}
            found.setdefault(wrote["op"], {**wrote, **places, **graph_run.about(node)})
        if not found:
            return {"wrote": []}

        def copies(run: Any, node: Any, args: Any, kwargs: Any) -> Any:
            if str(node.target) in found:
                args, kwargs = copied(torch, (args, kwargs))
            return node.target(*args, **kwargs)

        def right(given: Inputs) -> list[Any]:
            module = compare.unguarded(self.program)
            values = graph_run.values_of(torch, module, given.flat, compute=copies)
            outputs: list[Any] = values["outputs"]
            return outputs

        with copying(torch, set(found)):
            outcome = self.held(inputs, right=right)
        return {"wrote": list(found.values()), "copied": outcome}

    def sequence(self, inputs: Callable[[], Inputs], count: int) -> list[Document]:
        """Compare a package and a program call by call, each with the state of its own calls."""
        torch, module = self.torch, compare.unguarded(self.program)
        found: list[Document] = []
        for _ in range(count):
            right = graph_run.values_of(torch, module, inputs().flat)["outputs"]
            outputs = compare.outputs(torch, self.called(inputs()), right, None)
            verdict = compare.verdict(outputs, bool(compare.random_ops(torch, module)))
            found.append(outcome_of({"verdict": verdict, "outputs": outputs}))
        return found

    def held(
        self, inputs: Callable[[], Inputs], package: Any = None, right: Any = None
    ) -> Document:
        """Compare the package with the program on inputs; `package` gives the package others,
        `right` runs the program in its own way."""
        torch = self.torch
        try:
            module = compare.unguarded(self.program)
            expected = (right or self.plainly)(inputs())
        except Exception as error:
            return {"verdict": "refused", "why": said(error)}
        try:
            result = self.called((package or inputs)())
        except Exception as error:
            return {"verdict": "failed", "why": said(error)}
        found = compare.results(torch, result, expected, module, inputs, self.limit)
        return outcome_of(found)

    def plainly(self, inputs: Inputs) -> list[Any]:
        module = compare.unguarded(self.program)
        outputs: list[Any] = graph_run.values_of(self.torch, module, inputs.flat)["outputs"]
        return outputs

    def called(self, inputs: Inputs) -> list[Any]:
        torch = self.torch
        model = self._model()
        torch.manual_seed(0)
        with inputs.mode(torch):
            result = standalone.call(torch, model, inputs)
        standalone.synchronize(torch)
        return [eager.cpu(torch, leaf) for leaf in standalone.flat_outputs(torch, result)]


def copied(torch: Any, tree: Any) -> Any:
    tree_map = import_module("torch.utils._pytree").tree_map
    return tree_map(lambda one: one.clone() if isinstance(one, torch.Tensor) else one, tree)


@contextlib.contextmanager
def copying(torch: Any, names: set[str]) -> Iterator[None]:
    """Have these operators given copies of their tensors, in whatever calls them."""
    mode_class: Any = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Copying(mode_class):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            args, kwargs = args, kwargs or {}
            if str(func) in names:
                args, kwargs = copied(torch, (args, kwargs))
            return func(*args, **kwargs)

    with Copying():
        yield


def outcome_of(compared: Document) -> Document:
    """Return the verdict of a comparison and the figures of the output that is furthest off."""
    outputs = compared["outputs"]
    bad = [one for one in outputs if one["verdict"] != "agrees"] or outputs
    if not bad:
        return {"verdict": compared["verdict"]}
    one = max(bad, key=lambda output: output.get("wrong") or 0)
    statistics = one.get("eager") or {}
    sizes = [abs(statistics.get(key) or 0.0) for key in ("min", "max")]
    keys = ("index", "wrong", "elements", "first_wrong", "max_abs_apart")
    figures = {key: one.get(key) for key in keys}
    return {"verdict": compared["verdict"], **figures, "largest": max(sizes)}


def said(error: BaseException) -> str:
    found = events.describe_error(error)
    return events.bounded(f"{found['type']}: {found['message']}", 300)


def changed(torch: Any, inputs: Inputs, changes: list[Document]) -> Inputs:
    """Return the inputs with what each change names taken away; leaves that no change names stay
    the very tensors that they are."""
    flat = list(inputs.flat)
    places = [n for n, leaf in enumerate(flat) if isinstance(leaf, torch.Tensor)]
    for change in changes:
        at = places[change["index"]]
        flat[at] = _changed(torch, flat[at], change)
    new = {id(old): leaf for old, leaf in zip(inputs.flat, flat)}  # noqa: B905 - Python 3.9
    tree_map = import_module("torch.utils._pytree").tree_map
    args, kwargs = tree_map(lambda leaf: new.get(id(leaf), leaf), (inputs.args, inputs.kwargs))
    return replace(inputs, flat=flat, args=args, kwargs=kwargs)


def _changed(torch: Any, leaf: Any, change: Document) -> Any:
    what, to = change["property"], change["to"]
    if what == "dtype":
        return leaf.to(getattr(torch, to))
    if what == "stride":
        new = torch.empty_strided(
            tuple(leaf.shape), tuple(to), dtype=leaf.dtype, device=leaf.device
        )
        return new.copy_(leaf)
    if what == "size":
        dim, size = change["dim"], leaf.shape[change["dim"]]
        if to > size:  # rows like the last, which keep every index within its bounds
            more = leaf.narrow(dim, size - 1, 1).expand(
                *(to - size if n == dim else -1 for n in range(leaf.dim()))
            )
            return torch.cat([leaf, more], dim)
        return leaf.narrow(dim, 0, to).clone(memory_format=torch.preserve_format)
    return leaf.clone(memory_format=torch.contiguous_format)
