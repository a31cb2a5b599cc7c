"""Write inputs and programs that fail, for the files of tests/targets/rich.py."""

import sys
from importlib import import_module
from pathlib import Path

import torch

rich = Path(sys.argv[1])
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


class Log(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        y = x.masked_fill(mask, float("-inf")).softmax(-1)
        return torch.log(y - 0.5) + 1


# One operator lies of its dtype, one does as it says, one writes to its input.
Path("ops.py").write_text(
    """import torch
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
)
sys.path.insert(0, str(Path.cwd()))
import_module("ops")


class Ops(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.ops.demo.same(torch.ops.demo.narrow(x))
        return torch.ops.demo.halve(y + 1)


torch.save(((torch.rand(4, 4),), {}), "ops.pt")
torch.export.save(torch.export.export(Ops(), (torch.rand(4, 4),)), "ops.ep.pt2")
torch.save(((torch.full((4, 6), 5000), torch.rand(4, 6)), {}), "ids.pt")

mask = torch.ones(4, 4).triu(1).bool()
torch.export.save(torch.export.export(Log(), (torch.zeros(4, 4), mask)), "log.ep.pt2")
torch.save(((torch.zeros(4, 4), mask), {}), "log.pt")
