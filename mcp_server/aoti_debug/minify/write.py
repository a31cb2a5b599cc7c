"""Write a candidate of a program as a script that needs torch alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aoti_debug.minify.graph import WEIGHTS, GraphNode, NodeValue, Survey
from aoti_debug.minify.operators import Definitions
from aoti_debug.minify.script import (
    CHECKS,
    TOLERANCE,
    TOLERANCES,
    Written,
    cut_to,
    function,
    main,
    model,
    stand_in,
    words_of,
)
from aoti_debug.minify.slice import Reduction, Unbuildable
from aoti_debug.plain import plain

FUTURE = "from __future__ import annotations"
IMPORTS = "from pathlib import Path\n\nimport torch\n"
FROM_FOLDER = """
def load(name):
    return torch.load({folder!r} + "/" + name + ".pt", weights_only=True)
"""


@dataclass(frozen=True, slots=True)
class Script:
    """A candidate as text, and the files of values that it reads."""

    text: str
    files: tuple[str, ...]  # example/NAME, real/NAME, weights/NAME


class Writer:
    """Write candidates of one program, which define its custom operators themselves."""

    def __init__(self, survey: Survey, definitions: Definitions) -> None:
        self.survey, self.definitions, self.graph = survey, definitions, survey.graph
        self.real = survey.real or survey.example
        self._values: dict[str, Mapping[str, NodeValue]] = {"weights": survey.weights.by_name}
        self._values |= {one.side: one.by_name for one in (survey.example, self.real)}

    def write(self, candidate: Reduction, header: str = "", load: str | None = None) -> Script:
        """Return the script of a candidate; `header` is its docstring, `load` Python that defines
        `load(name)`, by default from a file for each value. Raise Unbuildable where a node has no
        Python or a value was never computed."""
        written = self._forward(candidate)
        files: list[str] = []
        sides = (self.real.side, *(["example"] if candidate.two_sided else ()))
        inputs, *example = (
            [self._value(f"{side}/{name}", candidate, files) for name in written.arguments]
            for side in sides
        )
        weights = [self._weight(n, candidate, files) for n in written.weights]
        shapes = self._dynamic(written.arguments) if candidate.dynamic else ([], {})
        defined, folder = self.definitions.text, str(self.survey.values)
        called = {line.partition(" = ")[2].partition(".")[0] for line in written.lines}
        parts = [
            f'"""{header}"""\n' if header else "",
            FUTURE if FUTURE in defined else "",
            "".join(f"import {one}\n" for one in ("math", "operator") if one in called) + IMPORTS,
            defined.replace(FUTURE, ""),
            model(written, weights),
            (load or FROM_FOLDER.format(folder=folder)) if files else "",
            function("inputs", "Return what the failing call is given.", inputs),
            *(function("example", "Return what the model is exported with.", e) for e in example),
            self._check(candidate),
            main(candidate, written, shapes),
        ]
        text = "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
        return Script(text, tuple(dict.fromkeys(files)))

    def _forward(self, candidate: Reduction) -> Written:
        written = Written()
        kept = [self.graph.nodes[position] for position in sorted(candidate.keep)]
        for node in kept:
            self._emit(node, candidate, written)
        for node in kept:
            if node.several:
                self._results_of(node, written)
            elif written.emitted.isdisjoint(self.graph.users.get(node.name, ())):
                written.outputs.append(node.name)
        if not written.outputs:
            raise Unbuildable("it has no output")
        return written

    def _results_of(self, node: GraphNode, written: Written) -> None:
        """Return what nothing uses of a node with several results."""
        for number, tensor in enumerate(node.several):
            if not tensor:
                continue
            items = [
                user
                for user in self.graph.users.get(node.name, [])
                if user in written.emitted
                and self.graph[user].target == "operator.getitem"
                and self.graph[user].args[1] == {"text": str(number)}
            ]
            if not items:
                written.outputs.append(f"{node.name}[{number}]")
            elif written.emitted.isdisjoint(self.graph.users.get(items[0], ())):
                written.outputs.append(items[0])

    def _emit(self, node: GraphNode, candidate: Reduction, written: Written) -> None:
        if node.unsupported:
            raise Unbuildable(f"{node.name} has no Python: {node.unsupported}")
        given = {name: self._use(self.graph[name], candidate, written) for name in node.refs()}
        words = [words_of(value, given) for value in node.args]
        words += [f"{key}={words_of(value, given)}" for key, value in node.kwargs.items()]
        if node.source and node.source != written.source:
            name = node.source.file.rpartition("/")[2]
            text = f"# {name}:{node.source.line}: {node.source.text or ''}"
            written.lines.append(plain(text)[:96])
        written.source = node.source or written.source
        written.lines.append(f"{node.name} = {node.target}({', '.join(words)})")
        written.emitted.add(node.name)

    def _use(self, node: GraphNode, candidate: Reduction, written: Written) -> str:
        """Return what stands for a node where it is used; emit or add what that needs."""
        if node.name in written.emitted:
            return node.name
        if node.op == "placeholder" and node.kind in WEIGHTS:
            if node.name not in written.weights:
                written.weights.append(node.name)
            return f"self.{node.name}"
        if node.is_number:
            return self._number(node, candidate, written)
        if node.target == "operator.getitem" and node.refs()[0] in written.emitted:
            self._emit(node, candidate, written)
            return node.name
        if node.op == "placeholder" and not node.is_tensor:
            value = self.real.by_name.get(node.name)
            return repr(value.number) if value is not None else "None"
        if not node.is_tensor:
            raise Unbuildable(f"{node.name} is no tensor")
        for side in (self.real, self.survey.example) if candidate.two_sided else (self.real,):
            if node.name not in side.by_name:
                raise Unbuildable(f"the value of {node.name} is not known on the {side.side} side")
        written.arguments.append(node.name)
        written.emitted.add(node.name)
        return node.name

    def _number(self, node: GraphNode, candidate: Reduction, written: Written) -> str:
        """Return a size: computed again where sizes are free, else as it was."""
        if candidate.dynamic and isinstance(node.size, tuple) and node.is_call:
            try:
                self._emit(node, candidate, written)
            except Unbuildable:
                pass
            else:
                return node.name
        value = self.real.by_name.get(node.name)
        if value is not None and value.number is not None:
            return repr(value.number)
        size = node.size[1] if isinstance(node.size, tuple) else node.size
        if size is None:
            raise Unbuildable(f"the size {node.name} is not known")
        return repr(size)

    def value(self, path: str) -> NodeValue | None:
        side, _, name = path.partition("/")
        return self._values[side].get(name)

    def _value(self, path: str, candidate: Reduction, files: list[str]) -> str:
        """Return Python that makes a value, or loads it from its file, in the sizes asked for."""
        value = self.value(path)
        made = stand_in(value, path.partition("/")[2] in candidate.made) if value else None
        if made is None:
            files.append(path)
            made = f'load("{path}")'
        return cut_to(made, value, candidate.sizes) if value is not None else made

    def _weight(self, name: str, candidate: Reduction, files: list[str]) -> str:
        made = self._value(f"weights/{name}", candidate, files)
        if self.graph[name].kind == "PARAMETER":
            return f"self.{name} = torch.nn.Parameter({made}, requires_grad=False)"
        return f'self.register_buffer("{name}", {made})'

    def _dynamic(self, arguments: Sequence[str]) -> tuple[list[str], dict[str, dict[int, str]]]:
        """Return the declarations of the free sizes, and which dimension of which input has one."""
        shapes: dict[str, dict[int, str]] = {}
        symbols: dict[str, str] = {}
        for name in arguments:
            for position, size in enumerate(self.graph[name].shape):
                if isinstance(size, tuple):
                    shapes.setdefault(name, {})[position] = self._dim(size[0], symbols)
        return list(symbols.values()), shapes

    def _dim(self, expression: str, symbols: dict[str, str]) -> str:
        if expression not in self.graph.symbols or not expression.isidentifier():
            return "torch.export.Dim.AUTO"
        low, high = self.graph.symbols[expression]
        bounds = [f"min={low}"] if low is not None and low > 0 else []
        bounds += [f"max={high}"] if high is not None else []
        words = ", ".join([f'"{expression}"', *bounds])
        symbols[expression] = f"{expression} = torch.export.Dim({words})"
        return expression

    def _check(self, candidate: Reduction) -> str:
        if candidate.until not in CHECKS:
            return ""
        dtypes = {v.dtype for v in self.real.by_name.values() if v.floating}
        tolerance = max([TOLERANCE, *(TOLERANCES[d] for d in dtypes & TOLERANCES.keys())])
        return CHECKS[candidate.until].replace("TOLERANCE", f"{tolerance:g}")
