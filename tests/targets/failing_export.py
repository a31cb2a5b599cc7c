"""Export or lower a model that fails there: failing_export.py CASE PACKAGE."""

import os
import sys

import torch
from torch.export import Dim, export

CASE, PACKAGE = sys.argv[1:3]


class Tower(torch.nn.Module):
    def forward(self, x, y):
        groups = x.reshape(x.shape[0], -1, 4)
        if x.shape[0] > 7:
            groups = groups * 2
        return groups.sum(1), y + x[:, :3]


class Fixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(12, 4)

    def forward(self, x):
        return self.project(x)


class Waves(torch.nn.Module):
    def forward(self, x):
        smooth = torch.softmax(x, 1)
        return torch.sinc(smooth).sum(0) * 3


class Loop(torch.nn.Module):
    def forward(self, x):
        start = torch.sin(x)
        return torch._higher_order_ops.while_loop(
            lambda i, t: i < 5, lambda i, t: (i + 1, t * 2), (0, start)
        )


def sizes():
    batch, width = Dim("batch", min=2, max=64), Dim("width", min=2, max=64)
    shapes = {"x": {0: batch, 1: width}, "y": {0: Dim("other", min=2, max=64)}}
    export(Tower(), (torch.ones(4, 12), torch.ones(4, 3)), dynamic_shapes=shapes)


def constant():
    export(Fixed(), (torch.ones(4, 12),), dynamic_shapes={"x": {1: Dim("width", max=64)}})


def transformers_model(name):
    sys.path.extend(filter(None, [os.environ.get("AOTI_DEBUG_TRANSFORMERS")]))
    import transformers

    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "vocab_size": 50}
    if name == "mamba":
        config = transformers.MambaConfig(state_size=4, use_cache=False, **sizes)
    elif name == "big_bird":
        config = transformers.BigBirdConfig(
            num_attention_heads=2, intermediate_size=64, block_size=4, num_random_blocks=1, **sizes
        )
    else:
        config = transformers.XLNetConfig(
            d_model=32, n_layer=1, n_head=2, d_inner=64, vocab_size=50
        )
    model = transformers.AutoModel.from_config(config).eval()
    ids = torch.randint(3, 50, (2, 16))
    export(model, (ids,), dynamic_shapes={"input_ids": {1: Dim("length", min=2, max=64)}})


def lower(model, **configs):
    program = export(model, (torch.rand(4, 8),))
    torch._inductor.aoti_compile_and_package(
        program, package_path=PACKAGE, inductor_configs=configs or None
    )


def broken_codegen():
    """A code generator of one's own that has a mistake."""
    from torch._inductor.codegen import cpp

    def exp(x):
        return [x][getattr(x, "index", None)]

    cpp.CppOverrides.exp = cpp.CppVecOverrides.exp = staticmethod(exp)
    lower(Waves())


def broken_lowering():
    """A lowering of one's own that has a mistake."""
    from torch._inductor import lowering

    def sinc(x):
        return list(x.get_size())[x.get_name]

    lowering.lowerings[torch.ops.aten.sinc.default] = sinc
    lowering.lowerings[torch.ops.aten.sin.default] = sinc
    lower(Waves())


def broken_fake_kernel():
    """An operator whose fake kernel raises while Inductor works on it."""
    exported = False

    @torch.library.custom_op("tests::halve", mutates_args=())
    def halve(x: torch.Tensor) -> torch.Tensor:
        return x[: x.shape[0] // 2].clone()

    @halve.register_fake
    def _(x):
        if exported:
            raise ValueError("halve knows no such size")
        return x.new_empty(x.shape[0] // 2, *x.shape[1:])

    class Model(torch.nn.Module):
        def forward(self, x):
            return halve(torch.sin(x)) + 1

    program = export(Model(), (torch.ones(4, 8),))
    exported = True
    torch._inductor.aoti_compile_and_package(program, package_path=PACKAGE)


def broken_pass():
    """A pass over the graph that has a mistake."""

    def look(graph):
        for node in graph.nodes:
            if node.op == "call_function" and "sum" in str(node.target):
                node.kwargs["missing"]

    lower(Waves(), post_grad_custom_pre_pass=look)


CASES = {
    "sizes": sizes,
    "constant": constant,
    "mamba": lambda: transformers_model("mamba"),
    "big_bird": lambda: transformers_model("big_bird"),
    "xlnet": lambda: transformers_model("xlnet"),
    "loop": lambda: lower(Loop()),
    "codegen": broken_codegen,
    "lowering": broken_lowering,
    "fake_kernel": broken_fake_kernel,
    "pass": broken_pass,
}
CASES[CASE]()
