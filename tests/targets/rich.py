"""Compile a model that has what toys lack into the current directory, as the guides name files.

rich.py DIRECTORY writes there instead what does not fit or fails, of the files in DIRECTORY.

Keyword arguments, outputs in a dictionary with a tuple inside, an upcast to float32, tied weights,
buffers of all sizes, a mask of -inf, a free batch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import torch


class Norm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(16) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight).to(
            x.dtype
        )


class Rich(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = Norm(), torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)
        self.down.weight = self.up.weight
        self.register_buffer("position", torch.randn(4, 16))
        self.register_buffer("pair", torch.tensor([0.5, 2.0]))
        self.register_buffer("scale", torch.tensor(0.25))

    def forward(self, x: torch.Tensor, *, mask: torch.Tensor) -> dict[str, object]:
        h = self.down(torch.relu(self.up(self.norm(x) + self.position)))
        scores = (h @ h.transpose(-1, -2)) * self.scale * self.pair[1] + mask
        return {"hidden": h, "attention": (scores, scores.softmax(-1))}


def example(batch: int = 3) -> tuple[tuple[torch.Tensor], dict[str, torch.Tensor]]:
    mask = torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), float("-inf"))
    return (torch.randn(batch, 4, 16),), {"mask": mask}


class Log(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        y = x.masked_fill(mask, float("-inf")).softmax(-1)
        return torch.log(y - 0.5) + 1


class Rows(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(1000, 8)

    def forward(self, ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return self.table(ids) * weight.unsqueeze(-1)


# One operator lies of its dtype, one does as it says, one writes to its input.
OPS = """\
import torch
from torch.library import custom_op


@custom_op("demo::narrow", mutates_args=())
def narrow(x: torch.Tensor) -> torch.Tensor:
    return x.double() * 2


@custom_op("demo::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@custom_op("demo::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    x.div_(2)
    return x + 0


for op in (narrow, same, halve):
    op.register_fake(torch.empty_like)
"""


class Ops(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.ops.demo.same(torch.ops.demo.narrow(x))
        return torch.ops.demo.halve(y + 1)


def compile_here() -> None:
    torch.manual_seed(0)
    args, kwargs = example()
    shapes = {"x": {0: torch.export.Dim("batch")}, "mask": None}
    program = torch.export.export(Rich().eval(), args, kwargs, dynamic_shapes=shapes)
    torch.export.save(program, "model.ep.pt2")
    torch._inductor.aoti_compile_and_package(program, package_path="model.pt2")
    torch.save((args, kwargs), "inputs.pt")


def prepare(rich: Path) -> None:
    """Write inputs and programs that fail, for the files that `rich` has."""
    args, kwargs = torch.load(rich / "inputs.pt", weights_only=True)
    torch.save(((args[0].double(),), kwargs), "double.pt")
    torch.save(((args[0][:1].clone(),), kwargs), "one.pt")
    torch.save(((torch.randn(16, 16),), {}), "small.pt")

    program = torch.export.load(rich / "model.ep.pt2")
    state = dict(program.state_dict)
    nan = torch.full((16,), float("nan"))
    torch.save({**state, "down.weight": torch.randn(64, 16)[:16], "down.bias": nan}, "sliced.pt")
    fitting = {name: t for name, t in state.items() if name not in ("pair", "scale")}
    unused = {"norm.num_batches_tracked": torch.tensor(7), "spare": torch.zeros(3)}
    torch.save({**fitting, **unused}, "unused.pt")
    torch.save({name: t for name, t in fitting.items() if name != "position"}, "partial.pt")
    torch.save({n: t.detach().clone() for n, t in state.items()}, "inlined.pt")
    with torch.no_grad():
        state["position"].add_(0.01)
    torch.export.save(program, "other.ep.pt2")
    with torch.no_grad():
        state["down.bias"][3] = float("nan")
    torch.export.save(program, "nan.ep.pt2")
    Path("ops.py").write_text(OPS)
    sys.path.insert(0, str(Path.cwd()))
    import_module("ops")
    torch.save(((torch.rand(4, 4),), {}), "ops.pt")
    torch.export.save(torch.export.export(Ops(), (torch.rand(4, 4),)), "ops.ep.pt2")
    torch.save(((torch.full((4, 6), 5000), torch.rand(4, 6)), {}), "ids.pt")

    ids, weight = torch.zeros(4, 6, dtype=torch.int64), torch.rand(4, 6)
    torch.export.save(torch.export.export(Rows(), (ids, weight)), "ids.ep.pt2")
    mask = torch.ones(4, 4).triu(1).bool()
    torch.export.save(torch.export.export(Log(), (torch.zeros(4, 4), mask)), "log.ep.pt2")
    torch.save(((torch.zeros(4, 4), mask), {}), "log.pt")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        prepare(Path(sys.argv[1]))
    else:
        compile_here()
