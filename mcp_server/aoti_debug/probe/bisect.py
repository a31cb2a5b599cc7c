"""Find the first value that a compiled model computes wrong: compile it with values inside the
model as further outputs, and hold each against the exported program's."""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

import json
import time
from importlib import import_module
from typing import Any

from . import compare, standalone
from .compare import random_ops, unguarded
from .walk import op_of, stack_of

Document = dict[str, Any]

_PROBES = 32  # values that one compile gives besides the outputs
_COMPILES = 4
_VIEWS = (
    "view", "reshape", "t", "transpose", "permute", "expand", "slice", "select", "unsqueeze",
    "squeeze", "detach", "alias", "split", "chunk", "unbind", "getitem", "clone", "contiguous",
    "flatten", "unflatten", "movedim", "narrow", "lift_fresh_copy", "sym_size",
)  # fmt: skip


def main() -> int:
    """Compile up to --compiles times; report the first node whose value is wrong."""
    parser = standalone.arguments(__doc__ or "")
    parser.add_argument("--exported", required=True, help="the exported program (.pt2)")
    parser.add_argument("--compiles", type=int, default=_COMPILES)
    parser.add_argument("--seconds", type=float, default=600.0, help="begin no compile after these")
    parser.add_argument("--settings", default="{}", help="Inductor's settings, a JSON object")
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="import")
    with report.of_failure():
        torch = standalone.prepare(options)
        report.update(state="load", torch=str(torch.__version__))
        program = torch.export.load(options.exported)
        search = Search(torch, program, options, report)
        search.run()
        report.update(state="done")
    return 0


class Search:
    """The search for one exported program and one call."""

    def __init__(self, torch: Any, program: Any, options: Any, report: standalone.Report) -> None:
        self._torch, self._program, self._options = torch, program, options
        self._report = report
        self._began = time.monotonic()
        self.compiles: list[Document] = []

    def run(self) -> None:
        torch, report = self._torch, self._report
        module = unguarded(self._program)
        report.update(random=random_ops(torch, module))
        nodes = candidates(torch, module.graph)
        report.update(state="search", nodes=len(list(module.graph.nodes)), candidates=len(nodes))
        low, high = -1, len(nodes)  # positions that agree, and that differ
        rows: dict[str, Document] = {}
        count = _PROBES
        while high - low > 1 and self._may_compile():
            asked = spread(low, high, count)
            found = self._compared([nodes[n] for n in asked])
            rows.update({name: row for name, row in found.items() if name != "outputs"})
            report.update(compiles=self.compiles, rows=list(rows.values()))
            wrong = [n for n in asked if found[nodes[n]]["verdict"] != "agrees"]
            if not wrong and not found["outputs"]["wrong"]:
                # Values that are outputs are not fused away: then one value at a time.
                report.update(vanished=[nodes[n] for n in asked])
                low = asked[0] if count == 1 else low
                count = 1
                continue
            if wrong:
                high = wrong[0]
            right = [n for n in asked if n < high]
            low = max([low, *right])
        if high < len(nodes):
            by_name = {node.name: node for node in module.graph.nodes}
            self._explain(by_name[nodes[high]], rows, exact=high - low == 1)
        elif high - low <= 1 and not report.content.get("vanished"):
            report.update(first=None)

    def _may_compile(self) -> bool:
        spent = time.monotonic() - self._began
        last = self.compiles[-1]["seconds"] if self.compiles else 0.0
        enough = bool(spent + last < self._options.seconds)
        return enough and len(self.compiles) < int(self._options.compiles)

    def _compared(self, names: list[str]) -> Document:
        """Compile with these nodes as further outputs; compare them and the outputs."""
        torch = self._torch
        began = time.monotonic()
        module = unguarded(self._program)
        count = add_outputs(module, names)
        model = build(torch, module, self._program, json.loads(self._options.settings))
        self.compiles.append({"values": len(names), "seconds": round(time.monotonic() - began, 2)})
        inputs = standalone.read_inputs(torch, self._options.inputs)
        with torch.no_grad():
            given = standalone.flat_outputs(torch, standalone.call(torch, model, inputs))
        eager = values_of(torch, unguarded(self._program), self._inputs(), names)
        truth = self._truth(names)
        found: Document = {}
        for place, name in enumerate(names):
            outcome = compare.outputs(
                torch, [given[count + place]], [eager[name]], [truth[name]] if truth else None
            )[0]
            found[name] = {"node": name, **outcome}
        exact = truth["outputs"] if truth is not None else None
        outputs = compare.outputs(torch, given[:count], eager["outputs"], exact)
        found["outputs"] = {"wrong": [o["index"] for o in outputs if o["verdict"] != "agrees"]}
        return found

    def _inputs(self) -> standalone.Inputs:
        return standalone.read_inputs(self._torch, self._options.inputs)

    def _truth(self, names: list[str]) -> Document | None:
        torch = self._torch
        try:
            wide = compare.widen(torch, unguarded(self._program))
            return values_of(torch, wide, compare.widen_inputs(torch, self._inputs()), names)
        except Exception:  # an operator without float64: eager is the measure
            return None

    def _explain(self, node: Any, rows: dict[str, Document], *, exact: bool) -> None:
        first: Document = {
            **rows[node.name], "node": node.name, "op": op_of(node), "stack": stack_of(node),
            "exact": exact, "inputs": [one.name for one in node.all_input_nodes],
        }  # fmt: skip
        self._report.update(first=first)
        if exact and self._may_compile():
            first["alone"] = self._alone(node)
            self._report.update(first=first, compiles=self.compiles)

    def _alone(self, node: Any) -> str:
        """Compile the one operator on the values that eager gives it: is it wrong by itself."""
        torch = self._torch
        names = [one.name for one in node.all_input_nodes]
        try:
            values = values_of(torch, unguarded(self._program), self._inputs(), names)
            graph = torch.fx.Graph()
            kept = {one: graph.placeholder(one.name) for one in node.all_input_nodes}
            made = graph.node_copy(node, lambda one: kept[one])
            graph.output((made,))
            single = torch.fx.GraphModule(torch.nn.Module(), graph)
            args = tuple(values[name] for name in names)
            if not all(isinstance(one, torch.Tensor) for one in args):
                return "not tried: it takes more than tensors"
            began = time.monotonic()
            exported = torch.export.export(single, args)
            model = build(torch, unguarded(exported), exported, json.loads(self._options.settings))
            self.compiles.append({"values": 1, "seconds": round(time.monotonic() - began, 2)})
            with torch.no_grad():
                given = standalone.flat_outputs(torch, model(*args))
                right = standalone.flat_outputs(torch, single(*args))
            outcome = compare.outputs(torch, given, right, None)
            same = compare.verdict(outcome, False) == "agrees"
            if not same:
                self._reproduce(exported, args)
        except Exception as error:
            return f"not tried: {type(error).__name__}: {str(error)[:200]}"
        return "right alone, wrong beside what it is fused with" if same else "wrong alone"

    def _reproduce(self, exported: Any, args: Any) -> None:
        """Leave the one operator beside the report: program, inputs and a script of ten lines."""
        torch, report = self._torch, self._options.report
        if report is None:
            return
        path = import_module("pathlib").Path(report)
        torch.export.save(exported, path.with_name("one_operator.pt2"))
        torch.save(tuple(args), path.with_name("one_operator_inputs.pt"))
        path.with_name("one_operator.py").write_text(
            _SCRIPT.format(settings=self._options.settings)
        )


_SCRIPT = """\
import json
from pathlib import Path

import torch

here = Path(__file__).parent
program = torch.export.load(here / "one_operator.pt2")
inputs = torch.load(here / "one_operator_inputs.pt", weights_only=True)
package = torch._inductor.aoti_compile_and_package(
    program,
    package_path=str(here / "one_operator_compiled.pt2"),
    inductor_configs=json.loads({settings!r}),
)
print("compiled:", torch._inductor.aoti_load_package(package)(*inputs))
print("eager:   ", program.module()(*inputs))
"""


def candidates(torch: Any, graph: Any) -> list[str]:
    """Return the nodes whose values may be asked for, in order: those that compute a tensor that
    an output depends on."""
    output = next(node for node in reversed(list(graph.nodes)) if node.op == "output")
    needed: set[Any] = set()
    wanted = list(output.all_input_nodes)
    while wanted:
        node = wanted.pop()
        if node not in needed:
            needed.add(node)
            wanted += node.all_input_nodes
    found = []
    for node in graph.nodes:
        name = str(node.target).removeprefix("aten.").partition(".")[0]
        value = node.meta.get("val")
        if node.op != "call_function" or node not in needed or name.lstrip("_") in _VIEWS:
            continue
        if name.endswith("_") or not isinstance(value, torch.Tensor):
            continue
        found.append(node.name)
    return found


def spread(low: int, high: int, count: int) -> list[int]:
    """Return at most `count` positions between two, evenly apart."""
    inner = high - low - 1
    if inner <= count:
        return list(range(low + 1, high))
    return sorted({low + (n + 1) * (high - low) // (count + 1) for n in range(count)} - {low})


def add_outputs(module: Any, names: list[str]) -> int:
    """Give a module further outputs, flat after its own; return how many it had."""
    pytree = import_module("torch.utils._pytree")
    graph = module.graph
    output = next(node for node in reversed(list(graph.nodes)) if node.op == "output")
    nodes = {node.name: node for node in graph.nodes}
    flat = pytree.tree_leaves(output.args[0])
    leaves = (*flat, *(nodes[name] for name in names))
    output.args = (leaves,)
    info = graph._codegen.pytree_info
    spec = pytree.tree_structure(tuple(0 for _ in leaves))
    graph._codegen.pytree_info = info._replace(out_spec=spec)
    module.recompile()
    return len(flat)


def build(torch: Any, module: Any, program: Any, settings: Document) -> Any:
    """Compile a module of an exported program and load it."""
    inductor: Any = import_module("torch._inductor")
    args, kwargs = program.example_inputs
    library = inductor.aot_compile(module, args, kwargs, options=settings or None)
    flat = import_module("torch.utils._pytree").tree_leaves((args, kwargs))
    devices = [str(one.device) for one in flat if isinstance(one, torch.Tensor)]
    device = next((one for one in devices if not one.startswith("cpu")), "cpu")
    return import_module("torch._export").aot_load(library, device)


def values_of(torch: Any, module: Any, inputs: standalone.Inputs, names: list[str]) -> Document:
    """Run a module as it is; return the named nodes' values, and its outputs, on the CPU."""
    kept: Document = {}
    wanted = set(names)
    interpreter: Any = import_module("torch.fx").Interpreter

    class Keeping(interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            if n.op == "call_module" and str(n.target) == "_guards_fn":
                return None
            value = super().run_node(n)
            if n.name in wanted:
                tensor = isinstance(value, torch.Tensor)
                kept[n.name] = value.detach().clone().cpu() if tensor else value
            return value

    with torch.no_grad():
        result = Keeping(module).run(*inputs.flat, enable_io_processing=False)
        kept["outputs"] = standalone.flat_outputs(torch, result)
    return kept
