"""Compile a model that gets new weights, in three ways, and write weights for it, here:
server.py [DEVICE]."""

from __future__ import annotations

import sys

import torch

WAYS = {
    "plain": {},
    "folding": {"aot_inductor.use_runtime_constant_folding": True},
    "frozen": {"freezing": True},
}


class Served(torch.nn.Module):
    """Has a product of constants, a buffer, a scalar, a short bias, two tied weights."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(16, 32), torch.nn.Linear(32, 4)
        self.again = torch.nn.Linear(16, 32, bias=False)
        self.again.weight = self.first.weight
        self.low = torch.nn.Parameter(torch.randn(16, 8))
        self.register_buffer("shift", torch.randn(16))
        self.register_buffer("scale", torch.tensor(1.5))

    def forward(self, x):
        hidden = torch.relu(self.first(x + self.shift) * self.scale) + self.again(x)
        return self.last(hidden) + (x @ (self.low @ self.low.t()))[:, :4]


def main() -> None:
    torch.manual_seed(0)
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    model = Served().eval()
    state = model.state_dict()
    new = {name: torch.randn_like(value) for name, value in state.items()}
    state = {name: value.clone() for name, value in state.items()}
    model.to(device)
    new["again.weight"] = new["first.weight"].clone()
    last = new["last.weight"]
    files = {
        "new": new,
        "half": {**new, "last.weight": last.half()},
        "double": {**new, "last.weight": last.double()},
        "view": {**new, "first.bias": torch.randn(64)[:32]},
        "columns": {**new, "last.weight": last.t().contiguous().t()},
        "untied": {name: value for name, value in new.items() if name != "again.weight"},
        "rows": {**new, "last.weight": last[:2].clone()},
        "same": state,
        "fits": {name: value for name, value in new.items() if name not in ("scale", "last.bias")},
    }
    torch.save(((torch.randn(3, 16, device=device),), {}), "inputs.pt")
    for name, weights in files.items():
        torch.save(weights, f"{name}.pt")
    with torch.no_grad():
        program = torch.export.export(model, (torch.randn(3, 16, device=device),))
        torch.export.save(program, "program.ep.pt2")
        for way, configs in WAYS.items():
            torch._inductor.aoti_compile_and_package(
                program, package_path=f"{way}.pt2", inductor_configs=configs
            )


if __name__ == "__main__":
    main()
