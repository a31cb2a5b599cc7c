"""Run an exported graph node by node; observers look at each node before and after it is run."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from . import describe
from .lazy import replaced, torch
from .state import State
from .vocabulary import places_in

Document = dict[str, Any]
STACK_CHARACTERS = 2000
_LINES = 500  # that are reported
_UNROLLED = 200  # operators of one line
_STACK_PLACES = 6
GUARD = "Guard failed: "
_BROKEN = 20


class Observer:
    """Look at the nodes of a run. What `before` or `after` raises ends the run."""

    def before(self, node: Any, args: Any, kwargs: Any) -> None:
        """Look at a node and its arguments before it is run."""

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        """Look at the value of a node that was run."""


class Run:
    """One run of a graph module.

    A guard that does not hold is noted in `broken` and ends nothing. `asserts` False leaves out the
    graph's assertions, so that values which they would refuse are seen. `compute(run, node, args,
    kwargs)` gives the value of an operator in place of the operator itself. The module's state is
    afterwards what it was before, but with `advances`. With `writes` the inputs that the module
    has written to follow its outputs.
    """

    def __init__(
        self,
        module: Any,
        *observers: Observer,
        guards: bool = False,
        asserts: bool = True,
        compute: Any = None,
        advances: bool = False,
        writes: bool = False,
    ) -> None:
        self.broken: list[str] = []
        self.at: Any = None  # the node under way
        self.values: dict[Any, Any] = {}  # of the nodes that later ones need
        self._module, self._observers = module, observers
        self._guards, self._asserts, self._compute = guards, asserts, compute
        self._state = None if advances else State(module)
        self._written = describe.written_places(module) if writes else []

    def __call__(self, flat: Sequence[Any]) -> list[Any]:
        """Run on flat inputs, without gradients; return the flat outputs."""
        outer = self

        class Interpreter(torch.fx.Interpreter):  # type: ignore[misc]
            def run_node(self, n: Any) -> Any:
                outer.at, outer.values = n, self.env
                if n.op == "call_module" and str(n.target) == "_guards_fn":
                    if outer._guards:
                        with collecting(outer.broken):
                            super().run_node(n)
                    return None
                if not outer._asserts and "._assert" in str(n.target):
                    return None
                args, kwargs = self.fetch_args_kwargs_from_env(n)
                for observer in outer._observers:
                    observer.before(n, args, kwargs)
                if outer._compute is not None and n.op == "call_function":
                    value = outer._compute(outer, n, args, kwargs)
                else:
                    value = super().run_node(n)
                for observer in outer._observers:
                    observer.after(n, args, kwargs, value)
                return value

        kept = self._state.kept() if self._state else contextlib.nullcontext()
        with torch.no_grad(), kept:
            # The leaves are passed as they are: the graph's own unpacking knows no keywords here.
            result = Interpreter(self._module).run(*flat, enable_io_processing=False)
            if self._state:  # an output may be a tensor of the state
                result = copied(result)
        leaves: list[Any] = torch.utils._pytree.tree_leaves(result)
        return leaves + [flat[place] for place in self._written]


@contextlib.contextmanager
def collecting(broken: list[str]) -> Iterator[None]:
    """Note each guard that does not hold, where the first alone would be raised, and one that
    cannot even be computed."""

    def note(condition: Any, message: str = "") -> None:
        if not condition and len(broken) < _BROKEN:
            broken.append(str(message).removeprefix(GUARD) if message else "a guard")

    try:
        with replaced([(torch, "_assert", note)]):
            yield
    except Exception as error:
        broken.append((str(error).splitlines() or [type(error).__name__])[0][:300])


def about(node: Any) -> Document:
    """Return a node's name, operator and the user's stack that it comes from."""
    stack = node.meta.get("stack_trace") or ""
    return {"name": node.name, "op": str(node.target), "stack": stack[-STACK_CHARACTERS:]}


def located(node: Any) -> Document:
    """Return a node's name, operator and stack as [file, line, text], outermost first."""
    return {"node": node.name, "op": op_of(node), "stack": stack_of(node)}


def base(node: Any) -> str:
    """Return an operator's name without namespace and overload."""
    return str(node.target).rpartition("::")[2].removeprefix("aten.").partition(".")[0]


def reached(begin: Iterable[Any], onward: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """Yield nodes and those that `onward` leads to from them, each once, the nearest first."""
    waiting, seen = deque(begin), set[Any]()
    while waiting:
        node = waiting.popleft()
        if node not in seen:
            seen.add(node)
            yield node
            waiting += onward(node)


def op_of(node: Any) -> str:
    return str(node.target) if node.op == "call_function" else str(node.op)


def input_free(program: Any) -> list[list[Any]]:
    """Return [file, line] of the lines of the model whose results depend on no input of a call, nor
    on chance or on state that the program writes."""
    signature = program.graph_signature
    changes = {str(name) for name in signature.user_inputs}
    written = {*signature.buffers_to_mutate.values()}
    changes |= {name for name, of in signature.inputs_to_buffers.items() if of in written}
    changing: dict[Any, bool] = {}
    lines: dict[tuple[str, int], bool] = {}
    for node in program.graph.nodes:
        random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        changing[node] = (
            node.name in changes or random or any(changing[one] for one in node.all_input_nodes)
        )
        if node.op == "call_function" and (stack := stack_of(node)):
            at = stack[-1][0], stack[-1][1]
            lines[at] = lines.get(at, True) and not changing[node]
    return [[*at] for at, free in lines.items() if free][:_LINES]


def unrolled(program: Any) -> list[Any] | None:
    """Return [file, line, its operators, all] of a line of the model that makes most of a long
    graph: a loop."""
    nodes = [node for node in program.graph.nodes if node.op == "call_function"]
    lines = Counter(tuple(stack[-1][:2]) for node in nodes if (stack := stack_of(node)))
    at, count = lines.most_common(1)[0] if lines else ((), 0)
    return [*at, count, len(nodes)] if count >= _UNROLLED and 2 * count > len(nodes) else None


def stack_of(node: Any) -> list[list[Any]]:
    """Return the lines of the user's Python, innermost last: [file, line, text]."""
    found = places_in(str(node.meta.get("stack_trace") or ""))[-_STACK_PLACES:]
    return [[place.file, place.line, place.text or ""] for place in found]


class Kept(Observer):
    """The values of named nodes, on the CPU."""

    def __init__(self, names: Collection[str]) -> None:
        self.values: Document = {}
        self._names = frozenset(names)

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        if node.name in self._names:
            self.values[node.name] = on_cpu(value)


def values_of(
    module: Any,
    flat: Sequence[Any],
    names: Collection[str] = (),
    compute: Any = None,
    *observers: Observer,
    writes: bool = False,
) -> Document:
    """Run a module; return the named nodes' values, and its flat `outputs`, on the CPU."""
    kept = Kept(names)
    outputs = Run(module, kept, *observers, compute=compute, writes=writes)(flat)
    return {**kept.values, "outputs": list(map(on_cpu, outputs))}


def outputs_of(
    module: Any,
    flat: Sequence[Any],
    compute: Any = None,
    *,
    asserts: bool = True,
    advances: bool = False,
    writes: bool = False,
) -> list[Any]:
    """Run a module; return its flat outputs, on the CPU."""
    run = Run(module, asserts=asserts, compute=compute, advances=advances, writes=writes)
    return list(map(on_cpu, run(flat)))


def on_cpu(value: Any) -> Any:
    """Return a tensor's values as they are now, on the CPU; anything else as it is."""
    return value.detach().cpu().clone() if isinstance(value, torch.Tensor) else value


def copied(tree: Any) -> Any:
    """Return a tree with tensors of its own, with the same strides."""

    def copy(one: Any) -> Any:
        if not isinstance(one, torch.Tensor):
            return one
        found = describe.compacted(one)
        return one.clone() if found is one else found

    return torch.utils._pytree.tree_map(copy, tree)
