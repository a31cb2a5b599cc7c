"""The text of a script that needs torch alone: model, inputs, check and steps of a candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aoti_debug.minify.graph import NodeValue, Tree
from aoti_debug.minify.slice import Reduction
from aoti_debug.vocabulary import Place

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
    source: Place | None = None  # of the last line


def words_of(tree: Tree, given: Mapping[str, str]) -> str:
    if "ref" in tree:
        return given[tree["ref"]]
    if "text" in tree:
        return str(tree["text"])
    if "tuple" in tree:
        items = [words_of(item, given) for item in tree["tuple"]]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return f"[{', '.join(words_of(item, given) for item in tree['list'])}]"


def cut_to(text: str, value: NodeValue, sizes: Mapping[int, int]) -> str:
    if not value.is_tensor or not sizes.keys() & set(value.shape):
        return text
    parts = [f":{sizes[size]}" if size in sizes else ":" for size in value.shape]
    return f"{text}[{', '.join(parts)}].clone()"


def stand_in(value: NodeValue, made_up: bool) -> str | None:
    """Return Python that makes a value: a small one as it was, a made up one as may be."""
    if not value.is_tensor:
        return repr(value.number)
    device = "" if value.device == "cpu" else f', device="{value.device}"'
    if value.text is not None and value.contiguous:
        flat = f"torch.tensor({value.text}, dtype={value.dtype}{device})"
        return flat if 0 not in value.shape else f"{flat}.reshape({value.shape})"
    if not made_up:
        return None
    maker = "rand" if value.floating else "zeros"
    made = f"torch.{maker}({value.shape}, dtype={value.dtype}{device})"
    if value.contiguous or value.stride is None:
        return made
    empty = f"torch.empty_strided({value.shape}, {value.stride}, dtype={value.dtype}{device})"
    return f"{empty}.copy_({made})"


def model(written: Written, weights: Sequence[str]) -> str:
    lines = ["class Model(torch.nn.Module):"]
    if weights:
        lines += ["    def __init__(self):", "        super().__init__()"]
        lines += [*(f"        {weight}" for weight in weights), ""]
    lines.append(f"    def forward({', '.join(['self', *written.arguments])}):")
    lines += [f"        {line}" for line in written.lines]
    lines.append(f"        return ({', '.join(written.outputs)},)")
    return "\n".join(lines)


def _inductor(settings: Mapping[str, object], *, runs: bool) -> list[str]:
    """Return the steps with plain Inductor: the same kernels, no wrapper in C++."""
    steps = [
        'print("step: lower", flush=True)',
        "state = {**program.state_dict, **program.constants}",
        "given = iter(inputs())",
        "specs = program.graph_signature.input_specs",
        "flat = [state[spec.target] if spec.target else next(given) for spec in specs]",
        f"compiled = torch._inductor.compile(program.graph_module, flat, options={settings!r})",
    ]
    return [*steps, *(_call("flat") if runs else ())]


def _call(given: str) -> list[str]:
    """Return the steps that call the compiled model and wait for its device."""
    return [
        'print("step: run", flush=True)',
        "torch.manual_seed(0)",
        f"given = {given}",
        "results = compiled(*given)",
        "if torch.cuda.is_initialized():",
        "    torch.cuda.synchronize()",
    ]


def function(name: str, purpose: str, values: Sequence[str]) -> str:
    lines = "".join(f"        {value},\n" for value in values)
    return f'def {name}():\n    """{purpose}"""\n    return (\n{lines}    )\n'


def main(
    candidate: Reduction,
    written: Written,
    shapes: tuple[list[str], dict[str, dict[int, str]]],
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
            *_call("inputs()"),
        ]
    if candidate.until in CHECKS:
        lines += [
            'print("step: compare", flush=True)',
            "torch.manual_seed(0)",
            "check(results, model(*inputs()))",
        ]
    lines.append('print("step: done", flush=True)')
    body = "\n".join(f"        {line}" for line in lines)
    return (
        f"def main():\n    with torch.no_grad():\n{body}\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
    )
