"""Faults to be minified, each planted in a model of as many layers as wanted: CASE [LAYERS].

A layer is four operators. The fault stands in the middle; what it needs is in the table's comment.
"""

import ctypes
import os
import sys
import tempfile
from pathlib import Path

import torch
import torch._inductor.config as config

libc = ctypes.CDLL(None)


@torch.library.custom_op("planted::act", mutates_args=())
def act(x: torch.Tensor, what: str) -> torch.Tensor:
    if what == "hang" and x.shape[0] > 4:
        libc.pause()
    elif what == "crash" and x.shape[0] > 4:
        libc.strlen(ctypes.c_void_p(8))
    elif what == "raise" and float(x.abs().sum()) > 1e6:
        raise ValueError("this row cannot be served")
    elif what == "flaky" and os.urandom(1)[0] < 160:
        raise ValueError("the connection was lost")
    elif what == "exit":
        os._exit(7)
    elif what == "short":
        return x[:-1].clone()
    return x.clone()


@act.register_fake
def _(x, what):
    return torch.empty_like(x)


class Layers(torch.nn.Module):
    """Healthy layers around a part that fails."""

    def __init__(self, layers, part, width=32):
        super().__init__()
        self.before = torch.nn.ModuleList(Layer(width) for _ in range(layers // 2))
        self.part = part
        self.after = torch.nn.ModuleList(Layer(width) for _ in range(layers - layers // 2))

    def forward(self, x, *more):
        for layer in self.before:
            x = layer(x)
        x = self.part(x, *more)
        for layer in self.after:
            x = layer(x)
        return x


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x):
        return x + torch.tanh(self.linear(x)) * 0.5


class Part(torch.nn.Module):
    def __init__(self, function, **tensors):
        super().__init__()
        self.function = function
        for name, value in tensors.items():
            self.register_buffer(name, value)

    def forward(self, x, *more):
        return self.function(self, x, *more)


def looked_up(self, x, ids):
    return x + self.table[ids] * 2.0


def clamped(self, x):
    return torch.relu(x - 0.25) + 1.0


def acted(what):
    return lambda self, x: torch.ops.planted.act(x * 2.0, what) + 1.0


def grown(self, x):
    scores = torch.exp(x * x * 30.0)
    return x + scores / scores.sum(-1, keepdim=True)


def shifted(self, x, ids):
    rows = torch.arange(x.shape[0], device=x.device) + ids.shape[0] - 4
    return x + x[rows] * 0.5


def given(rows=4, width=32, top=None):
    torch.manual_seed(1)
    inputs = [torch.randn(rows, width)]
    if top is not None:
        ids = torch.arange(rows) % 8
        ids[rows // 2] = top
        inputs.append(ids)
    return tuple(inputs)


TABLE = {"table": torch.randn(16, 32, generator=torch.Generator().manual_seed(2))}
# name -> (part, settings, inputs of the export, inputs of the call, sizes are free)
CASES = {
    # a lowering exception: the operator has no lowering and fallbacks are off
    "lowering": (Part(acted("return")), {"implicit_fallbacks": False}, given(), given(), False),
    # C++ that does not compile
    "cpp": (Part(clamped), {"cpp.inject_relu_bug_TESTING_ONLY": "compile_error"}, given(), given(),
            False),
    # generated code that throws, which ends the process
    "abort": (Part(clamped), {"cpp.inject_relu_bug_TESTING_ONLY": "runtime_error"}, given(),
              given(), False),
    # wrong values
    "wrong": (Part(clamped), {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}, given(), given(),
              False),
    # an index past the table, in the call's inputs alone
    "index": (Part(looked_up, **TABLE), {}, given(top=3), given(top=4000), False),
    # the same with checks off: the kernel reads far outside
    "segfault": (Part(looked_up, **TABLE), {"assert_indirect_indexing": False}, given(top=3),
                 given(top=1 << 40), False),
    # only where sizes are free: another size reads past the rows
    "dynamic": (Part(shifted), {}, given(4, top=0), given(9, top=0), True),
    # a custom operator that crashes, hangs, raises, leaves or returns less on the call's inputs
    "op_crash": (Part(acted("crash")), {}, given(), given(8), True),
    "op_hang": (Part(acted("hang")), {}, given(), given(8), True),
    "op_raise": (Part(acted("raise")), {}, given(), (given()[0] * 1e8,), False),
    "op_exit": (Part(acted("exit")), {}, given(), given(), False),
    "op_flaky": (Part(acted("flaky")), {}, given(), given(), False),
    "op_short": (Part(acted("short")), {}, given(), given(), False),
    # values that overflow in the model itself
    "nan": (Part(grown), {}, given(), (given()[0] * 4,), False),
}  # fmt: skip


def main():
    name, layers = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    part, settings, example, call, free = CASES[name]
    model = Layers(layers, part).eval()
    shapes = None
    if free:
        rows = torch.export.Dim("rows", min=2, max=64)
        shapes = {"x": {0: rows}}
        if len(example) > 1:
            shapes["more"] = tuple({0: rows} for _ in example[1:])
    with config.patch(settings), torch.no_grad():
        program = torch.export.export(model, example, dynamic_shapes=shapes)
        folder = tempfile.mkdtemp()
        path = torch._inductor.aoti_compile_and_package(
            program, package_path=str(Path(folder, "model.pt2"))
        )
    compiled = torch._inductor.aoti_load_package(path)
    result = compiled(*call)
    expected = model(*call) if name in ("wrong", "nan") else result
    if not torch.allclose(result, expected, atol=1e-3, rtol=1e-3):
        sys.exit("the result is not that of eager")
    print("mean", result.mean().item())


if __name__ == "__main__":
    main()
