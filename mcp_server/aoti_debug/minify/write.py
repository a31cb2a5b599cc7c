"""Write a candidate as a script that needs torch alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aoti_debug.minify.candidate import Candidate, Unbuildable
from aoti_debug.minify.graph import WEIGHTS, Graph, Node, Side, Size, Tree, Value, Values

FUTURE = "from __future__ import annotations"
CHECKS = {
    "compare": '''
def check(results, expected):
    """Hold the compiled results against those of the same program run eagerly."""
    for number, (got, wanted) in enumerate(zip(results, expected)):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            what = f"{tuple(got.shape)} {got.dtype} instead of {tuple(wanted.shape)} {wanted.dtype}"
            raise AssertionError(f"wrong result: output {number} is {what}")
        got, wanted = got.detach().double(), wanted.detach().double()
        if not torch.equal(got.isfinite(), wanted.isfinite()):
            raise AssertionError(f"wrong result: output {number} is not finite where eager is")
        finite = wanted.isfinite()
        off = (got - wanted)[finite].abs()
        granted = TOLERANCE * (1 + wanted[finite].abs().max()) if off.numel() else 0
        if off.numel() and off.max() > granted:
            raise AssertionError(f"wrong result: output {number} is off by {off.max().item():.3g}")
''',
    "finite": '''
def check(results, expected):
    """Refuse what is not finite."""
    for number, got in enumerate(results):
        if got.is_floating_point() and not got.isfinite().all():
            raise AssertionError(f"wrong result: output {number} is not finite")
''',
}
TOLERANCES = {"torch.float64": 1e-7, "torch.float16": 2e-2, "torch.bfloat16": 6e-2}
TOLERANCE = 1e-3


@dataclass
class Written:
    """A candidate's forward in the making."""

    lines: list[str] = field(default_factory=list)
    emitted: set[str] = field(default_factory=set)
    arguments: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    source: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A candidate as text, and the files of values that it reads."""

    text: str
    files: tuple[tuple[Side, str], ...]  # (side, name); weights are on the side "real"
    weights: tuple[str, ...]
    arguments: tuple[str, ...]
    nodes: int


class Writer:
    """Write candidates of one program."""

    def __init__(
        self,
        graph: Graph,
        example: Values,
        real: Values | None,
        weights: Mapping[str, Value],
        prelude: str,
    ) -> None:
        self.graph = graph
        self.example = example
        self.real = real or example
        self.weights = weights
        self.prelude = prelude
        self._users = graph.users()

    def write(self, candidate: Candidate, load: str, header: str = "", notes: str = "") -> Script:
        """Return the script of a candidate; `load` defines `load(name)`, `header` is its docstring.

        Raises:
            Unbuildable: a node has no Python, or a value that it needs was never computed.
        """
        written = self._forward(candidate)
        files: list[tuple[Side, str]] = []
        inputs = [self._input(n, candidate, self.real, files) for n in written.arguments]
        example = inputs
        if candidate.two_sided:
            example = [self._input(n, candidate, self.example, files) for n in written.arguments]
        weights = [self._weight(n, candidate, files) for n in written.weights]
        shapes = self._dynamic(written.arguments) if candidate.dynamic else ([], {})
        prelude = self.prelude.replace(FUTURE, "")
        parts = [
            f'"""{header}"""\n' if header else "",
            FUTURE if FUTURE in self.prelude else "",
            "from pathlib import Path\n\nimport torch\n",
            prelude,
            _model(written, weights),
            load if files else "",
            _function("inputs", "Return what the failing call is given.", inputs),
            _function("example", "Return what the model is exported with.", example)
            if candidate.two_sided
            else "",
            self._check(candidate, written),
            _main(candidate, written, shapes, notes),
        ]
        text = "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"
        return Script(
            text,
            tuple(dict.fromkeys(files)),
            tuple(written.weights),
            tuple(written.arguments),
            len(candidate.keep),
        )

    def _forward(self, candidate: Candidate) -> Written:
        written = Written()
        for position in sorted(candidate.keep):
            self._emit(self.graph.nodes[position], candidate, written)
        for position in sorted(candidate.keep):
            node = self.graph.nodes[position]
            users = self._users.get(node.name, [])
            if node.several:
                self._results_of(node, written)
            elif not any(user in written.emitted for user in users):
                written.outputs.append(node.name)
        if not written.outputs:
            raise Unbuildable("nothing of it is an output")
        return written

    def _results_of(self, node: Node, written: Written) -> None:
        """Return what nothing uses of a node with several results."""
        for number, tensor in enumerate(node.several):
            if not tensor:
                continue
            items = [
                user
                for user in self._users.get(node.name, [])
                if self.graph[user].target == "operator.getitem"
                and self.graph[user].args[1] == {"text": str(number)}
            ]
            taken = next((item for item in items if item in written.emitted), None)
            if taken is None:
                written.outputs.append(f"{node.name}[{number}]")
            elif not any(user in written.emitted for user in self._users.get(taken, [])):
                written.outputs.append(taken)

    def _emit(self, node: Node, candidate: Candidate, written: Written) -> None:
        if node.unsupported:
            raise Unbuildable(f"{node.name} has no Python: {node.unsupported}")
        given = {name: self._use(self.graph[name], candidate, written) for name in node.refs()}
        words = [_text(value, given) for value in node.args]
        words += [f"{key}={_text(value, given)}" for key, value in node.kwargs.items()]
        source = (node.source.file, node.source.line) if node.source else None
        if node.source and source != written.source:
            name = node.source.file.rpartition("/")[2]
            written.lines.append(f"# {name}:{node.source.line}: {node.source.text}"[:96])
        written.source = source or written.source
        written.lines.append(f"{node.name} = {node.target}({', '.join(words)})")
        written.emitted.add(node.name)

    def _use(self, node: Node, candidate: Candidate, written: Written) -> str:
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
        self._argument(node.name, candidate, written)
        return node.name

    def _argument(self, name: str, candidate: Candidate, written: Written) -> None:
        sides = (self.real, self.example) if candidate.two_sided else (self.real,)
        for values in sides:
            if name not in values:
                raise Unbuildable(f"the value of {name} is not known on the {values.side} side")
        written.arguments.append(name)
        written.emitted.add(name)

    def _number(self, node: Node, candidate: Candidate, written: Written) -> str:
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

    def _input(
        self, name: str, candidate: Candidate, values: Values, files: list[tuple[Side, str]]
    ) -> str:
        value = values.by_name[name]
        made = _made(value, name in candidate.made)
        if made is None:
            files.append((values.side, name))
        return made or f'load("{values.side}/{name}")'

    def _weight(self, name: str, candidate: Candidate, files: list[tuple[Side, str]]) -> str:
        value = self.weights.get(name)
        made = _made(value, name in candidate.made) if value else None
        if made is None:
            files.append(("real", f"weights/{name}"))
        made = made or f'load("weights/{name}")'
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
                    dim = self._dim(size, symbols)
                    shapes.setdefault(name, {})[position] = dim
        return list(symbols.values()), shapes

    def _dim(self, size: Size, symbols: dict[str, str]) -> str:
        expression = size[0] if isinstance(size, tuple) else ""
        if expression not in self.graph.symbols or not expression.isidentifier():
            return "torch.export.Dim.AUTO"
        low, high = self.graph.symbols[expression]
        bounds = [f"min={low}"] if low is not None and low > 0 else []
        bounds += [f"max={high}"] if high is not None else []
        words = ", ".join([f'"{expression}"', *bounds])
        symbols[expression] = f"{expression} = torch.export.Dim({words})"
        return expression

    def _check(self, candidate: Candidate, written: Written) -> str:
        if candidate.until not in CHECKS:
            return ""
        dtypes = {v.dtype for v in self.real.by_name.values() if v.floating}
        used = [TOLERANCES[dtype] for dtype in dtypes if dtype in TOLERANCES]
        tolerance = max([TOLERANCE, *used])
        return CHECKS[candidate.until].replace("TOLERANCE", f"{tolerance:g}")


def _text(tree: Tree, given: Mapping[str, str]) -> str:
    if "ref" in tree:
        return given[tree["ref"]]
    if "text" in tree:
        return str(tree["text"])
    if "tuple" in tree:
        items = [_text(item, given) for item in tree["tuple"]]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return f"[{', '.join(_text(item, given) for item in tree['list'])}]"


def _made(value: Value, made_up: bool) -> str | None:
    """Return Python that makes a value: a small one as it was, a made up one as may be."""
    if not value.is_tensor:
        return repr(value.number)
    device = "" if value.device == "cpu" else f', device="{value.device}"'
    if value.text is not None and value.contiguous:
        flat = f"torch.tensor({value.text}, dtype={value.dtype}{device})"
        return flat if 0 not in value.shape else f"{flat}.reshape({value.shape})"
    if not made_up:
        return None
    if value.floating:
        made = f"torch.rand({value.shape}, dtype={value.dtype}{device})"
    else:
        made = f"torch.zeros({value.shape}, dtype={value.dtype}{device})"
    if value.contiguous or value.stride is None:
        return made
    empty = f"torch.empty_strided({value.shape}, {value.stride}, dtype={value.dtype}{device})"
    return f"{empty}.copy_({made})"


def _model(written: Written, weights: Sequence[str]) -> str:
    lines = ["class Model(torch.nn.Module):"]
    if weights:
        lines += ["    def __init__(self):", "        super().__init__()"]
        lines += [f"        {weight}" for weight in weights]
        lines.append("")
    lines.append(f"    def forward({', '.join(['self', *written.arguments])}):")
    lines += [f"        {line}" for line in written.lines]
    lines.append(f"        return ({', '.join(written.outputs)},)")
    return "\n".join(lines)


def _inductor(settings: Mapping[str, object], *, runs: bool) -> list[str]:
    """Return the steps with plain Inductor: the same kernels, no wrapper in C++."""
    lines = [
        'print("step: lower", flush=True)',
        "state = {**program.state_dict, **program.constants}",
        "given = iter(inputs())",
        "specs = program.graph_signature.input_specs",
        "flat = [state[spec.target] if spec.target else next(given) for spec in specs]",
        f"compiled = torch._inductor.compile(program.graph_module, flat, options={settings!r})",
    ]
    if runs:
        lines += [
            'print("step: run", flush=True)',
            "torch.manual_seed(0)",
            "results = compiled(*flat)",
            "if torch.cuda.is_initialized():",
            "    torch.cuda.synchronize()",
        ]
    return lines


def _function(name: str, purpose: str, values: Sequence[str]) -> str:
    lines = "".join(f"        {value},\n" for value in values)
    return f'def {name}():\n    """{purpose}"""\n    return (\n{lines}    )\n'


def _main(
    candidate: Candidate,
    written: Written,
    shapes: tuple[list[str], dict[str, dict[int, str]]],
    notes: str,
) -> str:
    declared, dims = shapes
    settings: dict[str, object] = dict(candidate.settings)
    if candidate.until == "codegen":
        settings["aot_inductor.package_cpp_only"] = True
    runs = candidate.until in ("run", "compare", "finite")
    lines = ["torch.manual_seed(0)", "model = Model().eval()", *declared]
    export = f"model, {'example' if candidate.two_sided else 'inputs'}()"
    if dims:
        spec = ", ".join(
            f'"{name}": {{{", ".join(f"{k}: {v}" for k, v in dims.get(name, {}).items())}}}'
            for name in written.arguments
        )
        export += f", dynamic_shapes={{{spec}}}"
    lines += ['print("step: export", flush=True)', f"program = torch.export.export({export})"]
    if candidate.fidelity == "inductor":
        lines += _inductor(settings, runs=runs)
    elif candidate.until != "export":
        more = f", inductor_configs={settings!r}" if settings else ""
        lines += [
            'print("step: lower", flush=True)',
            'path = str(Path("model.pt2").absolute())',
            f"torch._inductor.aoti_compile_and_package(program, package_path=path{more})",
        ]
    if runs and candidate.fidelity == "aoti":
        lines += [
            'print("step: load", flush=True)',
            "compiled = torch._inductor.aoti_load_package(path)",
            'print("step: run", flush=True)',
            "torch.manual_seed(0)",
            "given = inputs()",
            "results = compiled(*given)",
            "if torch.cuda.is_initialized():",
            "    torch.cuda.synchronize()",
        ]
    if candidate.until in CHECKS:
        lines += [
            'print("step: compare", flush=True)',
            "torch.manual_seed(0)",
            "check(results, model(*inputs()))",
        ]
    lines.append('print("step: done", flush=True)')
    body = "\n".join(f"        {line}" for line in lines)
    comment = f"    # {notes}\n" if notes else ""
    return (
        f"def main():\n{comment}    with torch.no_grad():\n{body}\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
    )
