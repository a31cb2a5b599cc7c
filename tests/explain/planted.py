"""Programs with planted faults, and what the probe finds in them.

planted.py walk OUT NAME ...   walk through programs and their healthy twins
planted.py wrong OUT           look for the first wrong value in packages; why it is wrong is known
"""

import importlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "evals" / "benchmarks"), str(ROOT / "mcp_server" / "aoti_debug")]
import explain_cases  # noqa: E402
import torch  # noqa: E402
from probe import capture  # noqa: E402
from torch import nn  # noqa: E402

names = ("bisect", "compare", "culprit", "eager", "intermediates", "parts", "standalone", "walk")
bisect, compare, culprit, eager, intermediates, parts, standalone, walk = (
    importlib.import_module(f"probe.{p}") for p in names
)
what, out = sys.argv[1], Path(sys.argv[2])
RELU = {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}


def eight_bits(x):
    """Round to bfloat16's mantissa; a cast there and back is taken out by Inductor."""
    most = x * 65537.0
    return most - (most - x)


def cut_to_ten_bits(x):
    """Cut off what tf32 has no room for, as tensor cores do."""
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


def untouched(x):
    return x


class Model(nn.Module):
    """`width` is that of the hidden layer: the same call fits every version; `short` is what
    products do to their factors."""

    def __init__(self, width=32, seed=0, short=untouched):
        super().__init__()
        torch.manual_seed(seed)
        self.up = nn.Linear(16, width)
        self.down = nn.Linear(width, 12)
        self.short = short

    def forward(self, x):
        short = self.short
        h = nn.functional.linear(short(x), short(self.up.weight), self.up.bias)
        return nn.functional.linear(short(h.tanh()), short(self.down.weight), self.down.bias)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))

    def forward(self, x):
        h = self.layers[0](x).sigmoid()
        h = torch.relu(self.layers[1](h))  # planted
        return self.layers[2](h).tanh()


class Floor(nn.Module):
    def forward(self, x):
        total = (x * 2).softmax(-1).sum(-1)
        return torch.floor(total) + x.mean()


class Cheapest(nn.Module):
    """The least of all, by its flat place: torch 2.13 counts in the order of the storage."""

    def forward(self, x, y):
        board = x.t() - y
        place = board.argmin()  # counted
        return place // 6, place % 6, board.amin()


class Reused(nn.Module):
    """Clears an input whose rows it has taken over: the rows are written into its memory."""

    def forward(self, pending, rows):
        merged = torch.slice_scatter(pending, rows.tanh(), dim=0, start=2, end=5)  # merged
        pending.zero_()
        return merged, merged.softmax(-1)


class Spread(nn.Module):
    """Products that overflow int32: eager wraps them, Inductor's index arithmetic does not."""

    def forward(self, table):
        cell = torch.arange(48, dtype=torch.int32)[:, None] * 48
        cell = cell + torch.arange(48, dtype=torch.int32)
        slot = cell * 1640531 % 61  # overflows
        return table[torch.where(cell > 99, slot, 0)]


def exported(model, *inputs):
    with torch.no_grad():
        return torch.export.export(model.eval(), inputs)


def run(step, folder, program, inputs, **more):
    """Have one of the probe's steps look at a call of a program; its report stands in `folder`."""
    folder.mkdir(parents=True)
    torch.export.save(program, folder / "program.pt2")
    call = capture.Call(1, inputs, {}, list(inputs))
    torch.save(capture.describe_call(call, False), folder / "inputs.pt")
    named = {
        "inputs": folder / "inputs.pt",
        "exported": folder / "program.pt2",
        "report": folder / "report.json",
        **more,
    }
    kept = sys.argv
    words = ((f"--{name}", *([] if given is True else [given])) for name, given in named.items())
    sys.argv = [step.__name__, *(str(word) for both in words for word in both)]
    step.main()
    sys.argv = kept


def walk_through(names):
    for case in explain_cases.CASES:
        if case.name not in names:
            continue
        for twin in ("fault", "healthy"):
            torch.manual_seed(0)
            faulty = twin == "fault"
            model = (case.model if faulty or not case.healthy else case.healthy[0])().eval()
            if faulty and case.spoil is not None:
                case.spoil(model)
            good = case.good()
            with torch.no_grad():
                program = torch.export.export(model, good, dynamic_shapes=case.dynamic)
            folder = out / f"{case.name}-{twin}"
            run(walk, folder, program, case.bad() if faulty and case.bad else good)
            expected = {
                "op": case.op,
                "says": case.says,
                "line": case.line()[1] if faulty else "",
                "inputs": list(program.graph_signature.user_inputs),
            }
            (folder / "expected.json").write_text(json.dumps(expected))


class Of(nn.Module):
    """A function as a model."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


# name: function, healthy inputs, inputs of the faulty call
ROW, FAR = torch.arange(6), torch.tensor([1, 60])
FUNCTIONS = {
    "take": (torch.take, (torch.rand(2, 3), ROW), (torch.rand(2, 3), FAR)),
    "nll_loss": (
        lambda x, classes: nn.functional.nll_loss(x.log_softmax(-1), classes, ignore_index=60),
        (torch.rand(2, 6), torch.tensor([1, 60])),
        (torch.rand(2, 6), torch.tensor([1, 7])),
    ),
    "keywords": (
        lambda x, rows: torch.ops.aten.index_select.default(x, 0, index=rows),
        (torch.rand(9, 2), torch.tensor([1, 8])),
        (torch.rand(9, 2), FAR),
    ),
    "rsqrt": (torch.rsqrt, (torch.ones(3),), (torch.zeros(3),)),
    "sqrt": (torch.sqrt, (torch.ones(3),), (-torch.ones(3),)),
    "variance": (
        lambda x: torch.ops.aten.var.correction(x, [0], correction=1),
        (torch.rand(4, 3),),
        None,
    ),
    "one_row": (
        lambda x: torch.ops.aten.var.correction(x, [0], correction=1),
        (torch.rand(1, 3),),
        (torch.rand(1, 3),),
    ),
}


def walk_functions():
    for name, (function, good, bad) in FUNCTIONS.items():
        program = exported(Of(function), *good)
        for twin, inputs in (("healthy", good), ("fault", bad)):
            if inputs is not None:
                run(walk, out / f"{name}-{twin}", program, inputs)


def look(name, program, package, *inputs, settings=None, **more):
    more |= {"package": package, "settings": json.dumps(settings or {})}
    run(bisect, out / name, program, inputs, **more)


def package(name, program, settings=None):
    path = out / f"{name}.pt2"
    torch._inductor.aoti_compile_and_package(
        program, package_path=str(path), inductor_configs=dict(settings or {})
    )
    return path


def turn(x):
    return torch.remainder(x, 1.7)


def rest(x):
    return x - x.bfloat16().float()


def compare_wrong():
    torch.manual_seed(0)
    x = torch.randn(8, 16)
    as_it_was = package("as_it_was", exported(Model(), x))
    look("healthy", exported(Model(), x), as_it_was, x)
    look("other_weights", exported(Model(seed=1), x), as_it_was, x)
    look("other_shapes", exported(Model(width=48), x), as_it_was, x)
    for name, short in {"bfloat16": eight_bits, "tf32": cut_to_ten_bits}.items():
        look(
            name,
            exported(Model(), x),
            package(f"{name}_package", exported(Model(short=short), x)),
            x,
        )
    given = out / "given.pt"
    torch.save({"constants": dict(Model(seed=1).state_dict()), "options": {}}, given)
    look("weights_given", exported(Model(), x), out / "tf32_package.pt2", x, constants=given)
    rows = torch.randn(64, 37) * 8
    look("floor", exported(Floor(), rows), package("floor_package", exported(Floor(), rows)), rows)
    gated = exported(Gated(), x)
    look("relu", gated, package("gated", gated, RELU), x, settings=RELU, blame=600, whole=True)
    pair = torch.rand(6, 5), torch.rand(5, 6)
    cheapest = exported(Cheapest(), *pair)
    look("cheapest", cheapest, package("cheapest", cheapest), *pair, blame=0)
    reused = torch.randn(8, 6), torch.randn(3, 6)
    look(
        "reused",
        exported(Reused(), *reused),
        package("reused", exported(Reused(), *reused)),
        *reused,
    )
    travel = (torch.rand(64) * 80 - 40).bfloat16()
    turned = exported(Of(turn), travel)
    look("turned", turned, package("turned", turned), travel, compiles=0)
    rested = exported(Of(rest), x)
    look("rest", rested, package("rest", rested), x, compiles=1)
    spread, table = exported(Spread(), torch.rand(61)), torch.rand(61)
    look("spread", spread, package("spread", spread), table, blame=0)


def resized(x):
    return nn.functional.interpolate(x, scale_factor=(1.3, 1.5), mode="nearest")


def above(x):
    return torch.nextafter(x, torch.full_like(x, 9.0)) - x


def folded(near, far):
    state = [near, far]
    torch._foreach_add_(state, [one.flip(0) for one in state])
    return near * 2


def windowed(x):
    return x + (torch.arange(64) * torch.tensor([500_000_000])) / 1e9


def cut(x, scale):
    return nn.functional.pad((x * scale).reshape(2, 100), (0, -10))


def blamed():
    """Leave steps of the compiler out of programs that torch 2.13 itself compiles wrong, and of one
    with a wrong decomposition."""
    far = torch.tensor([float("inf"), 3.0] * 16)
    functions = {
        "pass": (lambda x: x * 0 + 1, far),  # folded to ones
        "vectorized": (torch.remainder, torch.full((32,), 5.5), far),  # 5.5, not NaN
        "decomposed": (nn.functional.hardswish, torch.linspace(-5, 5, 37)),
        "traced": (resized, torch.randn(1, 1, 3, 4)),
        "spaced": (above, torch.ones(32, dtype=torch.bfloat16)),  # the same number
        "windowed": (windowed, torch.rand(64)),  # the constant stays one
        "cut": (cut, torch.rand(2, 4, 5, 5), torch.rand(1, 4, 1, 1)),
        "ranked": (
            nn.functional.multilabel_margin_loss,
            torch.rand(6),
            torch.tensor([2] + [-1] * 5),
        ),
        "folded": (folded, torch.rand(8, 16), torch.rand(8, 16)),  # in place
    }
    table = importlib.import_module("torch._inductor.decomposition")
    table.decompositions[torch.ops.aten.hardswish.default] = torch.relu
    table.fast_random_decomps.cache_clear()
    for name, (function, *inputs) in functions.items():
        found = culprit.Culprit(exported(Of(function), *inputs), inputs, {}, 600.0).search()
        (out / f"{name}.json").write_text(json.dumps({"culprit": found}))


class Convolved(nn.Module):
    """`ones` names no dtype, and the cast that export guards by an assertion is of that one."""

    def __init__(self, short=untouched):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Conv2d(4, 4, 3, padding=1) for _ in range(4))
        self.short = short

    def forward(self, x):
        h = x * torch.ones(4, 1, 1).to(torch.float32)
        for layer in self.layers:
            weight = self.short(layer.weight)
            h = nn.functional.conv2d(self.short(h), weight, layer.bias, padding=1).tanh()
        return h


def granted():
    """Compare what convolutions in TF32 give, and what is wrong, with and without that grant."""
    image = torch.randn(2, 4, 12, 12)
    module = compare.unguarded(exported(Convolved(), image))
    given = standalone.Inputs((image,), {}, [image], [], grad=False, inference=False)
    wide, wider = eager.widen(module), eager.widen_inputs(given)
    exact = [wide(*wider.args)]
    short = intermediates.with_short_factors(wide, wider, intermediates.CONVOLUTIONS, 10)
    with torch.no_grad():
        right, cut = [module(image)], [Convolved(cut_to_ten_bits)(image)]
    wrong = [right[0].clone()]
    wrong[0][1, 2, 3, 4] += 0.05

    def verdict(result, *more):
        return compare.outputs(result, right, exact, *more)[0]["verdict"]

    told = {
        "dtype": str(exact[0].dtype),
        "on the cpu": compare.in_tf32(module, given, []),
        "plain": [verdict(right), verdict(cut), verdict(wrong)],
        "granted": [verdict(right, short), verdict(cut, short), verdict(wrong, short)],
    }
    (out / "tf32.json").write_text(json.dumps(told))


class Cancelled(torch.nn.Module):
    def forward(self, x):
        return x * 3 - x * 2 - x


class Clipped(torch.nn.Module):
    def forward(self, x):
        return torch.relu(-x) + x * 1e-8


class Placed(torch.nn.Module):
    """Positions are counted in floats; each has its own values."""

    def forward(self, x):
        place = torch.cumsum(torch.ones_like(x), 0).long() - 1
        return x * torch.sin(place * 1.5)


def small():
    """Compare results that are far below 1, because of what they are and because terms cancel; and
    whose positions were counted in floats, which do not round."""
    tiny = torch.linspace(-4e-8, 4e-8, 1000)
    tinier = torch.softmax(torch.linspace(0, 3, 1000), 0)
    x = torch.rand(1000, generator=torch.Generator().manual_seed(0)) + 1
    given = standalone.Inputs((x,), {}, [x], [], grad=False, inference=False)

    def of(model, result):
        module = compare.unguarded(exported(model(), x))
        with torch.no_grad():
            run, exact = [module(x)], [eager.widen(module)(x.double())]
        return compare.within_rounding([result], run, exact, module, given)[0][0]["verdict"]

    def alone(result, right):
        return compare.outputs([result], [right], [right.double()])[0]["verdict"]

    def scaled(result):
        below = torch.cat([-torch.logspace(-9, 1, 40), torch.zeros(1)])
        module = compare.unguarded(exported(Of(lambda x: torch.expm1(x) * 1e8), below))
        node = next(n for n in module.graph.nodes if "expm1" in n.name)
        alone = intermediates.alone([([node], [node])], {node.all_input_nodes[0].name: below})
        return parts.off_by_element(*alone, result(below), torch.expm1(below)) is None

    told = {
        "scaled": [scaled(torch.expm1), scaled(lambda x: x.exp() - 1)],
        "right": [
            alone(tiny * (1 + 1e-7), tiny),
            alone(tinier.half(), tinier.half()),
            alone(torch.zeros(9) + 1e-9, torch.zeros(9)),
            alone(torch.zeros(9), torch.zeros(9) + 1e-39),
            of(Cancelled, x * 3 - (x * 2 + x)),
            of(Cancelled, torch.zeros(1000)),
            of(Clipped, x / 1e8),
            of(Placed, x * torch.sin(torch.arange(1000) * 1.5)),
        ],
        "wrong": [
            alone(tiny.flip(0), tiny),
            alone(torch.zeros(1000), tiny),
            alone((tinier * 1.1).half(), tinier.half()),
            of(Cancelled, x * 3 - x * 2 - x + 1e-5),
            of(Clipped, x * 1.5e-8),
            of(Placed, x.flip(0)),
        ],
    }
    (out / "small.json").write_text(json.dumps(told))


class Experts(nn.Module):
    """A product for each expert's rows, in one operator that has no float64."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(3, 16, 16, dtype=torch.bfloat16))

    def forward(self, x, ends):
        return torch.nn.functional.grouped_mm(x, self.weight, offs=ends)


def grouped():
    """Hold a program of experts in float64 against the products of each one's rows."""
    x, ends = torch.randn(12, 16, dtype=torch.bfloat16), torch.tensor([4, 7, 12]).int()
    module = compare.unguarded(torch.export.export(Experts(), (x, ends)))
    given = standalone.Inputs((x, ends), {}, [x, ends], [], grad=False, inference=False)
    wider = eager.widen_inputs(given)
    weight = module.weight.detach().double()
    with torch.no_grad():
        wide, narrow = eager.widen(module)(*wider.args), module(x, ends)
    rows = zip((0, 4, 7), (4, 7, 12), weight, strict=True)
    exact = torch.cat([wider.args[0][begin:end] @ one for begin, end, one in rows])
    told = {"dtype": str(wide.dtype)}
    for name, result in (("wide", wide), ("narrow", narrow)):
        told[name] = (result.double() - exact).abs().max().item()
    (out / "grouped.json").write_text(json.dumps(told))


if what == "walk":
    walk_through(sys.argv[3:])
    walk_functions()
else:
    compare_wrong()
    blamed()
    granted()
    small()
    grouped()
