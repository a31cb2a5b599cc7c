"""Run the exported program node by node: where is the first NaN born, which fake kernel lies?"""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

from importlib import import_module
from typing import Any

from . import compare, events, fakes, standalone, walk

_STACK_CHARACTERS = 2000
_KEPT = 20

Document = dict[str, Any]


def main() -> int:
    """Report the first node with a NaN, the first with an infinity, broken promises of custom
    operators, and their writes to inputs that their schemas do not declare."""
    parser = standalone.arguments(__doc__ or "")
    parser.add_argument("--exported", required=True, help="the exported program (.pt2)")
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="import")
    with report.of_failure():
        torch = standalone.prepare(options)
        report.update(state="load", torch=str(torch.__version__))
        program = standalone.load_program(torch, options)
        inputs = standalone.read_inputs(torch, options.inputs)
        report.update(state="run")
        births = births_of(torch, compare.unguarded(program))
        try:
            with torch.no_grad():
                births.run(*inputs.flat)
                standalone.synchronize(torch)
        except Exception as error:  # what was seen until then counts
            report.update(exception=events.describe_error(error), at=births.at)
        report.update(
            state="done",
            nodes=births.nodes,
            bad=[births.first[kind] for kind in ("NaN", "infinity") if kind in births.first],
            mismatches=births.mismatches,
            written=births.written,
        )
    return 0


def births_of(torch: Any, module: Any) -> Any:
    """Return an interpreter that notes where values that are not finite first come from.

    An infinity that comes from finite tensors by a constant (a mask filled with -inf) is meant;
    a NaN never is.
    """

    class Births(import_module("torch.fx").Interpreter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(module)
            self.mismatches: list[Document] = []
            self.written: list[Document] = []
            self._symbols: dict[Any, int] = {}
            self.first: dict[str, Document] = {}
            self.nodes, self.at = 0, ""

        def run_node(self, node: Any) -> Any:
            self.at = node.name
            if node.op != "call_function":
                result = super().run_node(node)
                if node.op == "placeholder":
                    fakes.learn(torch, node.meta.get("val"), result, self._symbols)
                return result
            args, kwargs = self.fetch_args_kwargs_from_env(node)
            kept = walk.keep(torch, node, args)
            result = super().run_node(node)
            self.nodes += 1
            if wrote := walk.written(torch, node, args, kept):
                self.written.append({"op": str(node.target), "node": node.name, **wrote})
            self._look(node, [self.env[n] for n in node.all_input_nodes], result)
            if fakes.is_custom(node.target) and len(self.mismatches) < _KEPT:
                promises = (torch, node, (args, kwargs), result, self._symbols)
                self.mismatches += fakes.differences(*promises)
            return result

        def _look(self, node: Any, given: list[Any], result: Any) -> None:
            for kind, test in (("NaN", torch.isnan), ("infinity", torch.isinf)):
                if kind in self.first or (kind == "infinity" and is_meant(node)):
                    continue
                count, elements = _count(torch, test, result)
                if count and not _count(torch, test, given)[0]:
                    stack = (node.meta.get("stack_trace") or "")[-_STACK_CHARACTERS:]
                    self.first[kind] = {
                        "kind": kind,
                        "node": node.name,
                        "op": str(node.target),
                        "count": count,
                        "elements": elements,
                        "stack": stack,
                    }

    return Births()


def is_meant(node: Any) -> bool:
    """Tell whether a node is given an infinity as a constant, such as `masked_fill(m, -inf)`."""
    infinite = (float("inf"), float("-inf"))
    return any(
        isinstance(value, float) and value in infinite
        for value in (*node.args, *node.kwargs.values())
    )


def _count(torch: Any, test: Any, values: Any) -> tuple[int, int]:
    """Return how many elements of the float tensors pass the test, and how many there are."""
    leaves = import_module("torch.utils._pytree").tree_leaves(values)
    floats = [t for t in leaves if isinstance(t, torch.Tensor) and t.is_floating_point()]
    return sum(int(test(t).sum()) for t in floats), sum(t.numel() for t in floats)
