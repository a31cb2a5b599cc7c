"""Faults to be minified, each planted in a model of as many layers as wanted: CASE [LAYERS].

A layer is four operators. The fault stands in the middle; what it needs is in the table's comment.
"""

import ctypes
import os
import subprocess
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


STAGES = []


@torch.library.custom_op("planted_stages::stage", mutates_args=())
def stage(x: torch.Tensor, number: int) -> torch.Tensor:
    if number == len(STAGES) + 1:
        STAGES.append(number)
    if len(STAGES) == 3 and x.shape[0] > 4:
        raise ValueError("the third stage was given too many rows")
    return x.clone()


@stage.register_fake
def _(x, number):
    return torch.empty_like(x)


@torch.library.custom_op("planted_sizes::padded", mutates_args=())
def padded(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@padded.register_fake
def _(x):
    if isinstance(x.shape[0], int):
        return torch.empty_like(x)
    return x.new_empty((x.shape[0] * 2, x.shape[1]))  # where its size is free alone


CPP = r"""
#include <ATen/ATen.h>
#include <torch/library.h>
static at::Tensor act(const at::Tensor& x) {
  if (x.size(0) > 4) *(volatile int*)8 = 1;
  return x.clone();
}
static at::Tensor fake(const at::Tensor& x) { return at::empty_like(x); }
TORCH_LIBRARY(planted_cpp, m) { m.def("act(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(planted_cpp, CPU, m) { m.impl("act", act); }
TORCH_LIBRARY_IMPL(planted_cpp, Meta, m) { m.impl("act", fake); }
"""


def load_cpp():
    """Build the operator in C++ once for each release of torch, and load it."""
    folder = Path(tempfile.gettempdir(), f"planted-{os.getuid()}-{torch.__version__}")
    library = folder / "planted_cpp.so"
    if not library.exists():
        folder.mkdir(exist_ok=True)
        source, new = folder / f"{os.getpid()}.cpp", folder / f"{os.getpid()}.so"
        source.write_text(CPP)
        root = Path(torch.__file__).parent
        include = [f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}"]
        abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
        words = ["-shared", "-fPIC", "-std=c++20", "-O0", abi, *include, "-o", str(new)]
        link = [f"-L{root / 'lib'}", "-ltorch_cpu", "-lc10"]
        subprocess.run([os.environ.get("CXX", "g++"), *words, str(source), *link], check=True)
        new.replace(library)
    torch.ops.load_library(str(library))


class Layers(torch.nn.Module):
    """Healthy layers around a part that fails."""

    def __init__(self, layers, part, width=32):
        super().__init__()
        self.before = torch.nn.ModuleList(Layer(width) for _ in range(layers // 2))
        self.part = part
        after = 0 if isinstance(part, Last) else layers - layers // 2
        self.after = torch.nn.ModuleList(Layer(width) for _ in range(after))

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


class Last(Part):
    """A part that other layers come before, not after."""


def looked_up(self, x, ids):
    return x + self.table[ids] * 2.0


def clamped(self, x):
    return torch.relu(x - 0.25) + 1.0


def acted(what):
    return lambda self, x: torch.ops.planted.act(x * 2.0, what) + 1.0


def staged(self, x):
    for number in (1, 2, 3):
        x = torch.ops.planted_stages.stage(x, number)
    return x * 2.0


def doubled(self, x):
    return torch.ops.planted_sizes.padded(x)[:, :16] + 1.0


def acted_in_cpp(self, x):
    return torch.ops.planted_cpp.act(x * 2.0) + 1.0


def bert(layers):
    """BERT, of which a layer is about 25 operators."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=1000,
        hidden_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=128,
    )
    config._attn_implementation = "eager"
    return Named(BertModel(config, add_pooling_layer=False), "last_hidden_state")


def llama(layers):
    """Llama with relu for its activation, of which a layer is about 50 operators."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=1000,
        hidden_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=128,
        hidden_act="relu",
        use_cache=False,
    )
    config._attn_implementation = "eager"
    return Named(LlamaForCausalLM(config), "logits")


class Named(torch.nn.Module):
    """A model that returns one of the results of another."""

    def __init__(self, model, result):
        super().__init__()
        self.model = model
        self.result = result

    def forward(self, x):
        return getattr(self.model(input_ids=x), self.result)


def tokens(rows=2, top=7):
    found = torch.arange(rows * 16).reshape(rows, 16) % 100
    found[rows // 2, 5] = top
    return (found,)


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
    "cpp": (
        Part(clamped),
        {"cpp.inject_relu_bug_TESTING_ONLY": "compile_error"},
        given(),
        given(),
        False,
    ),
    # generated code that throws, which ends the process
    "abort": (
        Part(clamped),
        {"cpp.inject_relu_bug_TESTING_ONLY": "runtime_error"},
        given(),
        given(),
        False,
    ),
    # wrong values
    "wrong": (
        Part(clamped),
        {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"},
        given(),
        given(),
        False,
    ),
    # an index past the table, in the call's inputs alone
    "index": (Part(looked_up, **TABLE), {}, given(top=3), given(top=4000), False),
    # the same with checks off: the kernel reads far outside
    "segfault": (
        Part(looked_up, **TABLE),
        {"assert_indirect_indexing": False},
        given(top=3),
        given(top=1 << 40),
        False,
    ),
    # only where sizes are free: another size reads past the rows
    "dynamic": (Part(shifted), {}, given(4, top=0), given(9, top=0), True),
    # a custom operator that crashes, hangs, raises, leaves or returns less on the call's inputs
    "op_crash": (Part(acted("crash")), {}, given(), given(8), True),
    "op_hang": (Part(acted("hang")), {}, given(), given(8), True),
    "op_raise": (Part(acted("raise")), {}, given(), (given()[0] * 1e8,), False),
    "op_exit": (Part(acted("exit")), {}, given(), given(), False),
    "op_flaky": (Part(acted("flaky")), {}, given(), given(), False),
    "op_short": (Part(acted("short")), {}, given(), given(), False),
    # three operators in their order, on the call's inputs alone
    "op_order": (Part(staged), {}, given(), given(8), True),
    # an operator in C++ that crashes on the call's inputs
    "op_cpp": (Part(acted_in_cpp), {}, given(), given(8), True),
    # an operator whose fake kernel lies where sizes are free, and nowhere else
    "op_sizes": (Last(doubled), {}, given(), given(8), True),
    # a token that has no row, in BERT
    "bert": (bert, {}, tokens(), tokens(top=5000), False),
    # wrong values in Llama
    "llama": (llama, {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}, tokens(), tokens(), False),
    # values that overflow in the model itself
    "nan": (Part(grown), {}, given(), (given()[0] * 4,), False),
}


def main():
    name, layers = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    part, settings, example, call, free = CASES[name]
    if name == "op_cpp":
        load_cpp()
    torch.manual_seed(3)
    model = (Layers(layers, part) if isinstance(part, Part) else part(layers)).eval()
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
    compared = name in ("wrong", "nan", "op_sizes", "op_short", "llama")
    expected = model(*call) if compared else result
    if result.shape != expected.shape or not torch.allclose(result, expected, atol=1e-3, rtol=1e-3):
        sys.exit("the result is not that of eager")
    print("mean", result.mean().item())


if __name__ == "__main__":
    main()
