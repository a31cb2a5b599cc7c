"""Run an exported program node by node on captured inputs: where values stop being finite, which
index leaves its bounds. One run, nothing is compiled."""

from __future__ import annotations

if __name__ == "__main__":
    from pathlib import Path
    from runpy import run_path

    run_path(str(Path(__file__).with_name("script.py")), {"script": __file__})  # ends the process

import time
from typing import Any

from . import indices, nonfinite_origins, standalone
from .compare import unguarded
from .fakes import is_custom
from .standalone import Document

_ELEMENTS = 16 * 1024 * 1024
_ROWS = 20_000
_STACK_FRAMES = 6


def keep(torch: Any, node: Any, args: Any) -> list[tuple[int, Any]]:
    """Return copies of the tensors that a custom operator must not write to."""
    if node.op != "call_function" or not is_custom(node.target):
        return []
    schema = getattr(node.target, "_schema", None)
    declared = list(schema.arguments) if schema is not None else []
    return [
        (place, one.detach().clone())
        for place, one in enumerate(args)
        if isinstance(one, torch.Tensor)
        and one.numel() <= _ELEMENTS
        and place < len(declared)
        and not (declared[place].alias_info and declared[place].alias_info.is_write)
    ]


def written(torch: Any, node: Any, args: Any, kept: list[tuple[int, Any]]) -> dict[str, Any] | None:
    """Return which of the kept arguments is no longer what it was."""
    for place, before in kept:
        now = args[place].detach()
        same = now.shape == before.shape and bool(
            ((now == before) | ((now != now) & (before != before))).all()
        )
        if not same:
            name = node.target._schema.arguments[place].name
            at = (now != before).nonzero()[0].tolist() if now.shape == before.shape else []
            return {"argument": name, "from": getattr(node.args[place], "name", ""), "at": at}
    return None


def main() -> int:
    """Interpret the graph; report values along it, births of NaN and Inf, the bad index."""
    parser = standalone.arguments(__doc__ or "")
    parser.add_argument("--exported", required=True, help="the exported program (.pt2)")
    options = parser.parse_args()
    report = standalone.Report(options.report)
    report.update(state="import")
    with report.of_failure():
        torch = standalone.prepare(options)
        report.update(state="load", torch=str(torch.__version__))
        program = standalone.load_program(torch, options)
        module = unguarded(program)
        inputs = standalone.read_inputs(torch, options.inputs)
        report.update(state="nodes")
        began = time.perf_counter()
        walk = Walk(torch, module)
        with torch.no_grad():
            walk.run(inputs.flat)
        report.update(seconds=round(time.perf_counter() - began, 3), **walk.found())
        report.update(state="done")
    return 0


class Walk:
    """One interpretation of a graph module; values are looked at as they are made."""

    def __init__(self, torch: Any, module: Any) -> None:
        self._torch, self._module = torch, module
        self.rows: list[Document] = []
        self.births: dict[str, Document] = {}
        self.nan: set[str] = set()
        self.inf: set[str] = set()
        self.writers: dict[str, list[Any]] = {}  # of what is not finite, into a value made before
        self.index: Document | None = None
        self.error: Document | None = None
        self.wrote: Document | None = None
        self.notes: dict[str, Document] = {}  # integer nodes, for the chain behind an index

    def run(self, flat: list[Any]) -> None:
        """Interpret; stops at an index that is out of bounds and at a node that raises."""
        walk, torch = self, self._torch

        class Interpreter(torch.fx.Interpreter):  # type: ignore[misc, name-defined]
            def run_node(self, n: Any) -> Any:
                if walk.skipped(n):
                    return None
                args, kwargs = self.fetch_args_kwargs_from_env(n)
                walk.before(n, args, kwargs)
                kept = keep(torch, n, args)
                try:
                    value = super().run_node(n)
                except Exception as error:
                    walk.error = {
                        "node": n.name,
                        "op": op_of(n),
                        "stack": stack_of(n),
                        "type": type(error).__name__,
                        "message": str(error)[:2000],
                    }
                    raise Stopped from error
                walk.after(n, args, kwargs, value)
                if walk.wrote is None and (wrote := written(torch, n, args, kept)):
                    walk.wrote = {"node": n.name, "op": op_of(n), "stack": stack_of(n), **wrote}
                return value

        try:
            # The leaves are passed as they are: the graph's own unpacking knows no keywords here.
            Interpreter(self._module).run(*flat, enable_io_processing=False)
        except Stopped:
            return

    def skipped(self, node: Any) -> bool:
        """Tell whether a node only refuses inputs: those that are refused are what is looked at."""
        if node.op == "call_module":
            return str(node.target) == "_guards_fn"
        return node.op == "call_function" and "._assert" in str(node.target)

    def before(self, node: Any, args: Any, kwargs: Any) -> None:
        if node.op != "call_function":
            return
        found = indices.check(self._torch, node, args, kwargs)
        if found is not None:
            self.index = {
                "node": node.name,
                "op": op_of(node),
                "stack": stack_of(node),
                **found,
                "chain": self._chain(node.args, found),
            }
            raise Stopped

    def after(self, node: Any, args: Any, kwargs: Any, value: Any) -> None:
        torch = self._torch
        for place, tensor in enumerate(tensors_of(torch, value)):
            row = row_of(torch, node, tensor, place)
            if row is not None and row.get("nan"):
                self.nan.add(node.name)
            if row is not None and row.get("inf"):
                self.inf.add(node.name)
            if row is not None and node.op == "call_function" and len(self.rows) < _ROWS:
                self.rows.append(row)
        if node.op != "output":
            self._note(node, value)
        bad = node.name in self.nan or node.name in self.inf
        if bad and node.op != "output" and len(self.births) < 200:
            born = nonfinite_origins.look(torch, node, args, kwargs, value, self.nan, self.inf)
            if born is not None:
                self.births[node.name] = {
                    "node": node.name,
                    "op": op_of(node),
                    "stack": stack_of(node),
                    **born,
                }
        for target in nonfinite_origins.targets(node) if bad else ():
            self.writers.setdefault(target.name, []).append(node)
            for kind in (self.nan, self.inf):
                if node.name in kind:
                    kind.add(target.name)

    def found(self) -> Document:
        """Return what a report says of the run."""
        graph = self._module.graph
        cause = nonfinite_origins.cause(graph, self.births, self.nan, self.inf, self.writers)
        return {
            "nodes": len(graph.nodes),
            "rows": self.rows,
            "birth": cause,
            "index": self.index,
            "raised": self.error,
            "wrote": self.wrote,
            "bad_nodes": len(self.nan | self.inf),
        }

    def _note(self, node: Any, value: Any) -> None:
        torch = self._torch
        if isinstance(value, int) and not isinstance(value, bool):
            self.notes[node.name] = {"node": node.name, "op": op_of(node), "value": value}
        elif isinstance(value, torch.Tensor) and not value.is_floating_point():
            if value.dtype is torch.bool or value.dtype.is_complex or value.numel() == 0:
                extremes: Document = {}
            else:
                extremes = {"min": int(value.min()), "max": int(value.max())}
            self.notes[node.name] = {
                "node": node.name,
                "op": op_of(node),
                "shape": list(value.shape),
                "stack": stack_of(node),
                **extremes,
            }

    def _chain(self, args: Any, found: Document) -> list[Document]:
        """Return the integer nodes behind the index, nearest first, down to inputs and sizes."""
        nodes = {node.name: node for node in self._module.graph.nodes}
        wanted = [found["index_node"]] if found.get("index_node") else []
        chain: list[Document] = []
        seen: set[str] = set()
        while wanted and len(chain) < 24:
            name = wanted.pop(0)
            if name in seen or name not in self.notes:
                continue
            seen.add(name)
            node = nodes[name]
            words = [word_of(argument) for argument in node.args]
            chain.append({**self.notes[name], "args": words[:6], "kind": node.op})
            wanted += [one.name for one in node.all_input_nodes]
        return chain


class Stopped(Exception):
    """Nothing after this node can be run."""


def op_of(node: Any) -> str:
    return str(node.target) if node.op == "call_function" else str(node.op)


def word_of(argument: Any) -> str:
    return str(getattr(argument, "name", argument))[:80]


def stack_of(node: Any) -> list[list[Any]]:
    """Return the frames of the user's Python, innermost last: [file, line, text]."""
    lines = str(node.meta.get("stack_trace") or "").splitlines()
    found: list[list[Any]] = []
    for number, line in enumerate(lines):
        text = line.strip()
        if not text.startswith('File "') or '", line ' not in text:
            continue
        file, _, rest = text[6:].partition('", line ')
        digits = rest.partition(",")[0]
        if digits.isdigit():
            following = lines[number + 1].strip() if number + 1 < len(lines) else ""
            found.append([file, int(digits), following[:200]])
    return found[-_STACK_FRAMES:]


def tensors_of(torch: Any, value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in tensors_of(torch, item)]
    if isinstance(value, dict):
        return [one for item in value.values() for one in tensors_of(torch, item)]
    return []


def row_of(torch: Any, node: Any, tensor: Any, place: int) -> Document | None:
    """Return min, max, mean, NaN and Inf of a float tensor; None of any other."""
    if not tensor.is_floating_point() or tensor.numel() == 0 or tensor.layout != torch.strided:
        return None
    plain = tensor.detach()
    if plain.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        plain = plain.to(torch.float32)
    low, high = torch.aminmax(plain)
    mean = plain.mean(dtype=torch.float32 if plain.dtype != torch.float64 else None)
    row: Document = {
        "node": node.name,
        "op": op_of(node),
        "shape": [int(size) for size in tensor.shape],
        "dtype": str(tensor.dtype).replace("torch.", ""),
        "min": float(low),
        "max": float(high),
        "mean": float(mean),
    }
    if place:
        row["output"] = place
    if not (row["min"] > float("-inf") and row["max"] < float("inf")):
        row.update(nan=int(plain.isnan().sum()), inf=int(plain.isinf().sum()))
        kept = plain[torch.isfinite(plain)]
        row.update(
            min=float(kept.min()) if kept.numel() else None,
            max=float(kept.max()) if kept.numel() else None,
            mean=float(kept.float().mean()) if kept.numel() else None,
        )
    frames = stack_of(node)
    if frames:
        row["line"] = f"{frames[-1][0]}:{frames[-1][1]}"
    return row
