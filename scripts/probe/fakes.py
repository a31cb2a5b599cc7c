"""Run the exported program node by node and hold each custom operator to its fake kernel."""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

from importlib import import_module
from typing import Any

from . import compare, events, standalone

_STACK_CHARACTERS = 2000
_BUILTIN = ("aten", "prims", "prim", "higher_order", "_operator", "math")
_KEPT = 20

Document = dict[str, Any]


def main() -> int:
    """Report each custom operator whose result is not what its fake kernel promised."""
    parser = standalone.arguments(__doc__ or "")
    parser.add_argument("--exported", required=True, help="the exported program (.pt2)")
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="import")
    with report.of_failure():
        torch = standalone.prepare(options)
        report.update(state="load", torch=str(torch.__version__))
        program = torch.export.load(options.exported)
        inputs = standalone.read_inputs(torch, options.inputs)
        module = compare.unguarded(program)
        report.update(state="run")
        checker = checker_of(torch, module)
        try:
            with torch.no_grad():
                checker.run(*inputs.flat)
                standalone.synchronize(torch)
        except Exception as error:  # what it has seen until then counts
            report.update(exception=events.describe_error(error))
        report.update(state="done", custom_ops=checker.seen, mismatches=checker.mismatches)
    return 0


def checker_of(torch: Any, module: Any) -> Any:
    """Return an interpreter of the module's graph that compares results with the fake ones."""

    class Checker(import_module("torch.fx").Interpreter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(module)
            self.seen: list[str] = []
            self.mismatches: list[Document] = []
            self._symbols: dict[Any, int] = {}

        def run_node(self, node: Any) -> Any:
            result = super().run_node(node)
            promised = node.meta.get("val")
            if node.op == "placeholder":
                self._learn(promised, result)
            elif node.op == "call_function" and is_custom(node.target):
                name = str(node.target)
                if name not in self.seen and len(self.seen) < _KEPT:
                    self.seen.append(name)
                if len(self.mismatches) < _KEPT:
                    self.mismatches += differences(torch, node, promised, result, self._symbols)
            return result

        def _learn(self, promised: Any, result: Any) -> None:
            """Take the sizes of this call as the values of the program's symbols."""
            if not isinstance(promised, torch.Tensor) or not isinstance(result, torch.Tensor):
                return
            for size, actual in zip(promised.shape, result.shape):  # noqa: B905 - Python 3.9
                expression = getattr(getattr(size, "node", None), "expr", None)
                if getattr(expression, "is_symbol", False):
                    self._symbols.setdefault(expression, int(actual))

    return Checker()


def is_custom(target: Any) -> bool:
    """Tell an operator of the user's from torch's own."""
    namespace = str(getattr(target, "namespace", "")) or str(getattr(target, "__module__", ""))
    return bool(namespace) and not namespace.startswith((*_BUILTIN, "torch"))


def differences(
    torch: Any, node: Any, promised: Any, result: Any, symbols: dict[Any, int]
) -> list[Document]:
    """Compare one operator's results with the promised ones: shape, stride, dtype, device."""
    pytree = import_module("torch.utils._pytree")
    found: list[Document] = []
    pairs = zip(pytree.tree_leaves(promised), pytree.tree_leaves(result))  # noqa: B905
    for output, (fake, real) in enumerate(pairs):
        if not isinstance(fake, torch.Tensor) or not isinstance(real, torch.Tensor):
            continue
        checks = (
            ("shape", sizes(fake.shape, symbols), list(real.shape)),
            ("dtype", str(fake.dtype), str(real.dtype)),
            ("device", fake.device.type, real.device.type),
            ("stride", sizes(fake.stride(), symbols), list(real.stride())),
        )
        for property, wanted, got in checks:
            if wanted is not None and wanted != got and real.numel() > 0:
                found.append(
                    {
                        "op": str(node.target),
                        "node": node.name,
                        "output": output,
                        "property": property,
                        "expected": str(wanted),
                        "got": str(got),
                        "stack": (node.meta.get("stack_trace") or "")[-_STACK_CHARACTERS:],
                    }
                )
                break  # a wrong shape makes the strides differ too
    return found


def sizes(values: Any, symbols: dict[Any, int]) -> list[int] | None:
    """Return sizes as numbers; None when one depends on what only the operator knows."""
    found: list[int] = []
    for value in values:
        expression = getattr(getattr(value, "node", None), "expr", None)
        if expression is None:
            found.append(int(value))
            continue
        number = expression.subs(symbols)
        if not number.is_Integer:
            return None
        found.append(int(number))
    return found
