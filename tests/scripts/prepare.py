"""Write inputs and programs that fail, for the files of tests/targets/rich.py."""

import sys
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


mask = torch.ones(4, 4).triu(1).bool()
torch.export.save(torch.export.export(Log(), (torch.zeros(4, 4), mask)), "log.ep.pt2")
torch.save(((torch.zeros(4, 4), mask), {}), "log.pt")
